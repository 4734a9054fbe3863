"""Exercise 12.1: drives an answer, expects nothing."""

from collections.abc import Callable
from numbers import Real

from helpers.checks.probing.arguments import call

FIGURES = ("factor", "low", "high")


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Report the rows that the answer gives for each case, as lists of values."""
    returned, changed = [], ""
    for case in question["cases"]:
        full = _times(case["full"])
        without = {name: _times(runs) for name, runs in case["without"]}
        worth, what = call(answer, full=full, without=without, alpha=case["alpha"])
        changed = changed or what
        returned.append(worth)
    # Read after the last call: results that are one object are alike by then.
    rows = [
        [[str(name), *_values(row)] for name, row in worth.items()] for worth in returned
    ]
    return {"rows": rows, "changed": changed}


def _times(runs):
    """JSON has only text keys, but seeds are numbers."""
    return dict(map(tuple, runs))


def _values(row):
    figures = [None if row[name] is None else float(row[name]) for name in FIGURES]
    place = row["place"]
    is_number = isinstance(place, Real) and not isinstance(place, bool)
    return [*figures, str(row["verdict"]), float(place) if is_number else repr(place)]
