"""Exercise 9.1: drives an answer, expects nothing."""

from collections.abc import Callable

import numpy as np

from helpers.lab_09.probing import by_copies
from helpers.lab_09.workers.threads import DeadlockError, SelfSendError, run_in_threads


@by_copies
def probe(copy: Callable, question: dict) -> dict:
    """Let threads be the workers, and note every message."""
    cases = [_all_reduce(copy, np.array(arrays, "float32")) for arrays in question["cases"]]
    changed = "`array`" if any(case.pop("changed") for case in cases) else ""
    return {"cases": cases, "changed": changed}


def _all_reduce(copy, arrays):
    given = list(arrays.copy())
    try:
        results, messages = run_in_threads([copy() for _ in given], given)
    except DeadlockError:
        return {"deadlock": True, "changed": False}
    except SelfSendError as error:
        return {"deadlock": False, "to_itself": error.worker, "changed": False}
    kept = zip(given, arrays, strict=True)
    return {
        "deadlock": False,
        "results": [_as_list(result) for result in results],
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


def _as_list(result):
    try:
        return None if result is None else np.asarray(result).tolist()
    except ValueError:  # lists of different lengths
        return None
