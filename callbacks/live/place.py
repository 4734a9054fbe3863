"""Where this code runs: in JupyterLab, in another notebook, or in a terminal."""

import importlib.util
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def in_jupyterlab() -> bool:
    """Whether widgets can be drawn: in JupyterLab, with ipywidgets and ipympl."""
    # The first is absent under papermill and nbval, unless JupyterLab has started them.
    if "JPY_SESSION_NAME" not in os.environ or "LABS_NOTEBOOK" in os.environ:
        return False
    return all(importlib.util.find_spec(name) for name in ("ipympl", "ipywidgets"))


def current_shell() -> "InteractiveShell | None":
    """IPython's shell, or None in plain Python."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()
