"""The files that `labs collect` left out, and why: grading shows it to everybody."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.plain_json import write_json

NAME = "left_out.json"
COLLECTED = "collected.json"  # how names of files that go back begin, by lab and student
Remembered = dict[str, dict[str, list[list[str]]]]  # (file, reason) by lab and student


class LeftOut(NamedTuple):
    """A file that was not taken out of a zip."""

    student: str  # the folder's name; empty where the file's name says no student
    file: str
    reason: str


def read_left_out(out: Path) -> Remembered:
    """Read what was left out of all zips that were collected into a folder of grades."""
    try:
        return json.loads((out / NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise LabError(
            f"{out / NAME} is damaged: delete it, and `labs collect` every zip again."
        ) from error


def read_collected(out: Path) -> dict[str, dict[str, str]]:
    """Read how names of files that go back begin, by lab and student, of all zips."""
    try:
        return json.loads((out / COLLECTED).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise LabError(
            f"{out / COLLECTED} is damaged: delete it, and `labs collect` every zip again."
        ) from error


def remember(
    out: Path, found: Iterable[LeftOut], students: Iterable[str], labs: list[str]
) -> None:
    """Add what was left out of one zip.

    Parameters
    ----------
    out : Path
    found : iterable of LeftOut
    students : iterable of str
        Everybody in the zip: what an older zip had of theirs is forgotten.
    labs : list of str
        The labs that the zip is for, where a file's own name says none.
    """
    stored = read_left_out(out)
    for lab in labs:
        for student in students:
            stored.setdefault(lab, {}).pop(student, None)
    for one in found:
        named = [lab for lab in labs if lab in one.file.lower()]
        for lab in named or labs:
            files = stored.setdefault(lab, {}).setdefault(one.student, [])
            files.append([one.file, one.reason])
    write_json(out / NAME, stored)
