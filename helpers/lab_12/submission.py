"""Write a function of a notebook into a file of its own, for the leaderboard."""

import builtins
import inspect
import re
import symtable
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

from helpers.errors import LabError
from helpers.files import WORK, runs_folder, write_atomically
from helpers.speed_record.source_rules import source_problems

PLAIN = (int, float, str, bool, type(None))


def write(train: Callable, title: str, predicted_gain: float | None = None) -> Path:
    """Save a training as `record_TITLE.py` in `work/`, with everything that it needs.

    Parameters
    ----------
    train : callable
        As exercise 12.2 asks for it.
    title : str
        Names the file and heads the docstring.
    predicted_gain : float, optional
        How many times as fast as its predecessor it should be.

    Returns
    -------
    Path

    Raises
    ------
    LabError
        If it uses a value that no line of Python can write, or breaks a rule.
    """
    text = source(train, title, predicted_gain)
    if problems := source_problems(text):
        raise LabError(problems[0])
    words = "_".join(re.findall(r"[a-z0-9]+", title.lower()))
    folder = WORK if WORK.is_dir() else runs_folder()  # no student, no work/
    path = folder / f"record_{words or 'untitled'}.py"
    write_atomically(path, text)
    return path


def source(train: Callable, title: str, predicted_gain: float | None = None) -> str:
    """The text of the file: docstring, imports, constants, functions.

    Parameters and errors are those of `write`.
    """
    imports, constants, functions = set(), set(), {}
    _collect(train, imports, constants, functions)
    docstring = [f'"""{title.strip().rstrip(".")}.', "", "authors: "]
    docstring += [f"predicted gain: {predicted_gain:g}"] if predicted_gain else []
    parts = [[*docstring, '"""'], sorted(imports), sorted(constants)]
    texts = ["\n".join(part) for part in parts if part]
    return "\n\n\n".join([*texts, *functions.values()]) + "\n"


def _collect(function, imports, constants, functions):
    """Add a function's source, after everything that it uses."""
    own, text = function.__name__, textwrap.dedent(inspect.getsource(function)).rstrip()
    functions[own] = ""  # it may call itself
    for name in sorted(_globals_of(text) - set(functions)):
        if name not in function.__globals__:
            if hasattr(builtins, name):
                continue
            raise LabError(f"{own} uses {name}, which is not defined: define it in {own}.")
        value = function.__globals__[name]
        if line := _import_of(name, value):
            imports.add(line)
        elif isinstance(value, PLAIN):
            constants.add(f"{name} = {value!r}")
        elif isinstance(value, FunctionType) and value.__name__ == name:
            _collect(value, imports, constants, functions)
        else:
            raise LabError(
                f"{own} uses {name}, a {type(value).__name__} of the notebook, which no "
                f"file can hold: define it in {own}."
            )
    del functions[own]  # so that it comes after the functions that it uses
    functions[own] = text


def _globals_of(text):
    """The names that the code of a function reads from its module."""
    found, waiting = set(), symtable.symtable(text, "<function>", "exec").get_children()
    while waiting:
        table = waiting.pop()
        found.update(one.get_name() for one in table.get_symbols() if one.is_global())
        waiting.extend(table.get_children())
    return found


def _import_of(name, value):
    """A line that imports a value under a name; empty for what the notebook defines."""
    if isinstance(value, ModuleType):
        return _line(f"import {value.__name__}", name)
    home, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if home in (None, "__main__") or own is None or home.startswith("helpers.lab_"):
        return ""
    return _line(f"from {home} import {own}", name)


def _line(imported, name):
    return imported if imported.endswith(f" {name}") else f"{imported} as {name}"
