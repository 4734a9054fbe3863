"""Work around ipykernel issue 1554, in which cells hang."""


def answer_by_the_stream(shell):
    """Have ipykernel send its answers through the stream that hears the requests.

    ipykernel 7.3 writes answers on the socket itself. Whatever arrives just then is
    not noticed before something else comes: after "Run All Cells" figures stay blank,
    or a cell waits for ever (ipykernel's issue 1554, mended in 7.4, in which sliders
    are dead while a cell runs).

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell or None
        Nothing is done where it is not a notebook's.
    """
    kernel = getattr(shell, "kernel", None)
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread and hasattr(thread.manager, "_shell_socket"):
        thread.manager._shell_socket = kernel.shell_stream


def patch_this_kernel():
    """Patch the kernel that this code runs in; does nothing outside of a notebook."""
    from IPython import get_ipython

    answer_by_the_stream(get_ipython())


# Kernels of the kit's environment load this file when they start (kit/setup.sh): the
# first cells are run before any of them could ask for it.
load_ipython_extension = answer_by_the_stream
