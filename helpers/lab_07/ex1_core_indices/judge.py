"""Exercise 7.1: the questions, and the verdict on what the probe saw."""

import math
import random
from collections import Counter

import numpy as np

from helpers.checks.judging.verdicts import first_wrong
from helpers.verdict import Wrong, phrase, wrong

# As many epochs as it takes until any image was left out once: else fewer than one right
# answer in a billion.
MANY = 100


def draw_question(rng: random.Random) -> dict:
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


def judge(question: dict, observation: dict) -> Wrong | None:
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
        return wrong("start", "in_order", last=first - 1)
    for (core, *_), one in zip(case["calls"], seen, strict=True):
        mistake, gives = _judge_shape(replicas, images, batch_size, one)
        if mistake:
            return wrong(
                mistake, "core_gives", core=core, gives=gives,
                replicas=replicas, images=images, batch_size=batch_size,
            )  # fmt: skip
    if seen[-1]["indices"] != seen[0]["indices"]:
        return wrong("unseeded", "other_images")
    if images < replicas * batch_size:
        return None
    orders = {}  # by seed and epoch: what each core trains on
    for (core, epoch, seed), one in zip(case["calls"], seen, strict=True):
        orders.setdefault((seed, epoch), {})[core] = one["indices"]
    many = _judge_many(orders, images, batch_size) if len(orders) == MANY else None
    if many and many.mistake == "fixed_batches":  # then orders may be equal by chance
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
        return wrong("repeated", "come_again", batches=found)
    return None


def _rows(indices, length):
    indices = list(indices)
    return [indices[i : i + length] for i in range(0, len(indices), length)]


def _judge_shape(replicas, images, batch_size, one):
    """The mistake in what a core gives, and a phrase for it; twice None if it is right."""
    whole = replicas * batch_size
    steps, shape = images // whole, one["shape"]
    if shape is None:
        return "remainder", phrase("different_sizes")
    if shape != [steps, batch_size]:
        seen = phrase("shape", shape=tuple(shape), right_shape=(steps, batch_size))
        return _mistake_in_shape(replicas, images, batch_size, shape), seen
    if not steps:
        if one["indices"]:
            raise ValueError(f"indices where the shape is {shape}")
        return None, None
    if one["indices"] is None:
        return "range", phrase("no_whole_numbers")
    if np.shape(one["indices"]) != tuple(shape):
        raise ValueError(f"indices of shape {np.shape(one['indices'])}, not {shape}")
    flat = [i for row in one["indices"] for i in row]
    if min(flat) < 0 or max(flat) >= images:
        return "range", phrase("range", lowest=min(flat), highest=max(flat))
    if len(set(flat)) < len(flat):
        return "twice", phrase("twice")
    return None, None


def _mistake_in_shape(replicas, images, batch_size, shape):
    steps, left = divmod(images, replicas * batch_size)
    if not steps:
        return "none"
    if shape[1:] != [batch_size]:
        return "shape"
    if not left and shape[0] < steps:
        return "exact"
    return {images // batch_size: "replicas", steps + 1: "remainder"}.get(shape[0], "shape")


def _judge_orders(orders):
    for (_, epoch), cores in sorted(orders.items()):
        times = Counter(i for part in cores.values() for row in part for i in row)
        index, most = times.most_common(1)[0]
        if most > 1:
            return wrong("overlap", "overlap", epoch=epoch, image=index, cores=most)
    by_seed = {}
    for (seed, epoch), cores in orders.items():
        by_seed.setdefault(seed, {})[epoch] = str(sorted(cores.items()))
    for epochs in by_seed.values():
        if len(set(epochs.values())) < len(epochs):
            return wrong("epoch", "same_order")
    for epoch in next(iter(by_seed.values())):
        if len({epochs[epoch] for epochs in by_seed.values()}) < len(by_seed):
            return wrong("seed", "same_order_by_seed", epoch=epoch)
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
        return wrong("fixed_batches", "fixed_batches", epochs=MANY)
    if max(map(len, homes)) == 1:
        return wrong("fixed_shards", "fixed_shards", epochs=MANY)
    if not given.all():
        return wrong("never_seen", "never_seen", image=given.argmin(), epochs=MANY)
    if given.max() == len(orders):
        return wrong("always_seen", "always_seen", image=given.argmax(), epochs=MANY)
    times = met[np.triu_indices(images, 1)]
    due = (batch_size - 1) * given.sum() / (images * (images - 1))
    # About 1 where all pairs are equally likely.
    if np.mean((times - due) ** 2) > 3 * due * (1 - due / MANY):
        one, other = np.unravel_index(met.argmin(), met.shape)
        return wrong(
            "pairs", "pairs", epochs=MANY, image=one, other_image=other,
            fewest=met.min(), most=times.max(),
        )  # fmt: skip
    return None
