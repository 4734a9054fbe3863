"""Exercise 99.1: drives an answer, expects nothing."""

from collections.abc import Callable


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Call the answer for each pair of images and batch size."""
    return {"steps": [answer(*case) for case in question["cases"]]}
