"""Exercise 2.1: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.training import BATCH_SIZE, train


def probe(answer: type, question: dict, wait: Callable) -> dict:
    """Train with the answer's callback, with validation and without."""
    images = question["images_per_sample"] * BATCH_SIZE
    total_images = images * len(question["epochs"][0]["batch_seconds"])
    return train(answer(total_images), question["epochs"], wait, question["fits"])
