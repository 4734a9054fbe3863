"""Comments that an instructor uses again and again, each with points: `rubric.csv`.

An answer has an item if the comment on it has the item's line. So `overrides.csv` says
everything, and a student reads the items with their points.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import write_atomically
from helpers.plain_json import storable
from kit.grading.classroom.class_files import Override, as_csv, number, rows
from kit.grading.contracts import MarkedText

NAME = "rubric.csv"
COLUMNS = ("exercise", "points", "comment")
LONGEST_ITEM = 500  # characters


class Item(NamedTuple):
    """A comment with the points that it adds; a mistake has negative ones."""

    exercise: str
    points: float
    comment: str

    @property
    def key(self) -> str:
        """What a form calls it."""
        return hashlib.sha256(self.comment.encode()).hexdigest()[:12]


def read_rubric(folder: Path) -> tuple[Item, ...]:
    """Read `rubric.csv` of a folder of grades; empty where there is none."""
    path = folder / NAME
    if not path.is_file():
        return ()
    found = []
    for line, row in rows(path, COLUMNS):
        points, comment = number(row["points"]), " ".join(row["comment"].split())
        if points is None or not comment:
            raise LabError(f"{path}: line {line}: give a number of points and a comment.")
        found.append(Item(row["exercise"], points, comment[:LONGEST_ITEM]))
    return tuple(found)


def write_rubric(folder: Path, items: Iterable[Item]) -> None:
    """Replace `rubric.csv`."""
    table = [(one.exercise, f"{one.points:g}", one.comment) for one in items]
    write_atomically(folder / NAME, as_csv(COLUMNS, table))


def as_lines(items: Iterable[Item]) -> str:
    """Items as a person edits them: a line each, such as `1.5: Names the noise scale`."""
    return "\n".join(f"{one.points:g}: {one.comment}" for one in items)


def from_lines(exercise: str, text: str) -> list[Item]:
    """The items that a person has written: `1: a comment`, or with a sign `+1 a comment`.

    Parameters
    ----------
    exercise, text : str

    Returns
    -------
    list of Item

    Raises
    ------
    LabError
        Says what is wrong with which line.
    """
    found = {}
    for line in filter(str.strip, storable(text).splitlines()):
        signed = re.match(r"\s*([+-][\d.,]+)\s+([^:\s].*)", line)
        before, comment = signed.groups() if signed else line.partition(":")[::2]
        points, comment = number(before.strip()), " ".join(comment.split())[:LONGEST_ITEM]
        if points is None or not comment or comment in found:
            problem = "appears twice" if comment in found else "is not an item"
            raise LabError(f"{line.strip()[:40]!r} {problem}: write '1.5: a comment'.")
        found[comment] = Item(exercise, points, comment)
    return list(found.values())


def split(comment: str, items: Iterable[Item]) -> tuple[list[Item], str]:
    """The items that a comment has, and the rest of it."""
    lines = comment.split("\n")
    found = [one for one in items if one.comment in lines]
    used = {one.comment for one in found}
    return found, "\n".join(line for line in lines if line not in used)


def joined(items: Iterable[Item], rest: str) -> str:
    """A comment with its items first."""
    return "\n".join([*(one.comment for one in items), *([rest] if rest else [])])


def with_points(text: MarkedText, items: Iterable[Item]) -> str:
    """The comment on an answer as a student reads it: with the points of its items.

    Where a person has typed other points than the items' sum, the items have none.
    """
    found, rest = split(text["comment"], [o for o in items if o.exercise == text["number"]])
    if not found or text["points"] != total(found, text["of"]):
        return text["comment"]
    shown = [one._replace(comment=f"{one.points:+g}: {one.comment}") for one in found]
    return joined(shown, rest)


def total(items: Sequence[Item], of: float) -> float | None:
    """The points of an answer by its items: from 0 to `of`; None without items."""
    return min(max(sum(one.points for one in items), 0), of) if items else None


def lost_points(
    overrides: Iterable[Override],
    exercise: str,
    of: float,
    old: list[Item],
    new: list[Item],
) -> tuple[list[Item], int]:
    """The items that are no longer there, and how many answers would lose their points."""
    there = {one.comment for one in new}
    lost = [item for item in old if item.comment not in there]
    left = [item for item in old if item.comment in there]
    before = list(overrides)
    after = with_new_points(before, exercise, of, old, left)
    return lost, sum(one != other for one, other in zip(before, after, strict=True))


def with_new_points(
    overrides: Iterable[Override],
    exercise: str,
    of: float,
    old: list[Item],
    new: list[Item],
) -> list[Override]:
    """Decisions by items, with what the items are worth now.

    Points that a person has typed in place of the sum stay.
    """
    now, changed = {one.comment: one for one in new}, []
    for one in overrides:
        if one.exercise == exercise:
            had, _ = split(one.comment, old)
            has = [now[item.comment] for item in had if item.comment in now]
            if had and one.points == total(had, of):
                one = one._replace(points=total(has, of))
        changed.append(one)
    return changed
