"""A made-up class, so that a teacher can try the way from a platform and back."""

import csv
import io
import json
import shlex
import zipfile
from pathlib import Path
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import write_atomically
from helpers.plain_json import as_json
from kit.labs import Lab
from kit.platforms.moodle import upload_of
from kit.todo_cells import todo_cells

HEAD = (
    "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
    "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
    "Feedback comments",
)  # fmt: skip
DUE = "2026-11-20 23:59"
ON_TIME, LATE = "Friday, 20 November 2026, 9:05 AM", "Sunday, 22 November 2026, 8:00 AM"
NEVER = "-"
WORDS = "A made-up answer: the figure shows what was measured, but I do not say why."


class Rehearsal(NamedTuple):
    """The files of a made-up class."""

    archive: Path
    worksheet: Path


def rehearse(folder: Path, lab: Lab) -> Rehearsal:
    """Write a zip of submissions and a grading worksheet, of the form that Moodle gives.

    Five students: all solved, one exercise left open and late, unchanged, a broken file,
    and nothing.

    Parameters
    ----------
    folder : Path
        A new or empty one.
    lab : kit.labs.Lab

    Returns
    -------
    Rehearsal

    Raises
    ------
    LabError
        If there is something in the folder, or a notebook of the lab is missing.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LabError(f"{folder} is not empty: give the name of a new folder.")
    solved, start = _read(lab.solution), _read(lab.notebook)
    [figure] = [c for c in solved["cells"] if c.get("id") == f"{int(lab.number)}-figure"]
    figure["source"] = f"{''.join(figure['source'])}\n\n{WORDS}"
    whole = _text(solved)
    students = [
        ("Ada Example", 101, ON_TIME, whole),
        ("Ben Example", 102, LATE, _text(_with_one_open(solved, start, lab))),
        ("Chen Example", 103, ON_TIME, _text(start)),
        ("Dora Example", 104, ON_TIME, whole[: len(whole) // 2]),
        ("Emil Example", 105, NEVER, ""),
    ]
    archive, worksheet = io.BytesIO(), io.StringIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for name, number, _, text in students:
            if text:
                made.writestr(f"{upload_of(f'{name}_{number}')}{lab.notebook.name}", text)
    table = csv.writer(worksheet, lineterminator="\n")
    table.writerow(HEAD)
    for name, number, came, text in students:
        state = "Submitted for grading" if text else "No submission"
        table.writerow(
            [f"Participant {number}", name, f"{number}@example.org", state, "", "100.00",
             "Yes", came, NEVER, ""]
        )  # fmt: skip
    written = Rehearsal(folder / "class.zip", folder / "worksheet.csv")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(written.archive, archive.getvalue())
    write_atomically(written.worksheet, worksheet.getvalue().encode("utf-8"))
    return written


def next_commands(made: Rehearsal, lab: Lab) -> list[str]:
    """What a teacher types next."""
    students = made.archive.with_name("class")
    grade = ("grade", students, "--lab", lab.number)
    commands = [
        ("collect", made.archive, students, "--table", made.worksheet, "--due", DUE),
        grade, ("mark",), grade, ("hand-back", made.worksheet),
    ]  # fmt: skip
    grades = f"grades/rehearsal-{lab.number}"
    return [shlex.join(["labs", *map(str, one), "--out", grades]) for one in commands]


def _read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(f"{path} is missing: run `labs build`.") from error


def _with_one_open(solved, start, lab):
    """A solved notebook whose last exercise is as it was handed out."""
    last = todo_cells(lab)[-1].cell_id
    [todo] = [cell for cell in start["cells"] if cell.get("id") == last]
    cells = [todo if cell.get("id") == last else cell for cell in solved["cells"]]
    return solved | {"cells": cells}


def _text(notebook):
    return as_json(notebook, ensure_ascii=False, indent=1)
