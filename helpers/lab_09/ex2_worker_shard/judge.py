"""Exercise 9.2: the questions, and the verdict on what the probe saw."""

from collections import Counter
from itertools import pairwise, permutations
from random import Random

import numpy as np

from helpers.checks.judging.copies import cannot_travel
from helpers.verdict import Wrong, wrong

MOST_ALONG = 0.9


def draw_question(rng: Random) -> dict:
    """Calls for all workers of three epochs, and for one worker alone with three seeds."""
    workers, seed = rng.choice([3, 4, 5]), rng.randint(1, 50)
    divides = workers * rng.randint(8, 12)
    rest = divides + rng.randint(1, workers - 1)
    calls = []
    for examples in (divides, rest):
        for epoch in (0, 1, 2):
            calls += [[examples, epoch, r, workers, seed] for r in range(workers)]
            calls += [[examples, epoch, 0, 1, s] for s in (seed, seed + 1, seed + 2)]
    # Sums such as seed + 10 * epoch meet here.
    far = [(epoch, s) for epoch in (10, 100) for s in (seed, seed + 1)]
    far += [(epoch, seed + more) for epoch in (0, 1) for more in (10, 100)]
    # The digits of both in a row meet those of epoch 10, a product those of epoch 1.
    far += [(0, 10 * seed + 1), (0, 2 * seed + 1)]
    far += [(0, 0), (1, 0), (0, 1)]  # for some code a seed of 0 is none, or 1
    calls += [[divides, epoch, 0, 1, s] for epoch, s in far]
    rng.shuffle(calls)
    # More examples than 16 bits can number: only how many there are comes back.
    return {"calls": calls, "many": [rng.randint(66_000, 70_000), 1, 0, 1, seed]}


def judge(question: dict, observation: dict) -> Wrong | None:
    """Every example once an epoch, in one order for all; another in each epoch."""
    if verdict := cannot_travel(observation):
        return verdict
    calls, first = question["calls"], observation["first"]
    for call, read in zip(calls, first, strict=True):
        if read is None:
            return wrong("numbers", "no_numbers", call=call)
    read = {tuple(call): shard for call, shard in zip(calls, first, strict=True)}
    return (
        _wrong_again(calls, first, observation)
        or _wrong_examples(read)
        or _wrong_order(read)
        or _wrong_stride(read)
        or _wrong_numbers(question["many"], observation["many"])
    )


def _wrong_numbers(call, seen):
    if seen == [call[0], call[0], 0, call[0] - 1]:
        return None
    return wrong("narrow", "narrow", call=call, examples=call[0], distinct=seen[1])


def _wrong_again(calls, first, observation):
    for call, one, other in zip(calls, first, observation["again"], strict=True):
        if one != other:
            return wrong("again", "again", call=call)
    for call, one, other in zip(calls, first, observation["elsewhere"], strict=True):
        if one != other:
            return wrong("elsewhere", "elsewhere", call=call)
    return None if observation["untouched"] else wrong("global", "global")


def _epochs(read):
    """By examples, epoch, workers and seed: the shards of all workers, by rank."""
    found = {}
    for (examples, epoch, rank, workers, seed), shard in sorted(read.items()):
        found.setdefault((examples, epoch, workers, seed), {})[rank] = shard
    return found


def _wrong_examples(read):
    # Numbers that divide come first: what goes wrong there is not the remainder.
    epochs = sorted(_epochs(read).items(), key=lambda one: (one[0][0] % one[0][2], one[0]))
    for (examples, epoch, workers, _), shards in epochs:
        often = Counter(i for shard in shards.values() for i in shard)
        if strange := sorted(set(often) - set(range(examples))):
            return wrong("range", "range", examples=examples, example=strange[0])
        times = [often[i] for i in range(examples)]
        if set(times) != {1}:
            return wrong(
                _not_once(examples, workers, times, shards), "not_once",
                workers=workers, examples=examples, epoch=epoch,
                unread=times.count(0), repeated=sum(n > 1 for n in times),
            )  # fmt: skip
    return None


def _not_once(examples, workers, times, shards):
    if examples % workers:
        return "remainder"
    if workers == 1 or set(times) != {workers}:
        return "once"
    in_order = all(shard == list(range(examples)) for shard in shards.values())
    return "start" if in_order else "whole"


def _wrong_order(read):
    alone = {key: shards[0] for key, shards in _epochs(read).items() if key[2] == 1}
    for (examples, epoch, _, seed), order in alone.items():
        steps = Counter((b - a) % examples for a, b in pairwise(order))
        # Between place and number: random orders of these lengths stay far below.
        along = abs(np.corrcoef(order, np.arange(examples))[0, 1])
        if max(steps.values()) > len(order) / 2 or along > MOST_ALONG:
            return wrong("shuffled", "hardly_shuffled", epoch=epoch, seed=seed)
    for (one, order), (two, other) in permutations(alone.items(), 2):
        if one[0] == two[0] and _alike(order, other):
            return _same_order(one, two, order == other)
    return None


def _same_order(one, two, exactly):
    (_, epoch, _, seed), (_, other_epoch, _, other_seed) = one, two
    mistake = "seed" if epoch == other_epoch else "seed_plus"
    return wrong(
        "epoch" if seed == other_seed else mistake,
        "same_order" if exactly else "turned_order",
        epoch=epoch, seed=seed, other_epoch=other_epoch, other_seed=other_seed,
    )  # fmt: skip


def _alike(order, other):
    """Whether most neighbours in one order are neighbours in the other one, too."""
    pairs = [{frozenset(p) for p in pairwise(o)} for o in (order, other)]
    return len(pairs[0] & pairs[1]) > len(order) / 2


def _wrong_stride(read):
    epochs = _epochs(read)
    for (examples, epoch, workers, seed), shards in epochs.items():
        alone = epochs[examples, epoch, 1, seed][0]
        for rank, shard in shards.items():
            if shard != alone[rank::workers]:
                blocks = np.array_split(alone, workers)[rank].tolist()
                mistake = "blocks" if shard == blocks else "stride"
                call = [examples, epoch, rank, workers, seed]
                return wrong(mistake, "stride", call=call, rank=rank, workers=workers)
    return None
