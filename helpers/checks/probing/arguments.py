"""Call an answer, and see whether it changed what it was given."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np


def call(answer: Callable, **arguments: object) -> tuple[Any, str]:
    """Call an answer with these arguments, by position and in this order.

    Parameters
    ----------
    answer : callable
    arguments : object
        Plain data or NumPy arrays. The answer gets them themselves.

    Returns
    -------
    tuple
        What it returned, and the names of the arguments that it changed, as text:
        `changed` in an observation, empty if it changed none.
    """
    before = copy.deepcopy(arguments)
    returned = answer(*arguments.values())
    names = [name for name in arguments if not _equal(arguments[name], before[name])]
    return returned, ", ".join(f"`{name}`" for name in names)


def _equal(now, then):
    if isinstance(then, np.ndarray):
        return type(now) is type(then) and np.array_equal(now, then, equal_nan=True)
    return type(now) is type(then) and now == then
