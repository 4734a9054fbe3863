"""Exercise 1.1: drives an answer, expects nothing."""

from collections.abc import Callable

import numpy as np

from helpers.checks.probing.arguments import call


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Call the answer with weights and points, and step as the lab does."""
    calls = [
        call(answer, **{name: np.array(case[name]) for name in ("weights", "x", "y")})
        for case in question["cases"]
    ]
    for (returned, _), case in zip(calls, question["cases"], strict=True):
        _ = np.array(case["weights"]) - 0.1 * returned
    return {
        # Read after all calls: the lab also keeps gradients while it asks for others.
        "gradients": [np.asarray(returned, float).tolist() for returned, _ in calls],
        "changed": next((changed for _, changed in calls if changed), ""),
    }
