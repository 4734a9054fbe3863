"""One exercise as its judge knows it: a record, resolved in one place."""

import importlib
from collections.abc import Callable
from typing import NamedTuple

UNCLEAR = "unclear"  # the hint of a verdict after which another question is asked


class Exercise(NamedTuple):
    """What `EXERCISES` in a lab's `judge.py` holds for each exercise."""

    title: str  # printed after the tick
    requirements: dict[str, str]  # a name for each sentence that is checked
    question: Callable  # rng -> dict, plain JSON; "secret" in it never leaves the judge
    judge: Callable  # (question, observation) -> None or (reason, hint)
    hints: dict[str, str]  # a question to the student for each mistake; `start`, `raised`


def exercise_record(number):
    """The record of an exercise.

    Parameters
    ----------
    number : str
        ``"2.1"``.

    Returns
    -------
    Exercise
    """
    return part("judge", number).EXERCISES[number]


def probe_of(number):
    """What drives an answer: it lives beside the student's code, apart from the judge."""
    return part("probe", number).PROBES[number]


def reference_of(number):
    """The reference answer, generated from the lab's solution."""
    return part("reference", number).REFERENCES[number]


def part(kind, number):
    """A lab's `probe`, `judge`, `reference` or `answers`: the module with an exercise."""
    lab = int(number.split(".")[0])
    return importlib.import_module(f"helpers.lab_{lab:02d}.{kind}")
