"""Exercise 3.1: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.training import train


def probe(answer: type, question: dict, wait: Callable) -> dict:
    """Train with a new callback from the answer in each case; it may stop the training."""
    return {"cases": [_train(answer, case) for case in question["cases"]]}


def _train(answer, case):
    callbacks = [answer(target=case["target"], patience=case["patience"])]
    if "other_target" in case:
        callbacks.append(answer(target=case["other_target"], patience=case["patience"]))
    return train(
        callbacks,
        [{"batch_seconds": [0], "metrics": metrics} for metrics in case["metrics"]],
        lambda seconds: None,  # nothing here depends on time
        case["fits"],
        case.get("interrupted_after"),
        case.get("initial_epochs", ()),
    )
