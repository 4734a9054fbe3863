"""Exercise 11.3: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging.copies import cannot_travel
from helpers.checks.judging.messages import wrong_bytes, wrong_messages
from helpers.checks.judging.verdicts import draw_apart, near, which
from helpers.lab_11.ex3_sharded_step.optimizer import after_step
from helpers.verdict import Wrong, phrase, wrong

SAME = near(1e-5, 1e-5)
# Trainings 0, 1 and 2 have the same workers and as many weights, and they alternate.
ORDER = [0, 3, 4, 5, 1, 2, 0, 1, 3, 2, 1, 0, 4, 5]
FRESH = 4  # steps in which each worker is called for the first time


def _make_trainings(rng):
    """Lengths that divide, three times; one that does not; a short one; a single worker."""
    thrice, ragged, short = rng.sample([3, 4, 5], 3)
    whole = thrice * rng.randint(2, 3)
    sizes = [
        *[(thrice, whole)] * 3,
        (ragged, ragged * rng.randint(2, 3) + rng.randint(1, ragged - 2)),
        (short, rng.randint(1, short - 1)),
        (1, 3),
    ]
    rates = rng.sample([2.0, 2.5, 3.0, 3.5, 4.0, 4.5], 6)
    trainings = [
        {
            "workers": workers,
            "rate": rate,
            "weights": _weights(rng, values),
            "gradients": [_gradients(rng, workers, values) for _ in range(ORDER.count(at))],
        }
        for at, ((workers, values), rate) in enumerate(zip(sizes, rates, strict=True))
    ]
    # At first, 0 and 1 have the same weights, 0 and 2 the same gradients.
    trainings[1]["weights"] = trainings[0]["weights"]
    trainings[2]["gradients"][0] = trainings[0]["gradients"][0]
    return {"trainings": trainings, "order": ORDER}


def _weights(rng, values):
    """Numbers of float32 with all their digits: a difference of them is rounded."""
    return np.array([rng.uniform(-2, 2) for _ in range(values)], "float32").tolist()


def _gradients(rng, workers, values):
    """For each worker; every sum and every mean is exact in float32, but not in float16."""
    others = range(workers - 1)
    rows = [[rng.randint(-40_000, 40_000) / 4096 for _ in range(values)] for _ in others]
    means = [rng.choice([-1, 1]) * rng.randint(4, 24) / 8 for _ in range(values)]
    last = [workers * m - sum(row[i] for row in rows) for i, m in enumerate(means)]
    rows.insert(rng.randrange(workers), last)
    return rows


def _right_steps(training):
    """The weights before and after each step."""
    weights = np.array(training["weights"], "float32")
    momentum, found = np.zeros_like(weights), []
    for steps, gradients in enumerate(training["gradients"], 1):
        mean = np.mean(np.array(gradients, "float32"), axis=0, dtype="float32")
        new, momentum = after_step(weights, mean, momentum, steps, training["rate"])
        found.append((weights, new))
        weights = new
    return found


def step_ways(training: dict) -> dict:
    """What every worker has after the first step, by mistake; the right one first."""
    workers = training["workers"]
    gradients = np.array(training["gradients"][0], "float32")
    [(before, right), *_] = _right_steps(training)

    def by(gradient):
        return after_step(before, gradient, np.zeros_like(before), 1, training["rate"])[0]

    return {
        "right": [right] * workers,
        "nothing": [before] * workers,
        "sum": [by(gradients.sum(axis=0))] * workers,
        "own": [by(gradient) for gradient in gradients],
        "not_the_same": [before + (right - before)] * workers,
    }


def draw_question(rng: Random) -> dict:
    """Trainings in which every mistake gives other weights, if only in the last bit."""

    def ways(question):
        found = [step_ways(one) for one in question["trainings"] if one["workers"] > 1]
        return {
            name: [[row.tolist() for row in one[name]] for one in found]
            for name in found[0]
        }

    return draw_apart(rng, _make_trainings, ways, lambda one, other: one != other)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The state and the weights after every step; who sent what, and how much of it."""
    if verdict := cannot_travel(observation):
        return verdict
    trainings = question["trainings"]
    right = [_right_steps(training) for training in trainings]
    done = [0] * len(trainings)
    pairs = zip(question["order"], observation["steps"], strict=True)
    for at, (number, seen) in enumerate(pairs):
        step, done[number] = done[number], done[number] + 1
        asked = trainings[number], number, step, right[number][step]
        if said := _judge_step(*asked, seen):
            if at < FRESH or said.mistake in ("lost", "old", "mixed"):
                return said
            return wrong("kept", "kept", requirement="kept", what=said.seen)
    if not observation["results_stay"]:
        return wrong("kept", "overwritten", requirement="new")
    return None


def _judge_step(training, number, step, weights, seen):
    workers, values = training["workers"], len(training["weights"])
    where = phrase("where", workers=workers, values=values, step=step + 1)
    if seen["deadlock"]:
        return wrong("deadlock", "deadlock", where=where)
    if "to_itself" in seen:
        mistake = "alone" if workers == 1 else "ring"
        return wrong(mistake, "to_itself", where=where, worker=seen["to_itself"])
    if len(seen["workers"]) != workers:
        return wrong("form", "not_any_answer")
    for rank, one in enumerate(seen["workers"]):
        if not one["pair"]:
            return wrong("pair", "no_pair", where=where, worker=rank)
    return (
        _wrong_update(where, values, workers, seen)
        or _wrong_state(where, number, step, seen["workers"])
        or _wrong_weights(where, training, step, weights, seen)
        or wrong_messages(where, workers, values, seen["messages"])
        or _wrong_array(where, seen["workers"])
    )


def _wrong_update(where, values, workers, seen):
    """How often `update` was called, with how many values, and of which type."""
    longest = -(-values // workers)
    all_calls = [one["updates"] for one in seen["workers"]]
    for rank, calls in enumerate(all_calls):
        if len(calls) != 1:
            count = len(calls)
            return wrong("once", "updates", where=where, worker=rank, count=count)
    for rank, [call] in enumerate(all_calls):
        if call["values"] > longest:
            size = call["values"]
            everywhere = all(one["values"] == values for [one] in all_calls)
            mistake = "start" if everywhere else "part"
            return wrong(mistake, "long_part", where=where, worker=rank, values=size)
    for rank, [call] in enumerate(all_calls):
        if (dtype := call["dtype"]) != "float32":
            return wrong("floats", "update_type", where=where, worker=rank, dtype=dtype)
    return None


def _wrong_state(where, number, step, workers):
    for rank, one in enumerate(workers):
        made = one["updates"][0]["state"]
        due = [number, step - 1, rank] if step else None
        if made == due:
            continue
        if made is None:
            return wrong("lost", "lost", where=where, worker=rank)
        if made[0] != number or made[2] != rank:
            return wrong("mixed", "mixed", where=where, worker=rank)
        return wrong("old", "old", where=where, worker=rank, step=made[1] + 1)
    return None


def _wrong_weights(where, training, step, weights, seen):
    workers, (before, right) = seen["workers"], weights
    for rank, one in enumerate(workers):
        if one["shape"] != [len(before)] or one["values"] is None:
            shape = "none" if one["shape"] is None else tuple(one["shape"])
            return wrong("shape", "shape", where=where, worker=rank, shape=shape)
    said = [one["values"] for one in workers]
    if not SAME(said, [right] * len(workers)):
        count = sum(SAME(one, right) for one in said)
        mistake = _mistake_in_weights(training, step, before, right, np.array(said))
        if mistake == "other" and (verdict := wrong_bytes(where, seen["messages"], True)):
            return verdict
        return wrong(mistake, "weights", where=where, right=count)
    first = said[0]
    for rank, one in enumerate(said):
        if one != first:
            return wrong("not_the_same", "bits", where=where, worker=rank)
    return None


def _mistake_in_weights(training, step, before, right, said):
    if step == 0:
        ways = step_ways(training)
        name = which(said, ways, SAME, "")
        if name:
            return name
        if np.any([np.isclose(said, one, 1e-5, 1e-5) for one in ways["own"]], axis=0).all():
            return "own"  # each part by the gradient of some worker
    new, old = np.isclose(said, right, 1e-5, 1e-5), np.isclose(said, before, 1e-5, 1e-5)
    # Each worker has its own part of the new weights, and no other.
    if (new.sum(axis=0) <= 1).all() and (new | old).all():
        return "scattered"
    if SAME(np.sort(said, axis=1), np.sort([right] * len(said), axis=1)):
        return "order"
    return "remainder" if len(before) % len(said) else "other"


def _wrong_array(where, workers):
    for rank, one in enumerate(workers):
        if one["dtype"] != "float32":
            return wrong("dtype", "dtype", where=where, worker=rank, dtype=one["dtype"])
    return None
