"""The cells of this kernel's notebook: those that ran, and those that are stored."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from helpers.notebook.cell_text import quoted

SET_UP = "Set up"  # the heading of a lab's first cells; without it they come before any


class Cell(NamedTuple):
    """A cell that was run in this kernel."""

    source: str
    number: int  # the one in brackets beside it
    identity: object  # the notebook's for the cell, or None
    problem: str  # "was stopped in epoch 1 of 5"; empty: it ran to its end
    ended_unix_seconds: float
    older: frozenset = frozenset()  # of the names of a stopped one those it had not bound


class NotebookCell(NamedTuple):
    """A code cell of the notebook, as stored."""

    source: str
    is_set_up: bool  # it comes before the lab itself
    identity: object  # as that of a `Cell`


def _notebook_cells():
    """The cells of this kernel's notebook, as stored; none where nobody says which."""
    try:
        notebook = json.loads(Path(os.environ["JPY_SESSION_NAME"]).read_text("utf-8"))
        return [cell for cell in notebook["cells"] if cell["cell_type"]]
    except (KeyError, OSError, ValueError, TypeError):
        return []


def stored_cells() -> list[NotebookCell]:
    """The code cells of this kernel's notebook, from the first to the last."""
    found, is_set_up = [], True
    for cell in _notebook_cells():
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.append(NotebookCell(source, is_set_up, cell.get("id")))
        elif heading := re.search(r"^## +(.+?) *$", source, re.M):
            is_set_up = heading[1] == SET_UP
    return found


def without_deleted(cells: Iterable[Cell]) -> list[Cell]:
    """The cells that ran, but for those which the notebook has lost since.

    What ran after the notebook was stored may be in it without being stored.
    """
    identities = {cell.get("id") for cell in _notebook_cells()}
    if not identities:
        return list(cells)
    stored_unix_seconds = Path(os.environ["JPY_SESSION_NAME"]).stat().st_mtime
    return [
        cell
        for cell in cells
        if cell.identity is None
        or cell.identity in identities
        or cell.ended_unix_seconds > stored_unix_seconds
    ]


def missed_by_the_page(cells: Iterable[Cell]) -> str:
    """A line on the cells that ran while no page listened; empty if there are none.

    A page that is reloaded shows the notebook as it was stored last. The kernel goes
    on with the cells that it was given, and nobody gets what they show.
    """
    stored = {
        cell.get("id"): cell.get("execution_count")
        for cell in _notebook_cells()
        if cell["cell_type"] == "code"
    }
    if not stored:
        return ""
    stored_unix_seconds = Path(os.environ["JPY_SESSION_NAME"]).stat().st_mtime
    missed = [
        cell
        for cell in cells
        if cell.identity in stored
        and (
            stored[cell.identity] != cell.number
            or cell.ended_unix_seconds > stored_unix_seconds
        )
    ]
    if not missed:
        return ""
    first, last = missed[0], missed[-1]
    which = f"cell [{first.number}], {quoted(first.source)}"
    if len(missed) > 1:
        which = f"{len(missed)} cells, from [{first.number}], {quoted(first.source)}, "
        which += f"to [{last.number}], {quoted(last.source)}"
    ended = f" The last one {last.problem}." if last.problem else ""
    return (
        f"This page was reloaded, so it does not show the output of {which}.{ended} "
        "Nothing that was computed there is lost. To see the output, run that again."
    )
