"""Exercise 6.4: drives an answer, expects nothing."""

from collections.abc import Callable

import numpy as np

from helpers.checks.probing.scripts import hunt
from helpers.lab_06.ex4_find_the_bug import script


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """The line, its repair and the cost in each case; the repaired script's results."""

    def run(repaired, i):
        data = question["data"][i]
        weights, x, y = (np.array(data[name]) for name in ("weights", "x", "y"))
        steps, accumulate = question["cases"][i]
        weights, rates = repaired(
            weights, x, y, data["replicas"], accumulate, steps, data["peak_rate"]
        )
        return {"weights": weights.tolist(), "rates": [float(rate) for rate in rates]}

    return hunt(answer, question["cases"], script.train, run)
