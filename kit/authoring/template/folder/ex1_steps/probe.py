"""Exercise 99.1: call the answer and report what it returned."""

from collections.abc import Callable


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Call the answer for each pair of images and batch size."""
    return {"steps": [answer(*case) for case in question["cases"]]}
