"""Exercise 11.2: drives an answer, expects nothing."""

from collections.abc import Callable
from itertools import islice

import numpy as np

from helpers.checks.probing.arguments import call

MOST, LARGEST = 100, 10**6


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """What the answer returns for each chain of layers, and whether it changes later."""
    returned, said, changed = [], [], ""
    asked = [[list(sizes), budget] for sizes, budget in question["cases"]]
    for activation_bytes, budget in question["cases"]:
        one, names = call(answer, activation_bytes=activation_bytes, budget=budget)
        returned.append(one)
        said.append(plain(one))
        changed = changed or names
    # Read again after all calls: a list that several calls share has changed by then.
    later = [plain(one) for one in returned]
    for one in returned:
        if isinstance(one, list):
            one.clear()  # as its owner may
    again = []
    for place in question["again"]:
        activation_bytes, budget = asked[place]
        one, names = call(answer, activation_bytes=activation_bytes, budget=budget)
        again.append(plain(one))
        changed = changed or names
    return {"said": said, "later": later, "again": again, "changed": changed}


def plain(returned: object) -> list[int] | str | None:
    """None, a list of whole numbers, or a word for anything else."""
    if returned is None:
        return None
    if isinstance(returned, np.ndarray):
        if returned.ndim != 1:
            return "other"
        returned = returned[: MOST + 1].tolist()
    if not isinstance(returned, list | tuple | range):
        return "other"
    entries = list(islice(returned, MOST + 1))
    if len(entries) > MOST:
        return "long"
    if any(isinstance(entry, bool | np.bool_) for entry in entries):
        return "truth"
    if any(isinstance(entry, float | np.floating) for entry in entries):
        return "fraction"
    if not all(isinstance(entry, int | np.integer) for entry in entries):
        return "entries"
    numbers = [int(entry) for entry in entries]
    return numbers if all(abs(n) <= LARGEST for n in numbers) else "large"
