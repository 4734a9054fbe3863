"""Probes of lab 09: they drive an answer and report what it did. They expect nothing."""

import random

import numpy as np

from helpers.lab_09.threads import DeadlockError, run_in_threads


def ring_all_reduce(answer, question, wait):
    """Let threads be the workers, and note every message."""
    cases = [
        _all_reduce(answer, np.array(arrays, "float32")) for arrays in question["cases"]
    ]
    changed = "`array`" if any(case.pop("changed") for case in cases) else ""
    return {"cases": cases, "changed": changed}


def _all_reduce(answer, arrays):
    given = list(arrays.copy())
    try:
        results, messages = run_in_threads(answer, given)
    except DeadlockError:
        return {"deadlock": True, "changed": False}
    kept = zip(given, arrays, strict=True)
    return {
        "deadlock": False,
        "results": [None if r is None else np.asarray(r).tolist() for r in results],
        "dtypes": [str(getattr(result, "dtype", "none")) for result in results],
        "new": not any(
            np.shares_memory(result, array)
            for result, array in zip(results, given, strict=True)
            if isinstance(result, np.ndarray)
        ),
        "messages": [
            [m.sender, m.receiver, m.array.size, m.array.nbytes] for m in messages
        ],
        "changed": any(not np.array_equal(now, then) for now, then in kept),
    }


def worker_shard(answer, question, wait):
    """Call the answer in a drawn order, and then once more in the opposite order.

    In between the global random generators are moved on, as by a program that goes on.
    """
    calls, seen, untouched = question["calls"], [], True
    for turn in (calls, calls[::-1]):
        for call in turn:
            np.random.seed(len(seen))  # noqa: NPY002
            random.seed(len(seen))
            before = _global_random()
            read = np.asarray(answer(*call))
            untouched = untouched and _global_random() == before
            whole = read.dtype.kind in "iu" or not read.size
            seen.append(read.tolist() if whole and read.ndim == 1 else None)
    first, again = seen[: len(calls)], seen[len(calls) :][::-1]
    return {"first": first, "again": again, "untouched": untouched}


def _global_random():
    _, numbers, *rest = np.random.get_state()  # noqa: NPY002
    return numbers.tobytes(), *rest, random.getstate()


PROBES = {"9.1": ring_all_reduce, "9.2": worker_shard}
