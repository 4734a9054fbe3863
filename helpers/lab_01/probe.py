"""Probes of lab 01: gradient descent."""

from itertools import islice

import numpy as np


def gradient(answer, question, wait):
    """Call the answer with weights and points; say whether it changed them."""
    return {"cases": [_gradient(answer, case) for case in question["cases"]]}


def _gradient(answer, case):
    given = [np.array(case[name]) for name in ("weights", "x", "y")]
    before = [array.copy() for array in given]
    returned = answer(*given)
    stepped = before[0] - 0.1 * returned  # what the lab does with it
    return {
        "gradient": np.asarray(returned, float).tolist(),
        "shape": list(np.shape(stepped)),
        "changed": any(
            not np.array_equal(now, then) for now, then in zip(given, before, strict=True)
        ),
    }


def epoch_batches(answer, question, wait):
    """Let the answer draw two epochs in a row, and the first once more."""
    return {"cases": [_epochs(answer, case) for case in question["cases"]]}


def _epochs(answer, case):
    def draw(rng):
        drawn = answer(case["points"], case["batch_size"], rng)
        # Indexing, as the lab does it; `islice` ends an endless answer.
        batches = [places[batch] for batch in islice(drawn, 2 * case["points"] + 2)]
        return [[int(place) for place in batch] for batch in batches]

    places = np.arange(case["points"])
    rng = np.random.default_rng(case["seed"])
    epochs = [draw(rng), draw(rng)]
    return {"epochs": epochs, "again": draw(np.random.default_rng(case["seed"]))}


def which_batch_size(answer, question, wait):
    """Show the answer one curve after the other."""
    said = [
        answer(np.array(curve), question["example_variance"], list(question["sizes"]))
        for curve in question["curves"]
    ]
    return {"said": [float(size) for size in said]}


PROBES = {"1.1": gradient, "1.2": epoch_batches, "1.3": which_batch_size}
