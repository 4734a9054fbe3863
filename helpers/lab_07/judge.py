"""Questions, verdicts and hints of lab 07: the cores of a TPU."""

import math
from collections import Counter

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.trainer import draw_batches, train
from helpers.checks.judging.verdicts import first_wrong, near, number_of, which

# As many epochs as it takes until any image was left out once: else fewer than one right
# answer in a billion.
MANY = 100


def indices_question(rng):
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


def judge_indices(question, observation):
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


# What an optimizer may believe to have done, before each step: a schedule would change.
ITERATIONS = [None] * 4 + [10, 30, 100, 300, 1000, 3000, 10_000, 10**8] + [None] * 2
LARGE = len(ITERATIONS) - 2  # the last two steps have large gradients


def optimizer_question(rng):
    """Small regressions, for many replicas, few, and one."""

    def case(replicas, momentum):
        weights = [[[rng.uniform(1, 3)] for _ in range(3)], [rng.uniform(1, 3)]]
        batches = draw_batches(rng, [4] * len(ITERATIONS), 3, None)
        for step, batch in enumerate(batches):
            batch["x"] = [[value / 2 for value in row] for row in batch["x"]]
            away = 0.1 if step < LARGE else 3e5
            # The gradients are small, until the weights are far from what fits.
            batch["y"] = [
                sum(w * v for [w], v in zip(weights[0], row, strict=True))
                + weights[1][0] + away * (2 + y)
                for row, y in zip(batch["x"], batch["y"], strict=True)
            ]  # fmt: skip
        return {
            "base_learning_rate": round(rng.uniform(0.004, 0.01), 5),
            "momentum": momentum,
            "replicas": replicas,
            "weights": weights,
            "batches": batches,
            "iterations": ITERATIONS,
        }

    # No gradient and long steps: only what shrinks the weights moves them.
    still = case(rng.choice([12, 16]), 0.9) | {"base_learning_rate": rng.choice([0.8, 0.9])}
    still["weights"] = [
        [[rng.randint(1, 9) / 4] for _ in range(3)],
        [rng.randint(1, 9) / 4],
    ]
    [_, [bias]] = still["weights"]
    still["batches"] = [{"x": [[0.0] * 3] * 4, "y": [bias] * 4} for _ in ITERATIONS]
    return {
        "cases": [
            case(rng.choice([3, 5, 6]), rng.choice([0.33, 0.42, 0.64, 0.71])),
            # Many cores: no rate is too large for the rule.
            case(many := rng.choice([48, 64]), rng.choice([0.83, 0.86]))
            | {"base_learning_rate": round(rng.uniform(0.55, 0.7) / many, 5)},
            case(1, 0.0),
            still,
        ]
    }


def optimizer_ways(question):
    """For each usual optimizer, the weights of all cases after each step."""
    names = "base_learning_rate", "momentum", "replicas"

    def way(rate=lambda base, m, n: base * n, kept=lambda base, m: m, nesterov=False):
        found = []
        for case in question["cases"]:
            base, m, replicas = (case[name] for name in names)
            trained = train(
                case["weights"], case["batches"], rate(base, m, replicas), kept(base, m),
                nesterov,
            )  # fmt: skip
            after = [np.concatenate([w.ravel() for w in ws]) for ws in trained.after]
            found.append([*after, after[-1]])
        return found

    ways = {
        "right": way,
        "start": lambda: way(lambda base, m, n: base, lambda base, m: 0.0),
        "scale": lambda: way(lambda base, m, n: base),
        "divided": lambda: way(lambda base, m, n: base / n),
        "root": lambda: way(lambda base, m, n: base * math.sqrt(n)),
        "fixed": lambda: way(lambda base, m, n: base * 8),
        "nesterov": lambda: way(nesterov=True),
        "dampened": lambda: way(lambda base, m, n: base * n * (1 - m)),
        "swapped": lambda: way(lambda base, m, n: m * n, lambda base, m: base),
    }
    for kept in (0.0, 0.5, 0.9):
        ways[f"momentum {kept}"] = lambda kept=kept: way(kept=lambda base, m: kept)
    return ways


def judge_optimizer(question, observation):
    """Every weight after every step, against the same steps computed here."""
    ways, said = optimizer_ways(question), observation["cases"]
    same, right = near(1e-5, 1e-5), ways["right"]()
    for case, due, seen in zip(question["cases"], right, said, strict=True):
        pairs = enumerate(zip(seen, due, strict=True))
        wrong = next((k for k, pair in pairs if not same(*pair)), None)
        if wrong is None:
            continue
        base, momentum, replicas = (
            case[name] for name in ("base_learning_rate", "momentum", "replicas")
        )
        step = "at the end of training" if wrong == len(case["batches"]) else (
            f"after step {(case['iterations'][wrong] or wrong) + 1}"
        )  # fmt: skip
        reason = (
            f"new_optimizer({base}, {momentum}, {replicas}): {step} the weights are "
            f"{_shown(seen[wrong])}, not {_shown(due[wrong])}"
        )
        if hint := which(said, ways, same, None):
            return reason, hint.split()[0]
        if not same(said[-1], right[-1]):  # where there is no gradient
            return reason, "decay"
        return reason, _optimizer_hint(case, wrong, seen, due)
    return None


def _shown(values):
    return ", ".join(f"{value:.5f}" for value in values[:2])


def _optimizer_hint(case, wrong, seen, due):
    """What kind of change begins in this step."""
    start = np.append(np.ravel(case["weights"][0]), case["weights"][1])
    off, first = np.subtract(seen[wrong], due[wrong]), np.subtract(due[0], start)
    if np.array_equal(seen[0], np.float32(start)):
        return "no_step"
    if wrong > LARGE + 1:
        return "average"
    if wrong >= LARGE:
        return "clipping"
    if wrong == 1 and _along(off, first):
        return "momentum"
    return "schedule" if wrong else "other"


def _along(one, other):
    return abs(one @ other) > 0.99 * np.linalg.norm(one) * np.linalg.norm(other)


LONG_BLOCK = 24  # steps: more than anybody would put into one piece of a loop


def steps_question(rng):
    """Two functions, for blocks of other lengths and other cores; the first call is short."""

    def call(length, count, cores):
        return {
            "count": count,
            "pushes": [round(rng.uniform(1, 3), 3) for _ in range(length)],
            "losses": [[round(rng.uniform(1, 9), 3) for _ in range(cores)]
                       for _ in range(length)],
        }  # fmt: skip

    def case(length, cores):
        # The first count differs from all others.
        first, other = rng.sample(range(2, length), 2)
        counts = [first, length, 1, other, length]
        return {"cores": cores, "calls": [call(length, count, cores) for count in counts]}

    cores = rng.sample([2, 3, 4, 5], 2)
    cases = [case(rng.choice([4, 5]), cores[0]), case(rng.choice([7, 8]), cores[1])]
    # In the end a long block, whose calls differ in their counts only.
    counts = [rng.choice([10, 13]), 1, LONG_BLOCK]
    cases[1]["calls"] += [call(LONG_BLOCK, count, cores[1]) for count in counts]
    return {"cases": cases}


TRACE_CALLS = 2000  # function calls: a trace takes more, a call without one fewer


def judge_steps(question, observation):
    """What Python did, then the steps that were made, then what was returned."""
    both = zip(observation["made"], observation["calls"], strict=True)
    made, calls = zip(*both, strict=True)
    if any(one["state"] or one["traces"] for one in made):
        return "`steps_in_one_call` itself calls `one_step`", "early"
    cases = list(zip(question["cases"], calls, strict=True))
    if verdict := _judge_python(cases):
        return verdict
    for case, seen in cases:
        if verdict := _judge_case(case, seen):
            return verdict
    numbers = {name for seen in calls for one in seen for name in one["numbers"]}
    if other := numbers - {"int32"}:
        return (
            f"`one_step` gets the number of its step as a tensor of {min(other)}",
            "int32",
        )
    return None


def _judge_python(cases):
    first = [seen[0]["traces"] for _, seen in cases]
    for case, seen in cases:
        lengths = [len(asked["pushes"]) for asked in case["calls"]]
        counts = [asked["count"] for asked in case["calls"]]
        # By call: how often Python went through one_step.
        before = [0, *(one["traces"] for one in seen[:-1])]
        traces = [b["traces"] - a for a, b in zip(before, seen, strict=True)]
        if traces == counts:
            return (
                f"Python calls `one_step` {counts[1]} times in a call with {counts[1]} "
                "steps, each time that it is made",
                "start",
            )
        for i in (i for i in range(1, len(counts)) if lengths[i] == lengths[i - 1]):
            if traces[i]:
                return (
                    f"`one_step` is traced again for {counts[i]} steps, in a block of "
                    f"{lengths[i]} like the one before",
                    "retraced",
                )
        # Only the count differs. A trace takes thousands of calls, and nothing else does.
        work = [one["python_calls"] for one in seen]
        more = min(work[1], work[4]) - work[2]
        if more >= counts[1] - 1:
            return _host(counts[1], more)
        if max(work[1:5]) > min(work[1:5]) + TRACE_CALLS:
            return (
                f"TensorFlow traces again for {counts[1 + np.argmax(work[1:5])]} steps, "
                "though not `one_step`",
                "retraced",
            )
        if min(work[1:5]) > TRACE_CALLS:
            return f"a call takes {min(work[1:5])} function calls", "new_graph"
        if max(traces[5:], default=0) > traces[0]:
            return _unrolled(lengths[0], traces[0], lengths[5], traces[5])
        # A graph that is called twice takes twice the work; a number not seen before a tenth.
        if len(work) > 5 and work[7] > 1.5 * work[6]:
            return _host(LONG_BLOCK, work[7] - work[6])
    if 0 in first and any(first):
        return (
            "its second function calls the `one_step` of the first, or the other way",
            "shared",
        )
    if first[0] != first[1]:
        lengths = [len(case["calls"][0]["pushes"]) for case, _ in cases]
        return _unrolled(lengths[0], first[0], lengths[1], first[1])
    # The second function: with the first, TensorFlow imports and prepares a lot.
    work = [one["python_calls"] for one in cases[1][1]]
    if work[5] > 1.3 * work[0]:
        times = f"{work[5] / work[0]:.1f} times"
        return (
            f"to trace a block of {LONG_BLOCK} steps Python has to do {times} as much",
            "unrolled",
        )
    return None


def _host(count, more):
    return (
        f"Python has more to do in a call with {count} steps than with one: "
        f"{more} more function calls",
        "host",
    )


def _unrolled(length, traces, other_length, other_traces):
    return (
        f"for a block of {length} steps `one_step` is traced {number_of(traces, 'time')}, "
        f"for one of {other_length} {number_of(other_traces, 'time')}",
        "unrolled",
    )


def _steps(case, made):
    """The state and every core's losses, by step, of each call; `made` gives the steps."""
    state, found = 0.0, []
    for asked in case["calls"]:
        losses = []
        for i in made(asked["count"], len(asked["pushes"])):
            state = 0.5 * state + asked["pushes"][i]
            losses.append([loss + state for loss in asked["losses"][i]])
        found.append((state, losses))
    return found


def _ways_to_step(case):
    baked = case["calls"][0]["count"]
    return {
        "right": lambda count, length: range(count),
        "none": lambda count, length: [],
        "whole_block": lambda count, length: range(length),
        "from_one": lambda count, length: range(1, min(count + 1, length)),
        "one_less": lambda count, length: range(count - 1),
        "from_one ": lambda count, length: range(1, count),
        "twice": lambda count, length: [0, *range(count)],
        "backwards": lambda count, length: range(count)[::-1],
        "same_step": lambda count, length: [0] * count,
        "last_steps": lambda count, length: range(length - count, length),
        "baked": lambda count, length: range(baked),
    }


def _judge_case(case, seen):
    same = near(1e-4, 1e-4)
    ways = {
        name: [state for state, _ in _steps(case, made)]
        for name, made in _ways_to_step(case).items()
    }
    states = [one["state"] for one in seen]
    if not same(states, ways["right"]):
        pairs = zip(states, ways["right"], strict=True)
        wrong = next(i for i, pair in enumerate(pairs) if not same(*pair))
        asked = case["calls"][wrong]
        reason = (
            f"run(block, {asked['count']}) with a block of {len(asked['pushes'])} steps does "
            f"not make just its first {asked['count']}, each once and in order"
        )
        hint = which(states, ways, same).strip()
        return reason, hint
    due = [losses for _, losses in _steps(case, _ways_to_step(case)["right"])]
    return _judge_losses(case, due, seen, near(1e-4, 1e-4))


def _judge_losses(case, due, seen, same):
    cores, sums = case["cores"], [np.sum(losses, axis=0) for losses in due]
    counts = np.array([asked["count"] for asked in case["calls"]])
    lengths = np.array([len(asked["pushes"]) for asked in case["calls"]])
    means = [total / count for total, count in zip(sums, counts, strict=True)]
    for count, mean, one in zip(counts, means, seen, strict=True):
        if same(one["values"], mean) and one["shape"] == [cores]:
            continue
        if one["shape"] is None:
            return f"run(block, {count}) returns nothing", "nothing"
        shown = ", ".join(f"{value:.3f}" for value in one["values"][:5])
        wanted = ", ".join(f"{value:.3f}" for value in mean)
        reason = (
            f"run(block, {count}) gives [{shown}] of shape {tuple(one['shape'])}, the means "
            f"of the {cores} cores are [{wanted}]"
        )
        ways = {
            "sum": sums,
            "last": [losses[-1] for losses in due],
            "per_block": [t / n for t, n in zip(sums, lengths, strict=True)],
            "off_by_one": [t / (n + 1) for t, n in zip(sums, counts, strict=True)],
            "kept": list(np.cumsum(sums, axis=0) / counts[:, None]),
            "kept ": list(np.cumsum(sums, axis=0) / np.cumsum(counts)[:, None]),
        }
        ways["mean"] = [
            np.full(len(o["values"]), m.mean()) for o, m in zip(seen, means, strict=True)
        ]
        hint = which(
            [one["values"] for one in seen], ways,
            lambda said, way: all(map(same, said, way)),
            "other" if one["shape"] == [cores] else "shape",
        )  # fmt: skip
        return reason, hint.strip()
    for one in seen[1:5]:  # while it traces, TensorFlow itself may read
        if one["reads"]:
            tensors = number_of(one["reads"], "tensor")
            return f"`run` reads {tensors} before it returns", "read"
    if not all(one["tensor"] for one in seen):
        return "`run` does not return one tensor", "shape"
    if other := {one["dtype"] for one in seen} - {"float32"}:
        return f"`run` returns numbers of the type {min(other)}", "dtype"
    return None


EXERCISES = {
    "7.1": Exercise(
        title="every core has images of its own, and no image comes twice in an epoch",
        requirements={
            "shape": "It returns an array of shape `(steps, batch_size)`.",
            "range": "It holds indices from 0 to `images - 1`.",
            "steps": "`steps` is the largest number of whole batches that every core can get.",
            "none": "It may be 0.",
            "twice": "No image is given twice in an epoch.",
            "each_epoch": "Each epoch shuffles the images again.",
            "left_out": "Any image can be left out.",
            "share": "Any two images can share a batch.",
            "seed": "Another seed gives another order.",
            "again": "The same call gives the same answer.",
        },
        question=indices_question,
        judge=judge_indices,
        hints={
            "start": "All cores get the same images, the first ones. How many whole batches are there for each core, and which of them are this core's?",
            "shape": "How many whole steps are there if each takes a batch for every core? What shape holds one core's part?",
            "replicas": "How many images do all cores take together in one step?",
            "remainder": "How many images are left when every core has the same number of whole batches? What happens to them?",
            "exact": "What does your code do if nothing is left over?",
            "none": "How many whole batches does every core get if there are fewer images than all cores take in one step? Try core_indices(0, 2, 7, 4, 0, 0): the shape is (0, 4).",
            "range": "Are these places in the training set, whole numbers from 0 to images - 1?",
            "twice": "Does one core see an image again before the epoch is over?",
            "overlap": "Do all cores use the same order, and take different parts of it?",
            "unseeded": "Each core computes its part by itself, maybe on another machine. What makes them all draw the same order?",
            "epoch": "What changes the order from one epoch to the next? Does it do so in every epoch, and with seed 0 as well?",
            "seed": "A user wants another run with another order. Which argument should change the order, from the first epoch on?",
            "never_seen": "Which images are left out in each epoch? Do you cut before or after you shuffle?",
            "always_seen": "Which images can be among the remainder of an epoch? All of them?",
            "fixed_batches": "What is shuffled in each epoch: the images, or batches that are made already?",
            "fixed_shards": "What is shuffled in each epoch: all the images, or those of one core?",
            "pairs": "Is the whole order drawn again in each epoch, or the old one turned, or shuffled in pieces?",
            "raised": "Call it by hand: core_indices(0, 2, 10, 2, 0, 0), and core_indices(0, 2, 3, 2, 0, 0), where no batch is whole on both cores. Which line fails?",
        },
    ),
    "7.2": Exercise(
        title="the learning rate grows with the replicas, and SGD has momentum",
        requirements={
            "rule": "The learning rate is `base_learning_rate` times `replicas`.",
            "constant": "It is the same in every step.",
            "momentum": "It is SGD with this momentum.",
            "nesterov": "No Nesterov momentum.",
            "decay": "No weight decay.",
            "clipping": "No clipping.",
            "else": "Nothing else is set.",
        },
        question=optimizer_question,
        judge=judge_optimizer,
        hints={
            "start": "It learns with the rate of one core, and has no momentum. Which two arguments of SGD say more?",
            "scale": "The global batch is `replicas` times a core's. What does the linear rule say about the learning rate?",
            "divided": "Are the steps to be longer or shorter if the batch is larger?",
            "root": "The square root is a rule too (lab 03). Which rule does this lab follow?",
            "fixed": "What is the learning rate on 3 cores, and what on 16? Does your code contain a fixed number?",
            "momentum": "Which part of the last step stays in the next one, and which argument sets it?",
            "dampened": "Keras' momentum adds the whole new gradient to what is left of the last step. Do you take only a part of it?",
            "swapped": "In which order does SGD take its arguments?",
            "nesterov": "Momentum comes in two kinds. Which argument of SGD switches the other one on?",
            "decay": "The weights shrink, whatever the gradient says. Which argument does that?",
            "clipping": "A large gradient moves the weights less than it should. Which argument cuts it?",
            "schedule": "Is the learning rate still the same after many steps? Does anything change it on the way?",
            "average": "At the end of a training the weights change once more. Which argument replaces them by an average?",
            "no_step": "The first gradient moved nothing. Does each call of `apply` make a step?",
            "raised": "Read Python's error above. Does the function return a Keras optimizer?",
            "other": "Print `optimizer.learning_rate` and `optimizer.momentum`. Is it plain SGD otherwise?",
        },
    ),
    "7.3": Exercise(
        title="many steps in one call, by one program for every count",
        requirements={
            "first_steps": "`run` makes the first `count` steps of a block.",
            "order": "It makes them in their order.",
            "int32": "`one_step` gets the number of a step as a number or an int32 tensor.",
            "mean": "It returns the mean loss of each core over these steps.",
            "shape": "What it returns is a float32 tensor of shape `(cores,)`.",
            "unread": "It does not read it.",
            "traced_once": "Python calls `one_step` only in the first `run` for blocks of one length; never again, whatever `count` is.",
            "long_block": "A long block is traced no more often than a short one.",
            "python": "Python has no more to do in a `run` with many steps.",
            "no_step": "`steps_in_one_call` makes no step.",
            "apart": "A second function that it gives does not disturb the first.",
            "no_xla": "No `jit_compile`.",
        },
        question=steps_question,
        judge=judge_steps,
        hints={
            "start": "Where does your `for` loop run: in Python, once for each step, or in TensorFlow?",
            "host": "Your graph makes one step, and Python calls it in a loop. Can the loop be inside of the `tf.function`?",
            "unrolled": "How often does Python go through `range(...)` while TensorFlow traces, and how often through `tf.range(...)`?",
            "retraced": "What does `tf.function` do with a Python number that it has not seen yet, and what with a tensor? And with a new shape?",
            "new_graph": "When is your `tf.function` made: once, or in every `run`?",
            "baked": "Which `count` does your graph know: that of this call, or that of the call in which it was traced?",
            "early": "Who should make the first step: `steps_in_one_call`, or the function that it returns?",
            "shared": "Two of your functions are in use. What do they have in common?",
            "none": "Is every step made? Look at what is inside of the loop.",
            "whole_block": "The last block is filled up. Which of its steps should nobody make?",
            "from_one": "Which number does the first step of a block have?",
            "one_less": "How many steps does your loop make if `count` is 1?",
            "same_step": "Which step of the block does your loop make: the same one each time?",
            "last_steps": "The steps that fill a block up come last. Which ones are to be made?",
            "twice": "Is a step made once more to find out the shape of a loss?",
            "backwards": "In which order are the steps of a block to be made?",
            "sum": "Is it the sum of the losses, or their mean?",
            "last": "Is it the loss of the last step, or the mean over all steps of this call?",
            "per_block": "By how many steps do you divide: those made, or all that the block holds?",
            "off_by_one": "By how many steps do you divide, and how many were made?",
            "kept": "With what does your sum start in the second `run`?",
            "mean": "The mean of all cores hides the one that goes wrong. Over what do you take the mean?",
            "shape": "`run` returns one number for each core, in one tensor. Which shape has yours?",
            "dtype": "The losses are float32. Which of your lines makes another type of them?",
            "int32": "The steps are right. Which types may the number of a step have, for `one_step`? What makes yours another one?",
            "nothing": "What does `run` return?",
            "read": "Which line of yours waits for the device? `run` gives back a tensor, and leaves it to the caller to read it.",
            "other": "Work out by hand what two steps for two cores give, as in the example.",
            "raised": "Read the error above. Is `block` passed on as it is, and is the program a plain `tf.function`?",
        },
    ),
}
