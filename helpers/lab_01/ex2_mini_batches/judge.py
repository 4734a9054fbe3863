"""Exercise 1.2: the questions, and the verdict on what the probe saw."""

import functools
import math
from collections import Counter
from itertools import permutations
from random import Random

import numpy as np

from helpers.checks.judging.verdicts import first_wrong
from helpers.verdict import Wrong, wrong

EPOCHS = 400  # of the case in which points and pairs are counted
LIMIT = 6  # standard deviations, which a right answer exceeds once in millions
IN_ORDER = 6  # of EPOCHS; by chance at most 0.13, and more than 6 once in 10**10
AGAIN = 40  # of EPOCHS that come again; by chance 7, and more than 40 once in 10**17
THREES = 300  # epochs of three points one by one, whose orders are counted
UNEVEN = 60  # chi-squared with 5 degrees of freedom: by chance once in 10**11
LONG, LONG_SIZE, LONG_EPOCHS = 1000, 40, 30  # the case that is searched for patterns
PATTERN = 7  # standard deviations: by chance once in 10**10, with 21 patterns
STEPS = 20  # pairs in a batch at one distance; by chance 1.6, and so many once in 10**15


def draw_question(rng: Random) -> dict:
    """Sizes that divide evenly and sizes that do not, single points, one batch for all."""
    size = rng.randint(5, 9)
    even, points = size * rng.randint(5, 8), rng.randint(5, 9)
    cases = [
        (even + rng.randint(1, size - 2), size, 2),
        (even, size, 2),
        (rng.randint(30, 40), 1, 2),
        (points, rng.randint(10, 20), 2),
        (points, points, 2),
        (11, rng.randint(3, 4), EPOCHS),
        (3, 1, THREES),
        (LONG, LONG_SIZE, LONG_EPOCHS),
    ]
    return {
        "cases": [
            {"points": n, "batch_size": b, "epochs": k, "seed": rng.randrange(2**32)}
            for n, b, k in cases
        ]
    }


def judge(question: dict, observation: dict) -> Wrong | None:
    """Each epoch must cover all points, in full batches, in a new random order."""
    cases, seen = question["cases"], observation["cases"]
    at_start = [[[list(range(case["points"]))]] * (case["epochs"] + 1) for case in cases]
    if [[*one["epochs"], one["again"]] for one in seen] == at_start:
        return wrong("start", "single_batch")
    return first_wrong(cases, seen, _judge_case)


def _judge_case(case, seen):
    epochs = [*seen["epochs"], seen["again"]]
    said = first_wrong([case] * (case["epochs"] + 1), epochs, _wrong_epoch)
    said = said or _wrong_order(case, seen["epochs"], seen["again"])
    return said and wrong(
        said.mistake, "case", requirement=said.requirement,
        points=case["points"], batch_size=case["batch_size"], what=said.seen,
    )  # fmt: skip


def _wrong_epoch(case, batches):
    points, size = case["points"], case["batch_size"]
    for batch in batches:
        if not isinstance(batch, list):
            return wrong("index", "no_batch", requirement="index", value=batch)
    drawn = _points(batches)
    for place in drawn:
        if type(place) is not int:
            return wrong("index", "no_index", requirement="index", value=place)
        if not 0 <= place < points:
            return wrong("index", "no_index", requirement="once", value=place)
    if not all(batches):
        return wrong("empty", "empty")
    if len(set(drawn)) < len(drawn):
        place, times = Counter(drawn).most_common(1)[0]
        return wrong("repeated", "repeated", point=place, times=times)
    if len(drawn) < points:
        return wrong("remainder", "left_out", points=points - len(drawn))
    in_order = drawn == sorted(drawn)
    sizes, right = [len(batch) for batch in batches], _sizes(points, size)
    # So many batches of neighbours cannot be chance.
    several = len(right) > 4 and size > 1 and sorted(sizes) == sorted(right)
    if several and not in_order and all(map(_neighbours, batches)):
        return wrong("members", "neighbours", batch=batches[0])
    if sizes != right:
        return wrong("sizes", "sizes", sizes=_few(sizes), due=_few(right))
    return None


def _wrong_order(case, epochs, again):
    points, size = case["points"], case["batch_size"]
    if size >= points:
        return None  # all points in one batch: their order does not matter
    if all(_points(batches) == list(range(points)) for batches in epochs):
        return wrong("not_shuffled", "original_order")
    first, second = epochs[:2]
    # A few points may well come in the same order twice.
    if len(epochs) == 2 and first == second:
        return wrong("same_order", "same_batches")
    if len(epochs) == 2 and size > 1 and _members(first) == _members(second):
        return wrong("members", "other_order")
    if first != again:
        return wrong("not_rng", "other_batches")
    looks = {EPOCHS: _not_random, THREES: _uneven, LONG_EPOCHS: _has_a_pattern}
    return looks[len(epochs)](epochs) if len(epochs) in looks else None


def _uneven(epochs):
    """Each order of the points must come as often as by chance, up to chance itself."""
    seen = Counter(tuple(_points(batches)) for batches in epochs)
    times = {order: seen[order] for order in permutations(range(len(epochs[0])))}
    due = len(epochs) / len(times)
    if sum((n - due) ** 2 for n in times.values()) / due <= UNEVEN:
        return None
    order, often = max(times.items(), key=lambda one: abs(one[1] - due))
    return wrong("biased", "one_order", order=order, times=often, epochs=len(epochs))


def _has_a_pattern(epochs):
    """With many points no pattern may come more often than by chance."""
    for found in (batch for batches in epochs for batch in batches):
        if _equal_steps(found):
            return wrong("biased", "equal_steps", batch=_few(found))
    points = np.array([_points(batches) for batches in epochs])
    # The order within a batch may be any.
    batch = np.arange(LONG) // LONG_SIZE
    for pattern in _patterns():
        seen = np.sum(pattern[points, batch]) / math.sqrt(len(epochs))
        # The sum over an epoch has mean 0 and this spread, if its order is random.
        spread = math.sqrt(np.sum(pattern[:, batch] ** 2) / (LONG - 1))
        if abs(seen) > PATTERN * spread:
            return wrong("biased", "early_or_late", epochs=len(epochs))
    return None


def _equal_steps(batch):
    """Whether many pairs are equally far apart, modulo the length, as in 3, 8, 13, 18."""
    steps = np.subtract.outer(batch, batch)[~np.eye(len(batch), dtype=bool)] % LONG
    return np.bincount(steps).max() >= STEPS


@functools.cache
def _patterns():
    """How a shuffle can go wrong: how much too often each point comes in each batch.

    For each an array of shape (points, batches), with mean 0 over rows and columns.
    """
    # Where swaps with any place bring each point, one swap after the other.
    few = LONG // 4  # four times as many points give the same picture, but take longer
    at = np.eye(few)
    for i in range(few):
        leaving = at[:, i : i + 1].copy()
        at = at * (1 - 1 / few) + leaving / few
        at[:, i] = 1 / few
    at = np.kron(at, np.full((4, 4), 1 / 4))
    waves = np.cos(np.pi * np.outer(np.arange(1, 5), (np.arange(LONG) + 0.5) / LONG))
    places = [at, at.T, at[::-1, ::-1], at.T[::-1, ::-1], np.eye(LONG)]
    places = [one - 1 / LONG for one in places]
    places += [np.outer(one, other) for one in waves for other in waves]
    return [one.reshape(LONG, -1, LONG_SIZE).mean(axis=2) for one in places]


def _points(batches):
    return [place for batch in batches for place in batch]


def _members(batches):
    return set(map(frozenset, batches))


def _not_random(epochs):
    """Over many epochs, every point and every pair must come as often as by chance."""
    sizes = [len(batch) for batch in epochs[0]]
    one_epoch = np.repeat(np.arange(len(sizes)), sizes)
    places = np.argsort([_points(batches) for batches in epochs], axis=1)
    seen = one_epoch[places]  # the number of the batch of each point, by epochs

    def unlikely(times, chance):
        spread = math.sqrt(len(epochs) * chance * (1 - chance))
        return np.argwhere(abs(times - len(epochs) * chance) > LIMIT * spread).tolist()

    for number, size in enumerate(sizes):
        times = np.sum(seen == number, axis=0)
        for [point] in unlikely(times, size / len(places[0])):
            return wrong(
                "biased", "one_batch", point=point, batch=number + 1,
                times=times[point], epochs=len(epochs),
            )  # fmt: skip
    first, second = np.triu_indices(len(one_epoch), 1)
    chance = np.mean(one_epoch[first] == one_epoch[second])
    times = np.sum(seen[:, first] == seen[:, second], axis=0)
    for [i] in unlikely(times, chance):
        return wrong(
            "members", "met", point=first[i], other=second[i],
            times=times[i], epochs=len(epochs),
        )  # fmt: skip
    # Do the first points come too early? By chance this is 0, with a deviation of 1.
    early = np.mean(seen, axis=0) - one_epoch.mean()
    points = np.arange(len(early)) - np.mean(np.arange(len(early)))
    spread = math.sqrt(np.sum(points**2) * np.sum((one_epoch - one_epoch.mean()) ** 2))
    if abs(points @ early) / spread * math.sqrt((len(early) - 1) * len(epochs)) > LIMIT:
        return wrong("biased", "too_early", epochs=len(epochs))
    again = len(epochs) - len(set(map(str, epochs)))
    if again > AGAIN:
        return wrong("biased", "came_again", epochs=len(epochs), times=again)
    in_order = np.sum(np.all(seen == one_epoch, axis=1))
    if in_order > IN_ORDER:
        return wrong("biased", "often_in_order", times=in_order, epochs=len(epochs))
    return None


def _sizes(points, size):
    return [size] * (points // size) + [points % size] * (points % size > 0)


def _neighbours(batch):
    return max(batch) - min(batch) == len(batch) - 1


def _few(numbers):
    return [*numbers[:8], "..."] if len(numbers) > 8 else numbers
