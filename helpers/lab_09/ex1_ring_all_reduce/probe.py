"""Exercise 9.1: drives an answer, expects nothing."""

from collections.abc import Callable

import numpy as np

from helpers.checks.probing.copies import by_copies
from helpers.workers.threads import DeadlockError, SelfSendError, run_in_threads


@by_copies
def probe(copy: Callable, question: dict, wait: Callable) -> dict:
    """Let threads be the workers, and note every message."""
    copies, cases, kept = {}, [], []
    for arrays in question["cases"]:
        # Where as many workers are asked again, they are the same ones.
        workers = copies.setdefault(len(arrays), [copy() for _ in arrays])
        cases.append(_all_reduce(workers, np.array(arrays, "float32"), kept))
    changed = "`array`" if any(case.pop("changed") for case in cases) else ""
    stay = all(np.array_equal(now, then) for now, then in kept)
    return {"cases": cases, "changed": changed, "results_stay": stay}


def _all_reduce(workers, arrays, results_so_far):
    given = list(arrays.copy())
    try:
        results, messages = run_in_threads(workers, given)
    except DeadlockError:
        return {"deadlock": True, "changed": False}
    except SelfSendError as error:
        return {"deadlock": False, "to_itself": error.worker, "changed": False}
    kept = zip(given, arrays, strict=True)
    results_so_far += [(one, one.copy()) for one in results if isinstance(one, np.ndarray)]
    return {
        "deadlock": False,
        "results": [as_list(result) for result in results],
        "dtypes": [str(getattr(result, "dtype", "none")) for result in results],
        "new": not any(
            np.shares_memory(result, array)
            for result, array in zip(results, given, strict=True)
            if isinstance(result, np.ndarray)
        ),
        "messages": [
            [m.sender, m.receiver, m.array.size, m.array.nbytes, m.array.dtype.name]
            for m in messages
        ],
        "changed": any(not np.array_equal(now, then) for now, then in kept),
    }


def as_list(result: object) -> list | None:
    """A worker's return value as plain data, or None if it is not an array."""
    try:
        return None if result is None else np.asarray(result).tolist()
    except ValueError:  # lists of different lengths
        return None
