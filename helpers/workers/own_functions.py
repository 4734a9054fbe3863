"""Take a reader's functions to other processes, with all that they use from the notebook.

cloudpickle takes along what is in no file: functions, classes and values of cells.
"""

import io
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import cloudpickle

from helpers.errors import LabError
from helpers.files import write_atomically


class CannotTravelError(LabError):
    """A function that other processes cannot be given."""


class _OtherProcess(pickle.Unpickler):
    """Reads as a process does that has none of the notebook's names."""

    def find_class(self, module, name):
        if module == "__main__":
            raise pickle.UnpicklingError(f"{name} is defined in the notebook only")
        return super().find_class(module, name)


def packed(**functions: Callable) -> bytes:
    """The code and values that another process needs to call these functions.

    Parameters
    ----------
    functions : callable
        By the name that each has there.

    Returns
    -------
    bytes

    Raises
    ------
    CannotTravelError
        If one of them uses what cannot be copied to another process.
    """
    for function in functions.values():
        # The references are in a file, which imports TensorFlow: it is left behind.
        name = getattr(function, "__module__", None) or ""
        if name.endswith(".reference"):
            cloudpickle.register_pickle_by_value(sys.modules[name])
    try:
        content = cloudpickle.dumps(functions)
        unpacked(content)
    except Exception as error:  # whatever the things raise that it uses
        names = ", ".join(functions)
        raise CannotTravelError(
            f"{names} cannot be copied to another process ({error}): define what it "
            "uses from other cells inside the function."
        ) from error
    return content


def unpacked(content: bytes) -> dict[str, Callable]:
    """The functions in what `packed` returned: new copies, as a new process has them."""
    return _OtherProcess(io.BytesIO(content)).load()


def write(folder: Path, **functions: Callable) -> None:
    """Write functions into a folder, for `read`; arguments and errors as for `packed`."""
    write_atomically(folder / "own_functions.pickle", packed(**functions))


def read(folder: Path) -> dict[str, Callable]:
    """The functions that `write` left in a folder, by name."""
    return pickle.loads((folder / "own_functions.pickle").read_bytes())
