"""A submission's docstring: its title, its authors, and the gain that they predicted.

The first line is the title; each line after it may be ``name: value``.
"""

import ast
from typing import NamedTuple

from helpers.errors import LabError
from helpers.speed_record.rule import TARGETS


class Header(NamedTuple):
    """What a submission says about itself.

    `predicted_gain` is how many times as fast as `based_on` it should be, or None.
    """

    title: str = "untitled"
    authors: str = ""
    target: str | None = None
    predicted_gain: float | None = None
    based_on: str = ""


def header(text: str) -> Header:
    """Read the docstring of a submission.

    Parameters
    ----------
    text : str
        Its source, which must be Python.

    Returns
    -------
    Header

    Raises
    ------
    LabError
        If the target or the predicted gain is not one.
    """
    lines = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    found = dict(map(_entry, filter(_is_entry, lines)))
    title = lines[0].strip().rstrip(".") if lines and not _is_entry(lines[0]) else ""
    target = found.get("target")
    if target is not None and target not in TARGETS:
        raise LabError(f"target must be one of {', '.join(TARGETS)}, not {target!r}.")
    return Header(
        found.get("title") or title or Header().title,
        found.get("authors", ""),
        target,
        _gain(found.get("predicted gain")),
        found.get("based on", ""),
    )


def _is_entry(line):
    name, colon, _ = line.partition(":")
    names = ("title", "authors", "target", "predicted gain", "based on")
    return bool(colon) and name.strip().lower() in names


def _entry(line):
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


def _gain(text):
    if text is None:
        return None
    try:
        value = float(text.removesuffix("x"))
    except ValueError:
        value = 0.0
    if not 0 < value < 1000:
        raise LabError(
            "predicted gain must be a number such as 1.3, which means 1.3 times as fast, "
            f"not {text!r}."
        )
    return value
