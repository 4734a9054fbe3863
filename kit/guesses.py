"""Example guesses: what a solution's predictions say, where students begin with None.

Readers of the site see no run of their own. So a solved notebook plays the game, too: its
predictions are filled in, locked, and scored. The guesses are in `guesses.toml` of a lab's
folder, by the names of the variables that hold them.
"""

import ast
import functools
import tomllib

from kit.labs import Lab

NOTE = (
    "*This is the solved notebook. Its predictions are example guesses, such as a reader "
    "might make, and some of them are far off.*"
)
COMMENT = "# Example guesses: in your notebook they begin as None."


@functools.cache
def guesses_of(lab: Lab) -> dict:
    """The example guesses of a lab, by variable; empty if it has none.

    A guess is a number, a truth, a list, or a dict of these, as the cell asks for it.
    """
    path = lab.folder / "guesses.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def asked_in(source: str) -> dict[str, ast.expr]:
    """The variables of a cell that wait for a guess, with their first values."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # of a magic
        return {}
    return {
        statement.targets[0].id: statement.value
        for statement in statements
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        if statement.targets[0].id.startswith("my_") and any(_nones(statement.value))
    }


def fill_in(source: str, guesses: dict) -> str:
    """A cell with the guesses in place of None, below a comment that says so.

    Parameters
    ----------
    source : str
    guesses : dict
        See `guesses_of`. None stays where there is no guess.

    Returns
    -------
    str
        The same text if nothing was filled in.
    """
    found = [
        (none, guess)
        for name, value in asked_in(source).items()
        for none, guess in _filled(value, guesses.get(name))
        if guess is not None
    ]
    lines = source.splitlines()
    for none, guess in sorted(found, key=lambda one: -one[0].col_offset):
        # Columns are bytes of UTF-8.
        line = lines[none.lineno - 1].encode()
        before, after = line[: none.col_offset], line[none.end_col_offset :]
        lines[none.lineno - 1] = (before + repr(guess).encode() + after).decode()
    return "\n".join([COMMENT, *lines]) if found else source


def _filled(value, guess):
    """Each None of a value with its guess: the value itself, or those of a dict."""
    if isinstance(value, ast.Dict):
        by_key = guess if isinstance(guess, dict) else {}
        for key, entry in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant):
                yield from _filled(entry, by_key.get(str(key.value)))
    elif isinstance(value, ast.Constant) and value.value is None:
        yield value, guess


def _nones(value):
    return (n for n in ast.walk(value) if isinstance(n, ast.Constant) and n.value is None)
