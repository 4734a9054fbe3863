"""Questions, verdicts and hints of lab 09."""

from collections import Counter
from itertools import pairwise

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, which

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


def all_reduce_question(rng):
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


def judge_all_reduce(question, observation):
    """The sum at every worker; then who sent what to whom, and how much of it."""
    return first_wrong(question["cases"], observation["cases"], _judge_all_reduce)


def _judge_all_reduce(arrays, seen):
    workers, values = len(arrays), len(arrays[0])
    where = f"{workers} workers with {values} values each"
    if seen["deadlock"]:
        return f"{where}: all of them wait, and nobody sends", "deadlock"
    if verdict := _wrong_sum(where, arrays, seen):
        return verdict
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
            given = "nothing" if one is None else f"an array of shape {np.shape(one)}"
            return f"{where}: worker {rank} returned {given}", "shape"
    hint = which(said, ways, same)
    right = [same(one, ways["right"][0]) for one in said]
    reason = f"{where}: {sum(right)} of them ended with the sum of all arrays"
    if hint == "other" and np.isclose(said, ways["right"]).sum() == len(arrays[0]):
        hint = "scattered"
    if hint == "other" and len(arrays[0]) % len(arrays):
        hint = "remainder"
    return reason, hint


def _wrong_messages(where, workers, values, messages):
    due, longest = 2 * (workers - 1), -(-values // workers)
    for sender, receiver, _, _ in messages:
        if receiver != (sender + 1) % workers:
            everyone = all(m[2] == values for m in messages) and workers > 2
            hint = "start" if everyone and _each_to_all(workers, messages) else "ring"
            return f"{where}: worker {sender} sent to worker {receiver}", hint
    by_sender = Counter(sender for sender, *_ in messages)
    most = max((size for _, _, size, _ in messages), default=0)
    if most > longest:
        hint = "whole" if most == values > workers else "even"
        return f"{where}: a message held {most} values", hint
    for rank in range(workers):
        if by_sender[rank] != due:
            reason = f"{where}: worker {rank} sent {by_sender[rank]} messages, not {due}"
            return reason, "messages"
    sent = sum(size for _, _, size, _ in messages)
    for sender, _, size, bytes_ in messages:
        if bytes_ != size * FLOAT32_BYTES:
            each = bytes_ // max(size, 1)
            return f"{where}: worker {sender} sent values of {each} bytes", "bytes"
    if sent < due * values:
        return f"{where}: {sent} values were sent, which cannot be enough", "form"
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


def _make_calls(rng):
    workers, seed = rng.choice([3, 4, 5]), rng.randint(1, 50)
    divides = workers * rng.randint(8, 12)
    rest = divides + rng.randint(1, workers - 1)
    calls = []
    for examples in (divides, rest):
        for epoch in (0, 1, 2):
            calls += [[examples, epoch, r, workers, seed] for r in range(workers)]
            calls += [[examples, epoch, 0, 1, s] for s in (seed, seed + 1, seed + 2)]
    rng.shuffle(calls)
    return {"calls": calls}


def shard_question(rng):
    """Calls for all workers of three epochs, and for one worker alone with three seeds."""
    return _make_calls(rng)


def judge_shard(question, observation):
    """Every example once an epoch, in one order for all; another in each epoch."""
    calls, first = question["calls"], observation["first"]
    for call, read in zip(calls, first, strict=True):
        if read is None:
            return f"{_called(call)} is not a list of whole numbers", "numbers"
    read = {tuple(call): shard for call, shard in zip(calls, first, strict=True)}
    return (
        _wrong_examples(read)
        or _wrong_again(calls, first, observation)
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
            f"{workers} workers, {examples} examples, epoch {epoch}: {times.count(0)} were "
            f"read by nobody, {sum(n > 1 for n in times)} more than once"
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
    if not observation["untouched"]:
        return "it changed the state of a global random generator", "global"
    return None


def _wrong_order(read):
    alone = {key: shards[0] for key, shards in _epochs(read).items() if key[2] == 1}
    for (examples, epoch, _, seed), order in alone.items():
        steps = Counter((b - a) % examples for a, b in pairwise(order))
        if max(steps.values()) > len(order) / 2:
            return f"epoch {epoch} with seed {seed} is hardly shuffled", "shuffled"
    for (examples, epoch, _, seed), order in alone.items():
        for (others, other_epoch, _, other_seed), other in alone.items():
            same = order == other and examples == others
            if not same or (epoch, seed) == (other_epoch, other_seed):
                continue
            reason = f"epoch {epoch} with seed {seed} has the order of epoch {other_epoch}"
            if seed == other_seed:
                return reason, "epoch"
            sums = epoch + seed == other_epoch + other_seed
            return f"{reason} with seed {other_seed}", "seed_plus" if sums else "seed"
    return None


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


EXERCISES = {
    "9.1": Exercise(
        title="the sum travels round the ring, chunk by chunk",
        requirements={
            "sum": "Every worker returns the sum of the arrays of all.",
            "remainder": "The number of values need not divide by the number of workers.",
            "ring": "A worker sends to the next one only, and the last to the first.",
            "chunks": "A message holds one chunk: the values divided by N, rounded up.",
            "messages": "Every worker sends 2 (N-1) messages.",
            "bytes": "What is sent has the dtype of the array.",
            "deadlock": "The workers never all wait for each other.",
            "alone": "One worker alone sends nothing.",
            "new": "The array that is returned is a new one, of float32.",
            "unchanged": "The array that was given stays as it is.",
        },
        question=all_reduce_question,
        judge=judge_all_reduce,
        hints={
            "start": "Everybody sends all to everybody. How many bytes is that for N "
            "workers, and how many if a sum travelled from one to the next?",
            "nothing": "It returns what it was given. Which values of the others are in it?",
            "mean": "Who asked for a mean? The loss is divided already.",
            "scattered": "Each worker has the sum of one chunk. Who needs it, too?",
            "remainder": "7 values for 3 workers: which values are in no chunk of yours?",
            "shape": "Put the chunks together again, in their order.",
            "ring": "Worker `rank` has one neighbour to send to: `(rank + 1) % workers`.",
            "whole": "A message holds the whole array. What does `np.array_split` make?",
            "even": "One chunk is much longer than the others: all wait for it.",
            "messages": "N-1 messages until each chunk has its sum, and N-1 until all have "
            "all. Which of them is missing, or too many?",
            "bytes": "Which dtype has what you send? And how many bytes has a value of it?",
            "deadlock": "If everybody begins with `receive`, who sends?",
            "dtype": "float32 came in. Where did it become something else?",
            "new": "The caller goes on with its own array. Return another one.",
            "raised": "Read Python's error above. Whom did you send to?",
            "other": "Write down, for 3 workers, which chunk each sends in each round, and "
            "which arrays are in it.",
        },
    ),
    "9.2": Exercise(
        title="every example once an epoch, and the same again after a restart",
        requirements={
            "once": "In an epoch every example is read once, by one of the workers.",
            "remainder": "That holds, too, where the examples do not divide.",
            "shuffled": "The order is random.",
            "epoch": "Every epoch has another order.",
            "seed": "With another seed all orders are others.",
            "again": "The same arguments give the same examples, whenever you ask.",
            "global": "The global random generators stay as they are.",
            "stride": "The worker takes every `workers`-th place of the order, from `rank`.",
            "numbers": "It returns whole numbers.",
        },
        question=shard_question,
        judge=judge_shard,
        hints={
            "start": "Every worker reads everything, in the order of the files. What should "
            "`rank` choose, and what should be shuffled before?",
            "once": "Some examples nobody reads, or two workers read them. Which?",
            "whole": "Every worker reads everything. Which part of it is its own?",
            "remainder": "How long is the last worker's part, if 10 examples go to 3?",
            "range": "Examples have the numbers 0 to `examples - 1`.",
            "shuffled": "Can example 1 come anywhere, or always beside example 0?",
            "epoch": "What does your generator know about the epoch?",
            "seed": "What does your generator know about the seed?",
            "seed_plus": "Seed 1 in epoch 0 and seed 0 in epoch 1: what is their sum? "
            "`default_rng` also takes a list of two numbers.",
            "again": "A worker that starts again has a new generator. What does the order "
            "depend on besides the arguments?",
            "global": "`np.random.seed` moves the generator that all others use, too. Make "
            "one of your own.",
            "blocks": "One worker alone would read places 0 to 3 in its first step. Where "
            "would two workers with two each find them?",
            "stride": "The order must be the same for all workers, whatever their number. "
            "Then take every `workers`-th place, from `rank`.",
            "numbers": "An array or a list of integers: one for each example to read.",
            "raised": "Read Python's error above. Does your function take five arguments?",
        },
    ),
}
