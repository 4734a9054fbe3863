"""Measure grading: submissions per minute of an honest class, and nbgrader's autograde.

Both grade the same notebooks in the same run: the solutions without their outputs, one
of each lab for every student. nbgrader executes a whole notebook, at smoke scale, which
is the least that it can do; `labs grade` asks each exercise three questions in a box.
"""

import contextlib
import io
import os
import tempfile
import time
from pathlib import Path

import nbformat
from rich.console import Console
from rich.table import Table

from helpers.files import REPOSITORY, write_atomically
from helpers.plain_json import write_json
from helpers.run_card.documents import versions
from kit.bench import nbgrader
from kit.generate import generate
from kit.grading.grade import grade
from kit.headless.execute import timed
from kit.labs import Lab, find_lab

LABS = ("02", "03")
PATH = REPOSITORY / "docs" / "bench" / "grading.json"


def bench(
    students: int = 100, nbgrader_students: int | None = None, jobs: int | None = None
) -> None:
    """Write docs/bench/grading.json and print it as a table.

    Parameters
    ----------
    students : int
        In the class that `labs grade` grades, with the sandbox on.
    nbgrader_students : int, optional
        How many of them nbgrader grades, a minute for each; default all.
    jobs : int, optional
        Worker processes of `labs grade`; default one per core. nbgrader's
        autograde has no such option: it grades one after another.
    """
    labs = [find_lab(name) for name in LABS]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ours = measure_ours(labs, students, jobs, folder)
        theirs = measure_nbgrader(labs, nbgrader_students or students, folder)
    result = {
        "device": _cpu(),
        "versions": versions() | {"nbgrader": nbgrader.PACKAGES[0].partition("==")[2]},
        "labs": [lab.name for lab in labs],
        "ours": ours,
        "nbgrader": theirs,
        "ratio": ours["submissions_per_minute"] / theirs["submissions_per_minute"],
    }
    write_json(PATH, result)
    table = Table("", "submissions", "seconds", "submissions per minute")
    for name, row in (("labs grade", ours), ("nbgrader autograde", theirs)):
        rate = f"{row['submissions_per_minute']:.1f}"
        table.add_row(name, str(row["submissions"]), f"{row['seconds']:.0f}", rate)
    Console().print(table)
    print(f"{result['device']}; {result['ratio']:.1f} times; written to {PATH.name}")


def measure_ours(labs: list[Lab], students: int, jobs: int | None, folder: Path) -> dict:
    """Grade a class with the sandbox on; every answer has to pass."""
    for number in range(students):
        for lab in labs:
            path = folder / "class" / f"student{number:03d}" / f"{lab.name}.ipynb"
            write_atomically(path, nbformat.writes(generate(lab)[1]))
    results, seconds = timed(grade, folder / "class", labs, folder / "grades", jobs=jobs)
    wrong = [result for result in results if result["total"] < result["of"]]
    return _row(len(results), seconds) | {
        "jobs": jobs or os.cpu_count(),
        "full_marks": len(results) - len(wrong),
    }


def measure_nbgrader(labs: list[Lab], students: int, folder: Path) -> dict:
    """Have nbgrader grade the same notebooks, one after another."""
    course = folder / "course"
    for lab in labs:
        student, solution = (nbformat.writes(notebook) for notebook in generate(lab))
        write_atomically(course / "source" / lab.name / f"{lab.name}.ipynb", student)
        for number in range(students):
            place = course / "submitted" / f"student{number:03d}" / lab.name
            write_atomically(place / f"{lab.name}.ipynb", solution)
    write_atomically(course / "nbgrader_config.py", "c = get_config()\n")
    variables = {
        "LABS_SCALE": "smoke", "LABS_STRICT": "1", "LABS_RUNS_DIR": folder / "runs",
        "HOME": folder,
    }  # fmt: skip
    for lab in labs:
        nbgrader.run(["generate_assignment", lab.name, "--create"], course, **variables)
    began = time.perf_counter()
    for lab in labs:
        nbgrader.run(["autograde", lab.name], course, **variables)
    seconds = time.perf_counter() - began
    graded = len(list((course / "autograded").glob("*/*/*.ipynb")))
    return _row(graded, seconds)


def _row(submissions, seconds):
    return {
        "submissions": submissions,
        "seconds": seconds,
        "submissions_per_minute": 60 * submissions / seconds,
    }


def _cpu():
    from helpers.machine.devices import describe_device

    with contextlib.redirect_stdout(io.StringIO()):
        return describe_device()["name"]
