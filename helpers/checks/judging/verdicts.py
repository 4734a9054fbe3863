"""Words for judges: what each way of answering gives, and which one was seen.

Most judges do the same: work out what is right and what each usual mistake would
give, draw a question in which all of these differ, and name the one that was seen.
"""

import math
from collections.abc import Callable
from itertools import combinations
from random import Random

import numpy as np

from helpers.verdict import Wrong

DRAWS = 10_000


def draw_apart(rng: Random, make: Callable, ways: Callable, apart: Callable) -> dict:
    """Draw a question in which all ways of answering give different answers.

    Parameters
    ----------
    rng : random.Random
    make : callable
        ``make(rng) -> question``.
    ways : callable
        ``ways(question) -> dict``: by name, what each way of answering gives.
    apart : callable
        ``apart(one, other) -> bool``: whether a judge can distinguish them.

    Returns
    -------
    dict

    Raises
    ------
    RuntimeError
        If 10,000 questions were drawn in vain: then no question tells the ways apart.
    """
    for _ in range(DRAWS):
        question = make(rng)
        if all(apart(a, b) for a, b in combinations(ways(question).values(), 2)):
            return question
    raise RuntimeError(f"{make}: no question in which all mistakes differ")


def which(said: object, ways: dict, same: Callable, other: str = "other") -> str:
    """The name of the first way of answering that gives what was said.

    Parameters
    ----------
    said : object
    ways : dict
        By name, what each way gives, or a function without arguments that works it
        out. The right one comes first: a mistake that gives the same is none.
    same : callable
        ``same(said, value) -> bool``.
    other : str
        Returned if none fits.
    """
    for name, value in ways.items():
        if same(said, value() if callable(value) else value):
            return name
    return other


def near(
    relative: float = 0.0001, absolute: float = 0.0
) -> Callable[[object, object], bool]:
    """A comparison of numbers, or of lists or arrays of the same shape.

    Parameters
    ----------
    relative, absolute : float
        What may differ, as for `numpy.allclose`.

    Returns
    -------
    callable
        ``same(said, right) -> bool``; False, too, where the shapes differ.
    """

    def same(said, right):
        try:
            said, right = np.asarray(said), np.asarray(right)
        except ValueError:  # rows of different lengths
            return False
        numbers = said.dtype.kind in "biuf" and said.shape == right.shape
        return numbers and np.allclose(said, right, rtol=relative, atol=absolute)

    return same


def all_near(
    relative: float = 0.0001, absolute: float = 0.0
) -> Callable[[list, list], bool]:
    """As `near`, for a list of arrays of different shapes, such as a network's weights."""
    same = near(relative, absolute)
    return lambda said, right: len(said) == len(right) and all(map(same, said, right))


def between(said: float, low: float, high: float, rounding: float = 0.0) -> bool:
    """Whether a number lies between two others, up to its own rounding.

    What a clock shows lies between the time from inside and the time from outside,
    however busy the machine is: so these two are the bounds.
    """
    return math.isfinite(said) and low - rounding <= said <= high + rounding


def first_wrong(cases: list, seen: list, judge: Callable) -> Wrong | None:
    """The verdict on the first case that is wrong.

    Parameters
    ----------
    cases, seen : list
        What was asked, and what was seen: equally long.
    judge : callable
        ``judge(case, seen) -> None or Wrong``.
    """
    for case, one in zip(cases, seen, strict=True):
        if verdict := judge(case, one):
            return verdict
    return None
