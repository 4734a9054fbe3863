"""Changes to a kernel when it starts: ipykernel issue 1554, and the words for errors."""

import ast
from typing import Any

from helpers.notebook import cell_errors


class ShowOnce:
    """In JupyterLab `card.predict` at a cell's end shows its message, but no value."""

    def visit(self, tree: ast.Module) -> ast.Module:
        """The cell's code; IPython asks before it runs."""
        if tree.body and ast.unparse(tree.body[-1]).startswith("card.predict("):
            from callbacks.live.place import in_jupyterlab  # and so Keras

            if in_jupyterlab():
                tree.body.append(ast.Expr(ast.Constant(None)))
        return tree


def answer_by_the_stream(shell: object) -> None:
    """Make ipykernel send its answers through the stream that receives the requests.

    ipykernel 7.3 writes answers directly to the socket. It notices a request that
    arrives at that moment only when the next one comes: after "Run All Cells" figures
    stay blank, or a cell waits forever (ipykernel issue 1554). Version 7.4 fixes this,
    but its sliders do not react while a cell runs.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell or None
        Does nothing if this is not a notebook's shell.
    """
    kernel = getattr(shell, "kernel", None)
    thread = getattr(kernel, "shell_channel_thread", None)
    if kernel and thread and hasattr(thread.manager, "_shell_socket"):
        thread.manager._shell_socket = kernel.shell_stream


def load_ipython_extension(shell: Any) -> None:
    """IPython calls this where its settings name this file (kit/place/setup.sh).

    A cell that loads it would run too late for the first of the two.
    """
    answer_by_the_stream(shell)
    cell_errors.install(shell)
    if shell:
        shell.ast_transformers.append(ShowOnce())


def patch_this_kernel() -> None:
    """Patch the kernel that this code runs in; does nothing outside of a notebook."""
    from IPython import get_ipython

    load_ipython_extension(get_ipython())
