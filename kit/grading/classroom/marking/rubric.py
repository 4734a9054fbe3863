"""Comments that an instructor uses again and again, each with points: `rubric.csv`.

An answer has an item if the comment on it has the item's line. So `overrides.csv` says
everything, and a student reads the items with their points.
"""

import functools
import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import write_atomically
from helpers.plain_json import storable
from kit.grading.classroom.class_files import Override, as_csv, number, rows
from kit.grading.contracts import MarkedText

NAME = "rubric.csv"
SUGGESTED = Path(__file__).with_name("suggested.toml")
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


@functools.cache
def suggested_items() -> dict[str, list[str]]:
    """Lines for the rubric of a question, as we would mark it, by its number."""
    return tomllib.loads(SUGGESTED.read_text(encoding="utf-8"))


def write_rubric(folder: Path, items: Iterable[Item]) -> None:
    """Replace `rubric.csv`."""
    table = [(one.exercise, f"{one.points:g}", one.comment) for one in items]
    write_atomically(folder / NAME, as_csv(COLUMNS, table))


def as_line(item: Item) -> str:
    """An item as a person edits it, such as `1.5: Names the noise scale`."""
    return f"{item.points:g}: {item.comment}"


def from_line(exercise: str, line: str) -> Item:
    """The item that a person has written: `1: a comment`, or with a sign `+1 a comment`.

    Parameters
    ----------
    exercise, line : str

    Returns
    -------
    Item

    Raises
    ------
    LabError
        Says what is wrong.
    """
    line = " ".join(storable(line).split())
    signed = re.match(r"([+-][\d.,]+) ([^:\s].*)", line)
    before, comment = signed.groups() if signed else line.partition(":")[::2]
    points, comment = number(before.strip()), comment.strip()[:LONGEST_ITEM].strip()
    if points is None or not comment:
        raise LabError(f"{line[:40]!r} is not an item: write '1.5: a comment'.")
    return Item(exercise, points, comment)


def edited(
    exercise: str, items: Iterable[Item], edits: Mapping[str, str], more: str
) -> tuple[list[Item], dict[str, Item]]:
    """The items of a question after a person has edited some, and written more.

    Parameters
    ----------
    exercise : str
    items : iterable of Item
    edits : dict of str to str
        New lines of items, by the old comment; an empty one removes the item.
    more : str
        Lines of new items.

    Returns
    -------
    tuple
        The new items; and those that have come from an old one, by its comment.

    Raises
    ------
    LabError
        Says what is wrong with which line.
    """
    now = {}
    for item in items:
        line = edits.get(item.comment, as_line(item))
        if line:
            now[item.comment] = from_line(exercise, line)
    new = list(now.values())
    for line in filter(str.strip, more.splitlines()):
        item = from_line(exercise, line)
        if item not in new:  # a form that is sent twice adds nothing
            new.append(item)
    comments = Counter(item.comment for item in new)
    for item in new:
        if comments[item.comment] > 1:
            raise LabError(f"{item.comment[:40]!r} appears twice: keep one of them.")
    return new, now


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
    old: Iterable[Item],
    lost: Collection[Item],
) -> int:
    """The number of answers whose points change without some items."""
    before, old = list(overrides), list(old)
    left = {item.comment: item for item in old if item not in lost}
    after = with_new_points(before, exercise, of, old, left)
    return sum(one != other for one, other in zip(before, after, strict=True))


def with_new_points(
    overrides: Iterable[Override],
    exercise: str,
    of: float,
    old: list[Item],
    now: Mapping[str, Item],
) -> list[Override]:
    """Decisions by items, with what the items say and are worth now.

    Points that a person has typed in place of the sum stay.

    Parameters
    ----------
    overrides : iterable of Override
    exercise : str
    of : float
        The points of the question.
    old : list of Item
    now : dict of str to Item
        By the old comment. An item that is not there was removed: its text stays, as a
        comment.

    Returns
    -------
    list of Override
    """
    changed = []
    for one in overrides:
        if one.exercise == exercise:
            had, _ = split(one.comment, old)
            has = [now[item.comment] for item in had if item.comment in now]
            if had and one.points == total(had, of):
                one = one._replace(points=total(has, of))
            words = [
                now[line].comment if line in now else line
                for line in one.comment.split("\n")
            ]
            one = one._replace(comment="\n".join(words))
        changed.append(one)
    return changed
