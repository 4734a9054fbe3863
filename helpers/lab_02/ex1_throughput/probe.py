"""Exercise 2.1: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.training import BATCH_SIZE, train


def probe(answer: type, question: dict, wait: Callable) -> dict:
    """Train with the answer's callback, with validation and without."""
    images = question["images_per_sample"] * BATCH_SIZE
    total_images = images * len(question["epochs"][0]["batch_seconds"])
    callback = answer(total_images)
    # A second callback, for another training: a number in the class is now the second's.
    answer(question["other_images"] * total_images)
    return train(
        callback, question["epochs"], wait, [1, *question["fits"]],
        interrupted_in_validation=True,
    )  # fmt: skip
