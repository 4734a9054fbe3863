"""Exercise 2.2: drives an answer, expects nothing."""

import builtins
from collections import UserDict
from collections.abc import Callable

from helpers.checks.probing.arguments import call


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Let the answer sweep in each case; report in order what it did."""
    seen = [_sweep(answer, case) for case in question["cases"]]
    return {
        "cases": [events for events, _ in seen],
        "changed": next((changed for _, changed in seen if changed), ""),
    }


def _sweep(answer, case):
    events, raised = [], []

    def measure(batch_size):
        events.append(["measure", batch_size])
        if name := case["errors"].get(str(batch_size)):
            # An error with another cause may speak of memory, too.
            about = "memory " * (name == "RuntimeError")
            raised.append(getattr(builtins, name)(f"{about}batch size {batch_size}"))
            raise raised[-1]
        return case["images_per_second"][str(batch_size)]

    class Points(UserDict):
        def __setitem__(self, key, item):
            events.append(["store", key, item])
            super().__setitem__(key, item)

        def __delitem__(self, key):
            events.append(["delete", key])
            super().__delitem__(key)

    points = Points()
    points.data.update({int(size): value for size, value in case["done"].items()})
    changed = ""
    try:
        _, changed = call(
            lambda batch_sizes: answer(batch_sizes, measure, points),
            batch_sizes=list(case["batch_sizes"]),
        )
    except BaseException as error:  # also the stop button's
        if error not in raised:  # the answer's own
            raise
        events.append(["raise", type(error).__name__])
    return events, changed
