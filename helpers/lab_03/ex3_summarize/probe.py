"""Exercise 3.3: drives an answer, expects nothing."""

from collections.abc import Callable
from numbers import Integral

from helpers.checks.probing.arguments import call

ROW = ("reached", "runs", "median_seconds", "fastest_seconds", "slowest_seconds")


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Report the answer's summary of some finished runs: a list of keys and rows."""
    asked = [question, *question["later"]]
    calls = [call(answer, runs=one["runs"], target=one["target"]) for one in asked]
    rows, *later = [_rows(summary) for summary, _ in calls]
    changed = next((changed for _, changed in calls if changed), "")
    return {"rows": rows, "later": later, "changed": changed}


def _rows(summary):
    return [
        [
            int(key) if isinstance(key, Integral) else repr(key),
            [None if row[name] is None else float(row[name]) for name in ROW],
        ]
        for key, row in summary.items()
    ]
