"""Exercise 9.2: the questions, and the verdict on what the probe saw."""

from collections import Counter
from itertools import pairwise

import numpy as np

from helpers.checks.judging.verdicts import number_of
from helpers.lab_09.judging import cannot_travel

MOST_ALONG = 0.9


def _make_calls(rng):
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
    far += [(0, 0), (1, 0)]  # for some code a seed of 0 is none
    calls += [[divides, epoch, 0, 1, s] for epoch, s in far]
    rng.shuffle(calls)
    return {"calls": calls}


def draw_question(rng):
    """Calls for all workers of three epochs, and for one worker alone with three seeds."""
    return _make_calls(rng)


def judge(question, observation):
    """Every example once an epoch, in one order for all; another in each epoch."""
    if verdict := cannot_travel(observation):
        return verdict
    calls, first = question["calls"], observation["first"]
    for call, read in zip(calls, first, strict=True):
        if read is None:
            return f"{_called(call)} is not a list of whole numbers", "numbers"
    read = {tuple(call): shard for call, shard in zip(calls, first, strict=True)}
    return (
        _wrong_again(calls, first, observation)
        or _wrong_examples(read)
        or _wrong_order(read)
        or _wrong_stride(read)
    )


def _called(call):
    examples, epoch, rank, workers, seed = call
    return f"worker_shard({examples}, {epoch}, {rank}, {workers}, {seed})"


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
            return f"of {examples} examples, number {strange[0]} was to be read", "range"
        if often == Counter(range(examples)):
            continue
        times = [often[i] for i in range(examples)]
        reason = (
            f"{number_of(workers, 'worker')}, {examples} examples, epoch {epoch}: nobody "
            f"read {times.count(0)} of them, and {sum(n > 1 for n in times)} came more "
            "than once"
        )
        if examples % workers:
            return reason, "remainder"
        everyone = workers > 1 and set(times) == {workers}
        if everyone and all(shard == list(range(examples)) for shard in shards.values()):
            return reason, "start"
        return reason, "whole" if everyone else "once"
    return None


def _wrong_again(calls, first, observation):
    for call, one, other in zip(calls, first, observation["again"], strict=True):
        if one != other:
            return f"{_called(call)} gave two different answers", "again"
    for call, one, other in zip(calls, first, observation["elsewhere"], strict=True):
        if one != other:
            return f"{_called(call)} gave another answer in another process", "elsewhere"
    if not observation["untouched"]:
        return "it changed the state of a global random generator", "global"
    return None


def _wrong_order(read):
    alone = {key: shards[0] for key, shards in _epochs(read).items() if key[2] == 1}
    for (examples, epoch, _, seed), order in alone.items():
        steps = Counter((b - a) % examples for a, b in pairwise(order))
        # Between place and number: random orders of these lengths stay far below.
        along = abs(np.corrcoef(order, np.arange(examples))[0, 1])
        if max(steps.values()) > len(order) / 2 or along > MOST_ALONG:
            return f"epoch {epoch} with seed {seed} is hardly shuffled", "shuffled"
    for (examples, epoch, _, seed), order in alone.items():
        for (others, other_epoch, _, other_seed), other in alone.items():
            if examples != others or (epoch, seed) == (other_epoch, other_seed):
                continue
            if not _alike(order, other):
                continue
            reason = f"epoch {epoch} with seed {seed} has the order of epoch {other_epoch}"
            if order != other:
                reason += ", begun elsewhere or backwards"
            if seed == other_seed:
                return reason, "epoch"
            hint = "seed" if epoch == other_epoch else "seed_plus"
            return f"{reason} with seed {other_seed}", hint
    return None


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
                called = _called((examples, epoch, rank, workers, seed))
                blocks = np.array_split(alone, workers)[rank].tolist()
                hint = "blocks" if shard == blocks else "stride"
                return f"{called} is not every {workers}th place of one order", hint
    return None
