"""Write functions that were defined in a notebook to a file that other processes import."""

import ast
import dis
import inspect
import sys
import textwrap
import types

from helpers.errors import LabError
from helpers.files import write_atomically


def write_source(path, **functions):
    """Write a module with these functions and with what they use.

    Parameters
    ----------
    path : Path
    functions : function
        By the name that each is to have in the module, whatever its own is: written with
        ``def``, or a lambda that has a name. A function or a module that one of them uses
        is written or imported, too, and a plain value is assigned.

    Raises
    ------
    LabError
        If the source of one is not to be had, or one uses what cannot be written.
    """
    lines = {}
    for name, function in functions.items():
        _collect(function, name, lines)
    write_atomically(path, "\n".join(lines.values()) + "\n")


def _collect(value, name, lines):
    """Add what defines `name`, after what that needs; a dict keeps each once, in order."""
    if name in lines:
        return
    if isinstance(value, types.ModuleType):
        lines[name] = f"import {value.__name__} as {name}"
    elif isinstance(value, int | float | str | tuple | list | dict):
        lines[name] = f"{name} = {value!r}"
    elif _is_importable(value):
        lines[name] = f"from {value.__module__} import {value.__name__} as {name}"
    else:
        _add_source(value, name, lines)


def _is_importable(value):
    """Whether other processes can import it, and may.

    What a reader defined is in no file. The references are in one, but each is written
    alone, as the reader's own would be.
    """
    module = getattr(value, "__module__", None) or "__main__"
    if module == "__main__" or module.endswith(".reference"):
        return False
    there = getattr(sys.modules.get(module), getattr(value, "__name__", ""), None)
    return there is value


def _add_source(value, name, lines):
    try:
        source = textwrap.dedent(inspect.getsource(value))
        defined, around = _defined(source), _around(value)
    except (OSError, TypeError, AttributeError, ValueError, SyntaxError) as error:
        raise LabError(
            f"the source of {name} cannot be written to a file: define it with `def "
            f"{name}(...)` at the left margin of a cell, and run that cell again."
        ) from error
    lines[name] = ""  # it may call itself
    for used in _names(value.__code__):
        if used in around:
            _collect(around[used], used, lines)
    del lines[name]
    alias = "" if name == defined else f"\n\n{name} = {defined}\n"
    lines[name] = f"\n\n{source}{alias}"


def _around(function):
    """What a function finds outside of itself, by name: global, or of a function around."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return function.__globals__ | {name: cell.cell_contents for name, cell in cells}


def _defined(source):
    """The name that this source gives its function: of a ``def``, or of a lambda."""
    [statement] = ast.parse(source).body
    if isinstance(statement, ast.Assign):
        [target] = statement.targets
        return target.id
    return statement.name


def _names(code):
    """Names that a function's code, or one inside it, looks up outside of itself."""
    looked_up = (i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return [*looked_up, *code.co_freevars, *(n for part in inner for n in _names(part))]
