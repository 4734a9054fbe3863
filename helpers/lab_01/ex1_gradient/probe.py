"""Exercise 1.1: drives an answer, expects nothing."""

from collections.abc import Callable

import numpy as np

from helpers.checks.probing.arguments import call

PLAIN = (list, tuple, str)  # Python cannot multiply them by a learning rate


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Call the answer with weights and points, and step as the lab does."""
    calls = [_step(answer, case) for case in question["cases"]]
    # Not the name of a student's own class, which may be of any length.
    kinds = (
        kind.__name__
        for returned, _ in calls
        for kind in PLAIN
        if isinstance(returned, kind)
    )
    if kind := next(kinds, ""):
        return {"gradients": [], "changed": "", "kind": kind}
    return {
        "kind": "",
        # Read after all calls, because the lab also keeps gradients while it computes more.
        "gradients": [
            None if returned is None else np.asarray(returned, float).tolist()
            for returned, _ in calls
        ],
        "changed": next((changed for _, changed in calls if changed), ""),
    }


def _step(answer, case):
    given = {name: np.array(case[name]) for name in ("weights", "x", "y")}
    try:
        returned, changed = call(answer, **given)
    except Exception:
        if all(array.dtype.kind == "f" for array in given.values()):
            raise
        return None, ""  # TensorFlow, for one, differentiates by no whole numbers
    if not isinstance(returned, PLAIN):
        _ = np.array(case["weights"]) - 0.1 * returned
    return returned, changed
