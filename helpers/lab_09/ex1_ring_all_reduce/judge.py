"""Exercise 9.1: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging.copies import cannot_travel
from helpers.checks.judging.messages import outside_of_ring, wrong_bytes, wrong_messages
from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, which
from helpers.verdict import Wrong, phrase, wrong

FRESH = 4  # cases in which each worker is called for the first time


def _make_arrays(rng):
    """An array for each worker: one that divides, one that does not, a short one, one."""
    lengths = []
    for workers in rng.sample([3, 4, 5], 3):
        whole = workers * rng.randint(2, 3)
        lengths.append((workers, whole))
    (_, divides), (workers, whole), (many, _) = lengths
    sizes = [
        (lengths[0][0], divides),
        (workers, whole + rng.randint(2, workers - 1)),
        (many, rng.randint(1, many - 1)),
        (1, 3),
    ]
    # The same workers again: as long as before, and longer.
    sizes += [sizes[1], (workers, 3 * workers + 1)]
    return {
        "cases": [
            [[rng.randint(-900, 900) / 8 for _ in range(n)] for _ in range(workers)]
            for workers, n in sizes
        ]
    }


def all_reduce_ways(arrays: list) -> dict:
    """For each way of adding up, what every worker has at the end; the right one first."""
    arrays = np.array(arrays)
    workers = len(arrays)
    whole = np.repeat(arrays.sum(axis=0, keepdims=True), workers, axis=0)
    return {"right": whole, "nothing": arrays, "mean": whole / workers}


def draw_question(rng: Random) -> dict:
    """Arrays of which no worker has the sum, or the mean, by itself."""
    return draw_apart(
        rng,
        _make_arrays,
        lambda question: dict(enumerate(_flat_sums(question))),
        lambda one, other: one != other,
    )


def _flat_sums(question):
    for arrays in question["cases"]:
        if len(arrays) > 1:
            yield np.sum(arrays, axis=0).tolist()
            yield from arrays


def judge(question: dict, observation: dict) -> Wrong | None:
    """The sum at every worker; then who sent what to whom, and how much of it."""
    if verdict := cannot_travel(observation):
        return verdict
    cases, seen = question["cases"], observation["cases"]
    if said := first_wrong(cases[:FRESH], seen[:FRESH], _judge_all_reduce):
        return said
    if said := first_wrong(cases[FRESH:], seen[FRESH:], _judge_all_reduce):
        return wrong("kept", "kept", requirement="sum", what=said.seen)
    if not observation["results_stay"]:
        return wrong("kept", "overwritten", requirement="new")
    return None


def _judge_all_reduce(arrays, seen):
    workers, values = len(arrays), len(arrays[0])
    where = phrase("where", workers=workers, values=values)
    if seen["deadlock"]:
        return wrong("deadlock", "deadlock", where=where)
    if "to_itself" in seen:
        mistake = "alone" if workers == 1 else "ring"
        return wrong(mistake, "to_itself", where=where, worker=seen["to_itself"])
    if verdict := _wrong_sum(where, arrays, seen):
        # Narrow numbers make wrong sums: they are named first.
        return wrong_bytes(where, seen["messages"], below=True) or verdict
    return _wrong_messages(where, workers, values, seen["messages"]) or _wrong_array(
        where, workers, seen
    )


def _wrong_sum(where, arrays, seen):
    ways, said = all_reduce_ways(arrays), seen["results"]
    same = near(1e-4, 1e-3)
    if same(said, ways["right"]):
        return None
    for rank, one in enumerate(said):
        if one is None:
            return wrong("shape", "no_array", where=where, worker=rank)
        if np.shape(one) != np.shape(arrays[0]):
            return wrong("shape", "shape", where=where, worker=rank, shape=np.shape(one))
    right = sum(same(one, ways["right"][0]) for one in said)
    mistake = which(said, ways, same, "")
    mistake = mistake or _unusual_sum(arrays, np.array(said), ways["right"], seen)
    return wrong(mistake, "sum", where=where, right=right)


def _unusual_sum(arrays, said, right, seen):
    workers = len(arrays)
    if near(1e-4, 1e-3)(np.sort(said, axis=1), np.sort(right, axis=1)):
        return "shape"
    if (np.isclose(said, right).sum(axis=0) == 1).all():  # each has one chunk of the sum
        all_sent = len(seen["messages"]) == 2 * (workers - 1) * workers
        return "gathers" if all_sent else "scattered"
    return "remainder" if len(arrays[0]) % workers else "other"


def _wrong_messages(where, workers, values, messages):
    found = outside_of_ring(workers, messages)
    everyone = all(m[2] == values for m in messages) and workers > 2
    if found and everyone and _each_to_all(workers, messages):
        sender, receiver = found
        return wrong("start", "sent_to", where=where, sender=sender, receiver=receiver)
    return wrong_messages(where, workers, values, messages)


def _each_to_all(workers, messages):
    pairs = {(sender, receiver) for sender, receiver, *_ in messages}
    return len(pairs) == len(messages) == workers * (workers - 1)


def _wrong_array(where, workers, seen):
    for rank, dtype in zip(range(workers), seen["dtypes"], strict=True):
        if dtype != "float32":
            return wrong("dtype", "dtype", where=where, worker=rank, dtype=dtype)
    return None if seen["new"] else wrong("new", "not_new", where=where)
