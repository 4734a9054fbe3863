"""Which answer a person's points were given for: `given_for.csv`, beside `overrides.csv`.

A student may hand in again after somebody has given points by hand. Then the points are
about an older answer, and do not count until the person has looked at the new one.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from helpers.files import write_atomically
from helpers.plain_json import as_json, storable
from kit.grading.classroom.class_files import (
    ClassFiles,
    Override,
    as_csv,
    in_a_cell,
    rows,
)
from kit.grading.classroom.marks import names_of
from kit.grading.contracts import Result

NAME = "given_for.csv"
COLUMNS = ("student", "exercise", "decision", "answer")
Key = tuple[str, str]  # student and exercise, as `overrides.csv` has them


class Given(NamedTuple):
    """A decision and the answer that it is about, both as digests."""

    decision: str
    answer: str


def read_given(out: Path) -> dict[Key, Given]:
    """Read `given_for.csv` of a folder of grades; empty where there is none."""
    path = out / NAME
    if not path.is_file():
        return {}
    return {
        (row["student"], row["exercise"]): Given(row["decision"], row["answer"])
        for _, row in rows(path, COLUMNS)
    }


def write_given(out: Path, given: Mapping[Key, Given]) -> None:
    """Replace `given_for.csv`."""
    table = [(*key, *one) for key, one in sorted(given.items())]
    write_atomically(out / NAME, as_csv(COLUMNS, table))


def decision_digest(one: Override) -> str:
    """A digest of the points and the comment of a decision."""
    return _digest([in_a_cell(one.points), one.comment])


def text_digest(text: str) -> str:
    """A digest of an answer: of its code, or of its words."""
    return _digest(text)


def answer_digest(result: Mapping[str, Any], exercise: str) -> str:
    """A digest of what a decision about an exercise, a text or a whole lab is about.

    Parameters
    ----------
    result : dict
        A result of grading, also as `grades.json` has it.
    exercise : str
        "2.1", "2.figure", or "02" for the lab.

    Returns
    -------
    str
    """
    codes = {n: one["code"] for n, one in result["exercises"].items()}
    answers = codes | result["about"].get("texts", {})
    if exercise.isdecimal():
        is_read = result["status"] == "graded"
        file = "" if is_read else result["about"].get("sha256", "")
        return _digest([result["status"], file, answers])
    return text_digest(answers.get(exercise, ""))


def outdated(
    out: Path,
    results: Iterable[Result],
    class_files: ClassFiles,
    known: Mapping[Key, Given] | None = None,
) -> frozenset[Key]:
    """The decisions whose answers have changed since, and remember all others.

    A new decision is about the answer that the last grades showed, if there are any.

    Parameters
    ----------
    out : Path
        The folder of grades, before the new ones are in it.
    results : iterable of dict
    class_files : kit.grading.classroom.class_files.ClassFiles

    Returns
    -------
    frozenset of (student, exercise)
    """
    known = read_given(out) if known is None else known
    shown, found = _last_grades(out), set()
    # An interrupted run lacks some: what was decided about them is remembered as well.
    there_now = {(one["student"], one["lab"]) for one in results}
    results = [*results, *(one for key, one in shown.items() if key not in there_now)]
    there = {(one.student, one.exercise) for one in class_files.overrides}
    given = {key: one for key, one in known.items() if key in there}
    for result in results:
        if result["status"] == "not graded":  # its answers were not read
            continue
        names = names_of(result, class_files.roster)
        number = result["lab"].partition("_")[0]
        for one in class_files.overrides:
            lab = one.exercise.partition(".")[0]
            if one.points is None or one.student not in names or int(lab) != int(number):
                continue
            key, decision = (one.student, one.exercise), decision_digest(one)
            now = answer_digest(result, one.exercise)
            if key not in known or known[key].decision != decision:
                seen = shown.get((result["student"], result["lab"]))
                answer = answer_digest(seen, one.exercise) if seen else now
                given[key] = Given(decision, answer)
            if given[key].answer != now:
                found.add(key)
    # `labs mark` may have saved while this ran, which began with older overrides.
    stored = read_given(out)
    given |= {key: one for key, one in stored.items() if known.get(key) != one}
    if given != stored:
        write_given(out, given)
    return frozenset(found)


def _last_grades(out):
    """The results that a person has seen, by student and lab."""
    try:
        document = storable(json.loads((out / "grades.json").read_text(encoding="utf-8")))
        results = document["results"]
        seen = {(one["student"], one["lab"]): one for one in results}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {key: one for key, one in seen.items() if one["status"] != "not graded"}


def _digest(value):
    # Not hexadecimal alone: a spreadsheet makes a number of 12e4.
    text = as_json(value, sort_keys=True)
    return f"sha-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
