"""Write functions that were defined in a notebook to a file that other processes import."""

import inspect
import types

from helpers.errors import LabError
from helpers.files import write_atomically


def write_source(path, *functions):
    """Write a module with these functions and with what they use.

    Parameters
    ----------
    path : Path
    functions : function
        Written with ``def``; a function or a module that one of them names is written or
        imported, too, and a plain value is assigned.

    Raises
    ------
    LabError
        If the source of one is not to be had, or one uses what cannot be written.
    """
    lines = {}
    for function in functions:
        _collect(function, function.__name__, lines)
    write_atomically(path, "\n".join(lines.values()) + "\n")


def _collect(value, name, lines):
    """Add what defines `name`, after what that needs; a dict keeps each once, in order."""
    if name in lines:
        return
    if isinstance(value, types.ModuleType):
        lines[name] = f"import {value.__name__} as {name}"
    elif isinstance(value, int | float | str | tuple):
        lines[name] = f"{name} = {value!r}"
    elif getattr(value, "__module__", None) not in (None, "__main__") and not _is_ours(
        value
    ):
        lines[name] = f"from {value.__module__} import {value.__name__} as {name}"
    else:
        _add_source(value, name, lines)


def _is_ours(value):
    """Whether it is a reference: those stand in one module, and each is written alone."""
    return value.__module__.endswith(".reference")


def _add_source(value, name, lines):
    try:
        if value.__name__ != name or value.__closure__:
            raise TypeError
        source = inspect.getsource(value)
    except (OSError, TypeError, AttributeError) as error:
        raise LabError(
            f"the source of {name} cannot be written to a file: define it with `def "
            f"{name}(...)` at the left margin of a cell, and run that cell again."
        ) from error
    lines[name] = ""  # it may call itself
    for used in _names(value.__code__):
        if used in value.__globals__:
            _collect(value.__globals__[used], used, lines)
    del lines[name]
    lines[name] = f"\n\n{source}"


def _names(code):
    """Global names in a function's code and in the functions inside it."""
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return [*code.co_names, *(name for part in inner for name in _names(part))]
