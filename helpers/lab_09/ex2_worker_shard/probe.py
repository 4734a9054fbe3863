"""Exercise 9.2: drives an answer, expects nothing."""

import builtins
import contextlib
import random
from collections.abc import Callable, Generator

import numpy as np

from helpers.checks.probing.copies import by_copies


@by_copies
def probe(copy: Callable, question: dict, wait: Callable) -> dict:
    """Call the answer in a drawn order, in the opposite order, and in another process.

    In between the global random generators are advanced, as by a program that continues.
    """
    calls, seen, untouched = question["calls"], [], True

    def ask(answer, call):
        nonlocal untouched
        np.random.seed(len(seen))  # noqa: NPY002
        random.seed(len(seen))
        before = _global_random()
        read = np.asarray(answer(*call))
        untouched = untouched and _global_random() == before
        whole = read.dtype.kind in "iu" or not read.size
        seen.append(read.tolist() if whole and read.ndim == 1 else None)

    answer = copy()
    for call in [*calls, *reversed(calls)]:
        ask(answer, call)
    answer = copy()
    with other_hashes():
        # In another order, as after a restart: orders are not handed out in turn.
        for call in reversed(calls):
            ask(answer, call)
    n = len(calls)
    first, again, elsewhere = seen[:n], seen[n : 2 * n][::-1], seen[2 * n :][::-1]
    shard = np.asarray(answer(*question["many"]))
    many = [shard.size, len(np.unique(shard)), int(shard.min()), int(shard.max())]
    return {
        "first": first, "again": again, "elsewhere": elsewhere, "untouched": untouched,
        "many": many,
    }  # fmt: skip


@contextlib.contextmanager
def other_hashes() -> Generator[None]:
    """Give texts, and what holds them, other hashes: each process has its own."""
    here = builtins.hash

    def elsewhere(thing):
        return here((thing, "elsewhere")) if _has_text(thing) else here(thing)

    builtins.hash = elsewhere
    try:
        yield
    finally:
        builtins.hash = here


def _has_text(thing):
    if isinstance(thing, tuple | frozenset):
        return any(map(_has_text, thing))
    return isinstance(thing, str | bytes)


def _global_random():
    _, numbers, *rest = np.random.get_state()  # noqa: NPY002
    return numbers.tobytes(), *rest, random.getstate()
