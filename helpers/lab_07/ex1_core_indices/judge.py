"""Exercise 7.1: the questions, and the verdict on what the probe saw."""

import math
from collections import Counter

import numpy as np

from helpers.checks.judging.verdicts import first_wrong

# As many epochs as it takes until any image was left out once: else fewer than one right
# answer in a billion.
MANY = 100


def draw_question(rng):
    """Sets with a remainder, without, and too small; one of them in many epochs."""

    def case(replicas, batch_size, images, seeds, epochs):
        calls = [
            [core, epoch, seed]
            for core in range(replicas)
            for epoch in range(epochs)
            for seed in seeds
        ]
        rng.shuffle(calls)
        return {
            "replicas": replicas, "images": images, "batch_size": batch_size,
            "calls": [*calls, calls[0]],
        }  # fmt: skip

    seed = rng.randint(1, 999)
    replicas, batch_size, steps = (
        rng.choice([2, 3, 4]),
        rng.randint(4, 6),
        rng.randint(2, 4),
    )
    whole = replicas * batch_size
    # More than a batch is left: enough for some cores, but not for all.
    left = rng.randint(max(batch_size, whole // 2) + 1, whole - 1)
    # Whatever of a seed is left out, its last digits or whether it is odd: two are equal.
    seeds = [seed, seed + 1, seed + 1000 * rng.randint(1, 99)]
    cases = [case(replicas, batch_size, steps * whole + left, seeds, 3)]
    batch_size = rng.choice([6, 7])
    # Two steps: images of one core must come into another batch, too.
    cases.append(case(2, batch_size, 6 * batch_size - 2, [0], MANY))
    replicas, batch_size = rng.choice([1, 5, 8]), rng.choice([2, 3])
    cases.append(case(replicas, batch_size, steps * replicas * batch_size, [seed], 1))
    # Nothing is left over: an old order in another guise has the same batches.
    cases.append(case(2, 6, 24, [seed], 8))
    cases.append(case(3, 4, rng.randint(7, 11), [seed], 1))
    return {"cases": cases}


def judge(question, observation):
    """In each case shapes first, then what the cores of an epoch have in common."""
    return first_wrong(question["cases"], observation["cases"], _judge_shards)


def _judge_shards(case, seen):
    replicas, images, batch_size = (
        case[name] for name in ("replicas", "images", "batch_size")
    )
    first = images // batch_size * batch_size
    # On one core a shuffle of four images ends in their order now and then.
    if replicas > 1 and all(
        one["indices"] == _rows(range(first), batch_size) for one in seen
    ):
        return f"every core gets the images from 0 to {first - 1}, in their order", "start"
    for (core, *_), one in zip(case["calls"], seen, strict=True):
        if verdict := _judge_shape(replicas, images, batch_size, one):
            reason, hint = verdict
            asked = f"{images} images on {replicas} cores with batches of {batch_size}"
            return f"{asked}: core {core} gives {reason}", hint
    if seen[-1]["indices"] != seen[0]["indices"]:
        return "the same call gives other images the second time", "unseeded"
    if images < replicas * batch_size:
        return None
    orders = {}  # by seed and epoch: what each core trains on
    for (core, epoch, seed), one in zip(case["calls"], seen, strict=True):
        orders.setdefault((seed, epoch), {})[core] = one["indices"]
    many = _judge_many(orders, images, batch_size) if len(orders) == MANY else None
    if many and many[1] == "fixed_batches":  # then orders may be equal by chance
        return many
    return _judge_orders(orders) or many or _judge_next(orders, images, batch_size)


def _judge_next(orders, images, batch_size):
    """Whether batches come again in the next epoch, whole or up to one image."""
    if len({seed for seed, _ in orders}) > 1:  # few epochs of each
        return None
    found, due = 0, 0.0
    for (seed, epoch), cores in orders.items():
        old, new = (
            [set(row) for part in one.values() for row in part]
            for one in (cores, orders.get((seed, epoch + 1), {}))
        )
        found += sum(len(a & b) >= batch_size - 1 for a in old for b in new)
        near_ones = 1 + batch_size * (images - batch_size)
        due += len(old) * len(new) * near_ones / math.comb(images, batch_size)
    # Of a billion right answers fewer than one: such batches are rare.
    if found > 6 + 6 * due:
        return f"{found} batches of an epoch come again in the next one", "pairs"
    return None


def _rows(indices, length):
    indices = list(indices)
    return [indices[i : i + length] for i in range(0, len(indices), length)]


def _judge_shape(replicas, images, batch_size, one):
    whole = replicas * batch_size
    steps, shape = images // whole, one["shape"]
    if shape is None:
        return "batches of different sizes", "remainder"
    if shape != [steps, batch_size]:
        rows = shape[0] if shape[1:] == [batch_size] else None
        reason = f"shape {tuple(shape)}, not {steps, batch_size}"
        if not steps:
            return reason, "none"
        if images % whole == 0 and rows is not None and rows < steps:
            return reason, "exact"
        return reason, {images // batch_size: "replicas", steps + 1: "remainder"}.get(
            rows, "shape"
        )
    if not steps:
        if one["indices"]:
            raise ValueError(f"indices where the shape is {shape}")
        return None
    if one["indices"] is None:
        return "no whole numbers", "range"
    if np.shape(one["indices"]) != tuple(shape):
        raise ValueError(f"indices of shape {np.shape(one['indices'])}, not {shape}")
    flat = [i for row in one["indices"] for i in row]
    if min(flat) < 0 or max(flat) >= images:
        return f"indices from {min(flat)} to {max(flat)}", "range"
    if len(set(flat)) < len(flat):
        return "an image twice in one epoch", "twice"
    return None


def _judge_orders(orders):
    for (_, epoch), cores in sorted(orders.items()):
        times = Counter(i for part in cores.values() for row in part for i in row)
        index, most = times.most_common(1)[0]
        if most > 1:
            return f"in epoch {epoch} image {index} is given to {most} cores", "overlap"
    by_seed = {}
    for (seed, epoch), cores in orders.items():
        by_seed.setdefault(seed, {})[epoch] = str(sorted(cores.items()))
    for epochs in by_seed.values():
        if len(set(epochs.values())) < len(epochs):
            return "two epochs have the same order", "epoch"
    for epoch in next(iter(by_seed.values())):
        if len({epochs[epoch] for epochs in by_seed.values()}) < len(by_seed):
            return f"another seed gives the same order in epoch {epoch}", "seed"
    return None


def _judge_many(orders, images, batch_size):
    met = np.zeros((images, images))
    given, homes = np.zeros(images), [set() for _ in range(images)]
    for cores in orders.values():
        for core, part in cores.items():
            for row in part:
                met[np.ix_(row, row)] += 1
                given[row] += 1
                for i in row:
                    homes[i].add(core)
    if (met > 0).sum(axis=1).max() <= batch_size:
        return f"in {MANY} epochs every batch has the same members", "fixed_batches"
    if max(map(len, homes)) == 1:
        return f"in {MANY} epochs no image moves to another core", "fixed_shards"
    if not given.all():
        return f"image {given.argmin()} is in none of {MANY} epochs", "never_seen"
    if given.max() == len(orders):
        return f"image {given.argmax()} is left out of none of {MANY} epochs", "always_seen"
    times = met[np.triu_indices(images, 1)]
    due = (batch_size - 1) * given.sum() / (images * (images - 1))
    # About 1 where all pairs are equally likely.
    if np.mean((times - due) ** 2) > 3 * due * (1 - due / MANY):
        one, other = np.unravel_index(met.argmin(), met.shape)
        often = int(times.max())
        return (
            f"in {MANY} epochs images {one} and {other} share a batch {int(met.min())} "
            f"times, others {often} times",
            "pairs",
        )
    return None
