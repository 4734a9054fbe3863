"""Write a function of a notebook into a file of its own, for the leaderboard."""

import ast
import builtins
import inspect
import symtable
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

from helpers.errors import LabError
from helpers.files import WORK, write_atomically
from helpers.speed_record.source_rules import source_problems

PLAIN = (int, float, str, bool, type(None))


def write(train: Callable, title: str, predicted_gain: float | None = None) -> Path:
    """Save a training as `work/record_TITLE.py`, with everything that it needs.

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
    words = "_".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
    path = WORK / f"record_{words or 'untitled'}.py"
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, text)
    return path


def source(train: Callable, title: str, predicted_gain: float | None = None) -> str:
    """The text of the file: docstring, imports, constants, helpers, `train`.

    Parameters
    ----------
    train, title, predicted_gain
        As in `write`.

    Raises
    ------
    LabError
        As in `write`.
    """
    imports, constants, functions = set(), {}, {}
    _collect(train, "train", imports, constants, functions)
    lines = [f'"""{title.strip().rstrip(".")}.', "", "authors: "]
    lines += [f"predicted gain: {predicted_gain:g}"] if predicted_gain else []
    parts = ["\n".join([*lines, '"""'])]
    parts.append("\n".join(sorted(imports)))
    parts.append("\n".join(f"{name} = {value!r}" for name, value in constants.items()))
    return "\n\n\n".join([part for part in parts if part] + list(functions.values())) + "\n"


def _collect(function, name, imports, constants, functions):
    """Add a function's source, after everything that it uses."""
    text = textwrap.dedent(inspect.getsource(function))
    own = function.__name__
    functions[name] = ""  # a function may call itself
    for used in sorted(_globals_of(text) - {own}):
        if used not in function.__globals__:
            if hasattr(builtins, used):
                continue
            raise LabError(f"{own} uses {used}, which is not defined: define it in {own}.")
        value = function.__globals__[used]
        if line := _import_of(used, value):
            imports.add(line)
        elif isinstance(value, PLAIN):
            constants[used] = value
        elif isinstance(value, FunctionType | type):
            if used not in functions:
                _collect_helper(value, used, imports, constants, functions)
        else:
            raise LabError(
                f"{own} uses {used}, a {type(value).__name__} of the notebook, which no "
                f"file can hold: compute it in {own}."
            )
    del functions[name]
    functions[name] = _renamed(text, own, name)


def _collect_helper(value, used, imports, constants, functions):
    if isinstance(value, type):
        raise LabError(f"{used} is a class of the notebook: define it inside train.")
    _collect(value, used, imports, constants, functions)


def _globals_of(text):
    """The names that the code of a function reads from its module."""
    found = set()

    def visit(table):
        if table.get_type() == "function":
            found.update(s.get_name() for s in table.get_symbols() if s.is_global())
        for child in table.get_children():
            visit(child)

    visit(symtable.symtable(text, "<function>", "exec"))
    return found


def _import_of(name, value):
    """A line that imports a value under a name; empty for what the notebook defines."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    home, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if home in (None, "__main__") or own is None or home.startswith("helpers.lab_"):
        return ""
    return f"from {home} import {own} as {name}"


def _renamed(text, own, name):
    """The source of a function under another name."""
    if own == name:
        return text.rstrip()
    [node] = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    lines = text.splitlines()
    lines[node.lineno - 1] = lines[node.lineno - 1].replace(f"def {own}", f"def {name}", 1)
    return "\n".join(lines).rstrip()
