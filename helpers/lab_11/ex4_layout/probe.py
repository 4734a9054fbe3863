"""Exercise 11.4: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.arguments import call

LONGEST = 8  # entries of a reply that are looked at; a weight has four axes at most
LETTERS = 40


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Ask for the layout of one weight at a time."""
    said, changed = [], ""
    for path, shape in question["cases"]:
        returned, names = call(answer, path=path, shape=tuple(shape))
        changed = changed or names
        said.append(_entries(returned))
    return {"said": said, "changed": changed}


def _entries(returned):
    """The entries of a tuple or a list as names and None; another value in words."""
    if not isinstance(returned, tuple | list):
        return [f"no tuple: {_words(returned)}"]
    return [
        one
        if one is None
        else _words(one)
        if isinstance(one, str)
        else f"no name: {_words(one)}"
        for one in returned[:LONGEST]
    ]


def _words(value):
    text = value if isinstance(value, str) else type(value).__name__
    return text[:LETTERS].encode("ascii", "backslashreplace").decode("ascii")
