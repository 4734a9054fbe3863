"""Probes of lab 01: gradient descent."""

from itertools import islice

import numpy as np

from helpers.checks.probing.arguments import call


def gradient(answer, question, wait):
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


def epoch_batches(answer, question, wait):
    """Let the answer draw epochs in a row, and the first once more."""
    return {"cases": [_epochs(answer, case) for case in question["cases"]]}


def _epochs(answer, case):
    def draw(rng):
        # `islice` ends an endless answer.
        return list(islice(answer(case["points"], case["batch_size"], rng), most))

    most, places = 2 * case["points"] + 2, np.arange(case["points"])
    rng = np.random.default_rng(case["seed"])
    epochs = [draw(rng) for _ in range(case["epochs"])]
    epochs.append(draw(np.random.default_rng(case["seed"])))
    for batch in (batch for batches in epochs for batch in batches):
        _ = places[batch]  # as the lab uses it
    # Read after all calls, as the lab does.
    *epochs, again = [
        [np.asarray(batch).tolist() for batch in batches] for batches in epochs
    ]
    return {"epochs": epochs, "again": again}


def which_batch_size(answer, question, wait):
    """Show the answer one curve after the other."""
    calls = [
        call(
            answer,
            losses=np.array(curve),
            example_variance=question["example_variance"],
            sizes=list(question["sizes"]),
        )
        for curve in question["curves"]
    ]
    return {
        "said": [size if isinstance(size, str) else float(size) for size, _ in calls],
        "changed": next((changed for _, changed in calls if changed), ""),
    }


PROBES = {"1.1": gradient, "1.2": epoch_batches, "1.3": which_batch_size}
