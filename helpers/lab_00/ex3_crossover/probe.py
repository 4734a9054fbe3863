"""Exercise 0.3: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.arguments import call


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Report the size that the answer gives for each case."""
    found, changed = [], ""
    for sizes, slow_seconds, fast_seconds in question["cases"]:
        size, changed = call(
            answer, sizes=sizes, slow_seconds=slow_seconds, fast_seconds=fast_seconds
        )
        found.append(size.item() if hasattr(size, "item") else size)
        if changed:
            break
    return {"sizes": found, "changed": changed}
