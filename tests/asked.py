"""Which recorded answers `make test` asks about, and which `make test-all` alone.

`labs mutants` asks about all of them whenever a check or a recorded answer has changed, and
`test_mutants.py` fails where that was not done.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import pytest

MOST_RIGHT = 3  # of an exercise
# A right answer to these takes seconds, so `make test` asks about the reference once and
# about one other answer. It also leaves the grading of the first five to the weekly run.
TRAINED_ONCE = ("4.3", "5.3", "6.2", "7.1", "12.2")
ONE_RIGHT = (*TRAINED_ONCE, "4.1", "6.3")


def only(asked: Collection, values: Iterable) -> list:
    """Parameters for a test, of which `make test` asks some."""
    weekly = pytest.mark.weekly
    return [pytest.param(one, marks=() if one in asked else weekly) for one in values]


def asked_again(exercises: Sequence[str]) -> list:
    """Parameters for a test that asks a right answer, or one much like it, once more."""
    return [
        pytest.param(n, marks=pytest.mark.weekly if n in ONE_RIGHT else ())
        for n in exercises
    ]


def wrong_answers(recorded: Sequence[tuple]) -> Iterator[tuple[tuple, Any]]:
    """Each of `WRONG`, with the marks of its test.

    The first for each requirement is asked about in `make test`.
    """
    requirements = set()
    for one in recorded:
        yield one, pytest.mark.weekly if one[0] in requirements else ()
        requirements.add(one[0])


def most_right(exercise: str) -> int:
    """How many right answers to an exercise `make test` asks about."""
    return 1 if exercise in ONE_RIGHT else MOST_RIGHT


def right_answers(recorded: Sequence, most: int = MOST_RIGHT) -> Iterator[tuple[Any, Any]]:
    """Each of `RIGHT`, with the marks of its test."""
    for place, one in enumerate(recorded):
        yield one, pytest.mark.weekly if place >= most else ()


def wrong_places(recorded: Sequence[tuple]) -> list:
    """Parameters for a test: the place of each in `WRONG`, called as its mistake."""
    asked = enumerate(wrong_answers(recorded))
    return [pytest.param(n, id=one[1], marks=marks) for n, (one, marks) in asked]


def right_places(recorded: Sequence) -> list:
    """Parameters for a test: the place of each in `RIGHT`."""
    asked = enumerate(right_answers(recorded))
    return [pytest.param(n, marks=marks) for n, (_, marks) in asked]
