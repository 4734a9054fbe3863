"""Exercise 1.3: drives an answer, expects nothing."""

from collections.abc import Callable

import numpy as np

from helpers.checks.probing.arguments import call


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Show the answer one curve after the other."""
    calls = [_ask(answer, question | {"curve": curve}) for curve in question["curves"]]
    later = [_ask(answer, one) for one in question["later"]]
    return {
        "said": [_plain(size) for size, _ in calls],
        "later": [_plain(size) for size, _ in later],
        "changed": next((changed for _, changed in [*calls, *later] if changed), ""),
    }


def _ask(answer, asked):
    return call(
        answer,
        losses=np.array(asked["curve"]),
        example_variance=asked["example_variance"],
        sizes=list(asked["sizes"]),
    )


def _plain(size):
    return size if isinstance(size, str) else float(size)
