"""Exercise 9.1: the questions, and the verdict on what the probe saw."""

from collections import Counter

import numpy as np

from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, number_of, which
from helpers.lab_09.judging import cannot_travel

FLOAT32_BYTES = 4


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
    return {
        "cases": [
            [[rng.randint(-900, 900) / 8 for _ in range(n)] for _ in range(workers)]
            for workers, n in sizes
        ]
    }


def all_reduce_ways(arrays):
    """For each way of adding up, what every worker has at the end; the right one first."""
    arrays = np.array(arrays)
    workers = len(arrays)
    whole = np.repeat(arrays.sum(axis=0, keepdims=True), workers, axis=0)
    return {"right": whole, "nothing": arrays, "mean": whole / workers}


def draw_question(rng):
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


def judge(question, observation):
    """The sum at every worker; then who sent what to whom, and how much of it."""
    if verdict := cannot_travel(observation):
        return verdict
    return first_wrong(question["cases"], observation["cases"], _judge_all_reduce)


def _judge_all_reduce(arrays, seen):
    workers, values = len(arrays), len(arrays[0])
    where = f"{number_of(workers, 'worker')} with {number_of(values, 'value')} each"
    if seen["deadlock"]:
        return f"{where}: all of them wait, and nobody sends", "deadlock"
    if verdict := _wrong_sum(where, arrays, seen):
        # Narrow numbers make wrong sums: they are named first.
        return _wrong_bytes(where, seen["messages"], below=True) or verdict
    return _wrong_messages(where, workers, values, seen["messages"]) or _wrong_array(
        where, workers, seen
    )


def _wrong_sum(where, arrays, seen):
    ways, said = all_reduce_ways(arrays), seen["results"]
    same = near(1e-4, 1e-3)
    if same(said, ways["right"]):
        return None
    for rank, one in enumerate(said):
        if np.shape(one) != np.shape(arrays[0]):
            shape = np.shape(one)
            given = "no array" if one is None else f"an array of shape {shape}"
            return f"{where}: worker {rank} returned {given}", "shape"
    hint = which(said, ways, same)
    right = [same(one, ways["right"][0]) for one in said]
    reason = f"{where}: {sum(right)} of them ended with the sum of all arrays"
    if hint == "other" and same(np.sort(said, axis=1), np.sort(ways["right"], axis=1)):
        hint = "shape"
    if hint == "other" and (np.isclose(said, ways["right"]).sum(axis=0) == 1).all():
        due = 2 * (len(arrays) - 1) * len(arrays)
        hint = "gathers" if len(seen["messages"]) == due else "scattered"
    if hint == "other" and len(arrays[0]) % len(arrays):
        hint = "remainder"
    return reason, hint


def _wrong_messages(where, workers, values, messages):
    due, longest = 2 * (workers - 1), -(-values // workers)
    for sender, receiver, *_ in messages:
        if receiver != (sender + 1) % workers:
            everyone = all(m[2] == values for m in messages) and workers > 2
            hint = "start" if everyone and _each_to_all(workers, messages) else "ring"
            return f"{where}: worker {sender} sent to worker {receiver}", hint
    by_sender = Counter(sender for sender, *_ in messages)
    most = max((size for _, _, size, *_ in messages), default=0)
    if most > longest:
        hint = "whole" if most == values > workers else "even"
        return f"{where}: a message held {number_of(most, 'value')}", hint
    for rank in range(workers):
        if by_sender[rank] != due:
            sent = number_of(by_sender[rank], "message")
            return f"{where}: worker {rank} sent {sent}, not {due}", "messages"
    sent = sum(size for _, _, size, *_ in messages)
    if verdict := _wrong_bytes(where, messages):
        return verdict
    if sent < due * values:
        return f"{where}: {sent} values were sent, which cannot be enough", "form"
    return None


def _wrong_bytes(where, messages, below=False):
    """Values that are wider than float32, or narrower; `below`: only narrower ones."""
    for sender, _, size, bytes_, dtype in messages:
        each = bytes_ // max(size, 1)
        if size and (each < FLOAT32_BYTES if below else each != FLOAT32_BYTES):
            return f"{where}: worker {sender} sent values of {each} bytes", "bytes"
        if size and dtype != "float32" and not below:
            return f"{where}: worker {sender} sent values of the type {dtype}", "bytes"
    return None


def _each_to_all(workers, messages):
    pairs = {(sender, receiver) for sender, receiver, *_ in messages}
    return len(pairs) == len(messages) == workers * (workers - 1)


def _wrong_array(where, workers, seen):
    for rank, dtype in zip(range(workers), seen["dtypes"], strict=True):
        if dtype != "float32":
            return f"{where}: worker {rank} returned {dtype} values, not float32", "dtype"
    if not seen["new"]:
        return f"{where}: it returned the array itself that it was given", "new"
    return None
