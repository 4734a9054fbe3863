"""Exercise 3.4: drives an answer, expects nothing."""

from collections.abc import Callable


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Ask for the best batch size of some trainings; report each pair of numbers."""
    replies = []
    for case in question["cases"]:
        laws = [case[name] for name in ("floor", "bend", "t0_seconds", "peak")]
        devices = [case["devices"]] if "devices" in case else []
        replies.append([float(number) for number in answer(*laws, *devices)])
    return {"replies": replies}
