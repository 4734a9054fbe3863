"""Exercise 10.1: drives an answer, expects nothing."""

from collections.abc import Callable

from helpers.checks.probing.arguments import call

NAMES = "gradient_bytes", "ready_at", "latency", "bandwidth", "bucket_bytes"


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """The end of the last all-reduce that the answer gives for each step."""
    said, changed = [], ""
    for case in question["cases"]:
        end, names = call(answer, **dict(zip(NAMES, case, strict=True)))
        said.append([float(end)])
        changed = changed or names
    return {"said": said, "changed": changed}
