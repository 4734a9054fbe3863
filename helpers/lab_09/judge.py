"""Questions, verdicts and hints of lab 09."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.verdicts import (
    draw_apart,
    first_wrong,
    near,
    number_of,
    quoted,
    which,
)

FLOAT32_BYTES = 4
MOST_ALONG = 0.9


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


def _cannot_travel(observation):
    why = observation.get("cannot_travel")
    return why and (f"no other process can be given it: {quoted(why)}", "travels")


def judge_all_reduce(question, observation):
    """The sum at every worker; then who sent what to whom, and how much of it."""
    if verdict := _cannot_travel(observation):
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


def shard_question(rng):
    """Calls for all workers of three epochs, and for one worker alone with three seeds."""
    return _make_calls(rng)


def judge_shard(question, observation):
    """Every example once an epoch, in one order for all; another in each epoch."""
    if verdict := _cannot_travel(observation):
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


def make_restart(rng):
    """A training that is killed twice, in the middle of an epoch, between two saves."""
    epochs, per_epoch, every = 4, rng.randint(5, 7), rng.randint(3, 4)
    stops = [rng.randint(per_epoch + 1, 2 * per_epoch), rng.randint(every + 1, per_epoch)]
    values = rng.randint(2, 4)
    draws = lambda: [round(rng.uniform(-1, 1), 3) for _ in range(values)]  # noqa: E731
    return {
        "epochs": epochs,
        "steps_per_epoch": per_epoch,
        "save_every": every,
        "stops": stops,
        "weights": [draws() for _ in range(3)],
        "gradients": [[draws() for _ in range(per_epoch)] for _ in range(epochs)],
        "learning_rate": round(rng.uniform(0.05, 0.2), 3),
        "momentum": round(rng.uniform(0.5, 0.9), 2),
        "pull": round(rng.uniform(0.1, 0.3), 3),
    }


def lives(question, mistake=""):
    """The batches of each life, if one makes this mistake."""
    every, per_epoch = question["save_every"], question["steps_per_epoch"]
    all_lives, saved = [], (0, 0, 0)
    for stop in [*question["stops"], None]:
        step, epoch, place = _begins(*saved, mistake)
        batches, skipped = [], place if mistake == "counts_from_here" else 0
        while epoch < question["epochs"] and len(batches) != stop:
            if place >= per_epoch:
                epoch, place, skipped = epoch + 1, 0, 0
                continue
            batches.append([epoch, place])
            step, place = step + 1, place + 1
            due = {
                "start": False,
                "every_step": True,
                "each_epoch": place == per_epoch,
                "one_late": step % every == 1,
                "in_epoch": place % every == 0,
            }.get(mistake, step % every == 0)
            if due:
                early = mistake == "repeats_one"
                saved = (step - early, epoch, place - early - skipped)
        all_lives.append(batches)
    return all_lives


def _begins(step, epoch, place, mistake):
    """Steps done, epoch and place with which a start goes on."""
    if not step:
        return 0, 0, 0
    return {
        "no_place": (step, epoch, 0),
        "no_epoch": (step, 0, place),
        "leaves_one_out": (step, epoch, place + 1),
        "next_epoch": (step, epoch + 1, 0),
    }.get(mistake, (step, epoch, place))


RESTART_MISTAKES = [
    "start", "every_step", "each_epoch", "one_late", "in_epoch", "no_place", "no_epoch",
    "repeats_one", "leaves_one_out", "next_epoch", "counts_from_here",
]  # fmt: skip


def restart_ways(question):
    """For each way of saving and going on, the batches of all lives."""
    return {name: lives(question, name) for name in ("right", *RESTART_MISTAKES)}


def restart_question(rng):
    """Kills after which every usual mistake trains on other batches."""
    return draw_apart(rng, make_restart, restart_ways, lambda a, b: a != b)


def end_weights(question, mistake=""):
    """Weights and averages at the end: SGD with momentum as Keras has it, in NumPy."""
    all_lives, per_epoch = lives(question), question["steps_per_epoch"]
    first = np.array(question["weights"][0])
    states = [(first, 0 * first, 0 * first)]
    for number, batches in enumerate(all_lives):
        epoch, place = batches[0]
        done = epoch * per_epoch + place
        w, v, average = states[done]
        if number and mistake == "no_model":
            w = np.array(question["weights"][number])
        if number and mistake in ("no_model", "no_averages"):
            average = 0 * average
        if number and mistake == "no_optimizer":
            v = 0 * v
        states = states[: done + 1]
        for e, n in batches:
            gradient = np.array(question["gradients"][e][n])
            g = gradient + question["pull"] * w
            v = question["momentum"] * v - question["learning_rate"] * g
            w, average = w + v, average + gradient
            states.append((w, v, average))
    return np.concatenate([states[-1][0], states[-1][2]])


WEIGHT_MISTAKES = ("no_model", "no_averages", "no_optimizer")


def judge_restart(question, observation):
    """What each life trained on, then the weights, then what is in the folder."""
    if verdict := _cannot_travel(observation):
        return verdict
    ways = restart_ways(question)
    said = [life["batches"] for life in observation["lives"]]
    due = ways["right"]
    if said != due:
        hint = which(said, ways, lambda a, b: a == b)
        number, reason = next(
            (i, _batches_reason(i, one, right))
            for i, (one, right) in enumerate(zip(said, due, strict=True))
            if one != right
        )
        if hint == "other" and number == 2 and said[2][:1] == [[0, 0]]:
            hint = "half"  # only that start found a half-written save
        return reason, hint
    right = end_weights(question)
    weights = observation["lives"][-1]["weights"]
    same = near(1e-3, 1e-4)
    if not same(weights, right):
        mistakes = {name: end_weights(question, name) for name in WEIGHT_MISTAKES}
        hint = which(weights, {"right": right} | mistakes, same, "weights")
        return "every batch was right, and yet the weights at the end are others", hint
    began_at = observation["lives"][-1]["began_at"]
    steps = due[-1][0][0] * question["steps_per_epoch"] + due[-1][0][1]
    if began_at != steps:
        return f"it returned {quoted(began_at)} and went on at step {steps}", "returned"
    if observation["first_began_at"] != 0:
        said = quoted(observation["first_began_at"])
        return f"at its first start, which nobody killed, it returned {said}", "returned"
    if observation["written_at_first"]:
        return "at its first start a worker that is not the chief wrote files", "chief"
    if observation["other"]["batches"] != due[-1] or not same(
        observation["other"]["weights"], right
    ):
        return "a worker that is not the chief did not go on from the last save", "others"
    if not observation["unchanged"]:
        return "a worker that is not the chief changed files in the folder", "chief"
    if observation["kept"] != 2:
        saves = number_of(observation["kept"], "save")
        return f"at the end the folder has {saves}, not 2", "two"
    return None


def _batches_reason(number, said, due):
    which_start = (
        "the first start",
        "the start after one kill",
        "the start after two kills",
    )
    shorter = min(len(said), len(due))
    at = next((i for i in range(shorter) if said[i] != due[i]), shorter)
    seen, right = (_batch(batches, at) for batches in (said, due))
    if not at:
        return f"{which_start[number]} should go on with {right}; it began with {seen}"
    return (
        f"{which_start[number]} should train on {right} after {at} batches, not on {seen}"
    )


def _batch(batches, at):
    if at >= len(batches):
        return "no batch"
    epoch, place = batches[at]
    return f"batch {place} of epoch {epoch}"


DAY_SECONDS = 86_400


def make_intervals(rng):
    """Jobs on few and many machines; in three a save takes longer than machines live."""
    cases = []
    for low, high in ((10, 100), (500, 2000), (3000, 20_000)):
        seconds = [round(rng.uniform(5, 400), 1), round(rng.uniform(60, 900), 1)]
        cases.append([*seconds, round(rng.uniform(100, 2000), 1), rng.randint(low, high)])
    for shortest, longest in ((1.2, 1.8), (2.2, 5)):  # Daly's limit is at 2
        days, machines = round(rng.uniform(1, 5), 2), rng.randint(5000, 9000)
        between_failures = days * DAY_SECONDS / machines
        long_save = round(between_failures * rng.uniform(shortest, longest), 1)
        cases.append([long_save, round(rng.uniform(60, 900), 1), days, machines])
    # Exactly at the limit: with these, no way of working it out has to round.
    days, machines = rng.choice([1.25, 1.5, 2.5, 3.25]), rng.choice([1024, 2048])
    at_limit = 2 * days * DAY_SECONDS / machines
    cases.append([at_limit, round(rng.uniform(60, 900), 1), days, machines])
    rng.shuffle(cases)
    return {"cases": cases}


def intervals(case, mistake=""):
    """Young's and Daly's interval and the seconds lost, if one makes this mistake."""
    save, restart, days, machines = case
    m = days * DAY_SECONDS / machines
    m = {
        "one_machine": days * DAY_SECONDS,
        "hours": days * 24 / machines,
        "days": days / machines,
        "more_machines": days * DAY_SECONDS * machines,
    }.get(mistake, m)
    young = math.sqrt(save * m) if mistake == "no_two" else math.sqrt(2 * save * m)
    part = save / (2 * m)
    daly = young * (1 + math.sqrt(part) / 3 + part / 9) - save
    daly = {
        "daly_is_young": young,
        "save_not_left_out": daly + save,
        "first_term_only": young - save,
        "without_ninth": young * (1 + math.sqrt(part) / 3) - save,
    }.get(mistake, daly)
    within = save <= 2 * m if mistake == "above_limit" else save < 2 * m
    if not within and mistake != "no_limit":
        daly = young if mistake == "limit_is_young" else m
    if mistake == "early_limit" and save >= m:
        daly = m
    interval = young if mistake == "lost_by_young" else daly
    lost = {
        "whole_interval": save / interval + (interval + restart) / m,
        "no_restart": save / interval + interval / 2 / m,
        "no_failures": save / interval,
        "no_saves": (interval / 2 + restart) / m,
    }.get(mistake, save / interval + (interval / 2 + restart) / m)
    if mistake == "share":
        lost = lost / (1 + lost)
    if mistake == "percent":
        lost = 100 * lost
    return [save, save, 0.0] if mistake == "start" else [young, daly, lost]


INTERVAL_MISTAKES = [
    "start", "one_machine", "hours", "days", "more_machines", "no_two", "daly_is_young",
    "save_not_left_out", "first_term_only", "without_ninth", "no_limit", "limit_is_young",
    "early_limit", "above_limit",
    "lost_by_young", "whole_interval", "no_restart", "no_failures", "no_saves", "share",
    "percent",
]  # fmt: skip


def interval_ways(question):
    """For each way of working it out, the three numbers of all jobs."""
    return {
        name: [intervals(case, name) for case in question["cases"]]
        for name in ("right", *INTERVAL_MISTAKES)
    }


def interval_question(rng):
    """Jobs for which every usual mistake gives other numbers."""
    return draw_apart(rng, make_intervals, interval_ways, lambda a, b: not near(2e-4)(a, b))


def judge_intervals(question, observation):
    """Both intervals and the lost seconds of each job."""
    ways, said = interval_ways(question), observation["said"]
    hint = which(said, ways, near(1e-5), None)
    names = "Young's interval", "Daly's interval", "the seconds lost"
    hints = ["young", "daly", "lost"]

    def different(case, pair):
        one, due = pair
        if len(one) != 3:
            return f"it gave {number_of(len(one), 'number')}, not 3", "form"
        wrong = [i for i in range(3) if not near(1e-5)(one[i], due[i])]
        if not wrong:
            return None
        i = wrong[0]
        job = ", ".join(map(str, case))
        save, _, days, machines = case
        if names[i] == "Daly's interval" and save >= 2 * days * DAY_SECONDS / machines:
            hints[i] = "limit"
        return f"{names[i]} for ({job}): it gave {one[i]:.6g}, not {due[i]:.6g}", (
            hint or hints[i]
        )

    return first_wrong(
        question["cases"], list(zip(said, ways["right"], strict=True)), different
    )


def make_clusters(rng):
    """Clusters bound by the processors and by the link, and one device alone."""
    cases = []
    for kind in ("compute", "link", "latency", "alone"):
        devices = 1 if kind == "alone" else rng.randint(3, 600)
        batch_size, t0 = rng.randint(8, 256), rng.uniform(0.002, 0.05)
        peak, latency = rng.uniform(100, 4000), rng.uniform(1e-6, 1e-5)
        compute, gradient = batch_size / peak, rng.uniform(1e6, 1e9)
        share = {"compute": rng.uniform(0.1, 0.5), "link": rng.uniform(1.2, 3)}.get(
            kind, 0.4
        )
        if kind == "latency":
            gradient /= 1e5  # so few bytes that a part of one shows
            latency = compute * rng.uniform(0.5, 1.5) / (2 * devices)
        case = [devices, batch_size, t0, peak, gradient, latency]
        bytes_per_second = 2 * gradient / (share * compute)
        cases.append([float(f"{n:.5g}") for n in [*case, bytes_per_second]])
        cases[-1][:2] = devices, batch_size
    rng.shuffle(cases)
    return {"cases": cases}


def speeds(case, mistake=""):
    """Images/s and efficiency, in turn and overlapped, if one makes this mistake."""
    n, b, t0, peak, gradient, latency, bandwidth = case
    images_seconds = b / peak
    compute = {
        "no_fixed_cost": images_seconds,
        "global_batch": t0 + n * images_seconds,
        "shared_batch": t0 + images_seconds / n,
    }.get(mistake, t0 + images_seconds)
    messages = {"one_half": n - 1, "one_more": 2 * n, "no_ring": 2}.get(
        mistake, 2 * (n - 1)
    )
    each = gradient if mistake == "whole_gradient" else gradient / n
    send = messages * (latency + each / bandwidth)
    if mistake == "latency_once":
        send = latency + messages * each / bandwidth
    if mistake == "no_latency":
        send = messages * each / bandwidth
    if mistake == "two_gradients":
        send = messages * latency + 2 * gradient / bandwidth
    if mistake == "bits":
        send = messages * (latency + 8 * each / bandwidth)
    beside = {
        "hides_all": compute,
        "hides_fixed_cost": 2 / 3 * compute,
        "hides_a_third": images_seconds / 3,
        "hides_the_images": images_seconds,
    }.get(mistake, 2 / 3 * images_seconds)
    left = max(0.0, send - beside)
    if mistake == "below_nothing":
        left = send - beside
    if mistake == "all_or_nothing":
        left = send if send > beside else 0.0
    steps = [compute + send, compute + left]
    if mistake == "swapped":
        steps = steps[::-1]
    if mistake == "start":
        steps = [compute, compute]
    alone = b / peak if mistake == "of_the_peak" else compute
    devices = 1 if mistake == "one_device" else n
    said = []
    for step in steps:
        efficiency = alone / step
        if mistake == "percent":
            efficiency *= 100
        if mistake == "times_devices":
            efficiency *= n
        pair = [devices * b / step, efficiency]
        said += pair[::-1] if mistake == "efficiency_first" else pair
    return said


CLUSTER_MISTAKES = [
    "start", "no_fixed_cost", "global_batch", "shared_batch", "one_half", "one_more",
    "no_ring", "whole_gradient", "latency_once", "no_latency", "bits", "hides_all",
    "hides_fixed_cost", "hides_a_third", "hides_the_images", "below_nothing",
    "all_or_nothing", "swapped", "of_the_peak",  "one_device", "percent",
    "times_devices", "two_gradients", "efficiency_first",
]  # fmt: skip


def cluster_ways(question):
    """For each way of forecasting, the four numbers of all clusters."""
    return {
        name: [speeds(case, name) for case in question["cases"]]
        for name in ("right", *CLUSTER_MISTAKES)
    }


def cluster_question(rng):
    """Clusters for which every usual mistake gives other numbers."""
    return draw_apart(rng, make_clusters, cluster_ways, lambda a, b: not near(5e-4)(a, b))


def judge_forecast(question, observation):
    """Images/s and efficiency, in turn and overlapped."""
    ways, said = cluster_ways(question), observation["said"]
    hint = which(said, ways, near(1e-5), None)
    names = (
        "images/s in turn", "the efficiency in turn", "images/s overlapped",
        "the efficiency overlapped",
    )  # fmt: skip
    hints = "in_turn", "efficiency", "overlapped", "efficiency"

    def different(case, pair):
        one, due = pair
        if len(one) != 4:
            return f"it gave {number_of(len(one), 'number')}, not 2 and 2", "form"
        wrong = [i for i in range(4) if not near(1e-5)(one[i], due[i])]
        if not wrong:
            return None
        i = wrong[0]
        if case[0] == 1 and hint is None:
            return f"{names[i]} of one device: {one[i]:.6g}, not {due[i]:.6g}", "alone"
        given = ", ".join(f"{n:.5g}" for n in case)
        return f"{names[i]} for ({given}): it gave {one[i]:.6g}, not {due[i]:.6g}", (
            hint or hints[i]
        )

    return first_wrong(
        question["cases"], list(zip(said, ways["right"], strict=True)), different
    )


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
            "travels": "Each worker has a copy of the function, and of what it uses.",
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
            "gathers": "The last N-1 messages bring whole sums. What do you do with them?",
            "travels": "Make what it uses inside of the function, or hand it plain values: "
            "numbers, lists, arrays, functions.",
            "raised": "Read Python's error above. Whom did you send to? Does it hold for one "
            "worker alone, and where the values do not divide?",
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
            "elsewhere": "They give the same in any process.",
            "global": "The global random generators stay as they are.",
            "stride": "The worker takes every `workers`-th place of the order, from `rank`.",
            "numbers": "It returns whole numbers.",
            "travels": "Each worker has a copy of the function, and of what it uses.",
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
            "seed_plus": "You make one number of two, and other pairs make the same one. "
            "`default_rng` also takes a list of two numbers.",
            "again": "A worker that starts again has a new generator. What does the order "
            "depend on besides the arguments?",
            "elsewhere": "Every worker is a process of its own. What of yours is another in "
            "each: Python's `hash` of a text, a process number, a name?",
            "travels": "Make the generator inside of the function, from its arguments. What "
            "it uses from other cells has to be plain: numbers, lists, functions.",
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
    "9.3": Exercise(
        title="training goes on after a kill, to the very same weights",
        requirements={
            "every": "After every `save_every` steps, counted over the whole training, it saves.",
            "model": "A new start goes on with the weights of the last save.",
            "optimizer": "It goes on with the optimizer's state of the last save.",
            "place": "Its first batch is the one after the last save.",
            "epoch": "It goes on in the epoch of the last save, and ends after `epochs` epochs in all.",
            "returns": "It returns the number of steps that were done before this start.",
            "two": "The last two saves are kept.",
            "chief": "Only the chief writes into the folder.",
            "others": "Every worker goes on from the last save.",
            "half": "A save that was not finished is not used.",
            "travels": "A new process has what is on disk, and nothing else.",
        },
        question=restart_question,
        judge=judge_restart,
        hints={
            "start": "After a kill it begins at the first batch again. Where do saves go, and who reads them at the next start?",
            "every_step": "How many steps are between two of your saves?",
            "each_epoch": "It saves at the end of an epoch. After how many steps should it save?",
            "one_late": "It saves after steps 1, 1 + `save_every` and so on. Do you count the step before you ask?",
            "in_epoch": "Does your count of steps begin again in every epoch?",
            "no_place": "It goes on in the right epoch, but at its first batch. What has to be in a save, besides the epoch?",
            "no_epoch": "After a kill it is in epoch 0 again. Is the epoch in your save, and is it restored before the loop begins?",
            "repeats_one": "One batch is trained on twice. Is the step counted before the save, or after it?",
            "leaves_one_out": "One batch is left out. Of which batch does your save say that it is done?",
            "counts_from_here": "After the second kill it begins too early. From which "
            "batch does your loop count the place, when it begins in the middle?",
            "next_epoch": "It goes on with the next epoch. What happens to the rest of this one?",
            "travels": "Make checkpoint, manager and counts inside of the function. What it "
            "uses from other cells has to be plain: numbers, lists, functions.",
            "half": "The folder had files of a save that was killed half-way. Which save does `latest_checkpoint` name?",
            "no_model": "Are the model's weights in the save, and restored?",
            "no_averages": "The optimizer brings the weights that it trains. Which variables has a model besides, as batch normalisation has them?",
            "no_optimizer": "Momentum is a state. Is the optimizer in the save?",
            "weights": "Each batch was right. Which of weights, optimizer and learning rate is not as it was at the save?",
            "returned": "It returns the number of steps that were done before this start: 0 at the first.",
            "others": "A worker that is not the chief writes no save. Does it read them?",
            "chief": "Who may save? And what does a worker do that may not?",
            "two": "How many saves does your manager keep, and how many should it?",
            "raised": "Read Python's error above. `data(epoch, first)` takes whole numbers, `train_step` a batch. And is there a save at the first start?",
            "other": "Write down the batches of 2 epochs of 5, saved every 3, killed after 7. At which batch does it go on?",
        },
    ),
    "9.4": Exercise(
        title="how often to save, by Young and by Daly",
        requirements={
            "seconds": "Intervals are in seconds.",
            "between": "The whole job fails `machines` times as often as one machine.",
            "young": "Young's interval is the root of twice the save times the time between failures.",
            "daly": "Daly's interval is Young's times his sum, less the save.",
            "limit": "Where a save takes twice the time between failures or longer, it is that time.",
            "lost_saves": "Lost is one save for each of Daly's intervals.",
            "lost_failures": "Lost is half an interval and a restart for each failure.",
            "lost_unit": "It is given in seconds lost for each second trained.",
        },
        question=interval_question,
        judge=judge_intervals,
        hints={
            "start": "It saves all the time. What does that cost, and what does a failure cost if you save seldom?",
            "one_machine": "That is one machine. How often does any of them fail?",
            "hours": "Are your seconds hours?",
            "days": "Are your seconds days?",
            "more_machines": "Do more machines fail more often, or less?",
            "no_two": "Under the root there is a factor. On average, how much of an interval is lost in a failure?",
            "daly_is_young": "Daly's interval is not Young's. What does he multiply it with, and subtract?",
            "save_not_left_out": "What does Daly subtract in the end?",
            "first_term_only": "Daly's sum has three terms. Is yours just 1?",
            "without_ninth": "Daly's sum has three terms. How many has yours?",
            "no_limit": "What if a save takes longer than machines live? Look at the last sentence about Daly.",
            "limit_is_young": "Where saves are that long, Daly takes the time between failures.",
            "early_limit": "From which save on does Daly leave his formula: from `M` on?",
            "above_limit": "What if a save takes exactly `2 M`? The text says from which save on Daly leaves his formula.",
            "limit": "Where a save takes `2 M` or longer, which interval does Daly take?",
            "lost_by_young": "Which interval do you divide by for the seconds lost?",
            "whole_interval": "A failure comes anywhere in an interval. How much of it is lost on average?",
            "no_restart": "What has to be done after each failure, before training goes on?",
            "no_failures": "Failures cost something, too: which two things?",
            "no_saves": "Saves cost something, too: how much in each interval?",
            "share": "Seconds lost for each second that was *trained*, not for each that passed.",
            "percent": "Is that a percentage?",
            "young": "Work it out by hand: a save of 50 s and 10,000 s between failures give 1,000 s.",
            "daly": "Daly's own example: a save of 5 minutes and 24 hours between failures give 117 minutes.",
            "lost": "Two parts: a save in each interval; and half an interval and a restart in each time between failures.",
            "form": "It returns three numbers: Young's interval, Daly's, and the seconds lost.",
            "raised": "Read Python's error above. Do you return three numbers, and no pairs or names?",
        },
    ),
    "9.5": Exercise(
        title="images per second on any number of devices",
        requirements={
            "compute": "A device computes for `t0_seconds` plus its batch divided by `peak`.",
            "messages": "The ring takes 2 (n - 1) messages, one after the other.",
            "chunk": "Each carries an n-th part of the gradient.",
            "latency": "Each takes the latency, and its bytes divided by the bandwidth.",
            "in_turn": "In turn, a step is both.",
            "hidden": "Overlapped, messages run beside two thirds of the time of the images.",
            "floor": "A step never takes less than its computing.",
            "images": "Images per second are those of all devices together.",
            "efficiency": "Efficiency is the speed divided by n times that of one device.",
            "alone": "One device sends nothing.",
        },
        question=cluster_question,
        judge=judge_forecast,
        hints={
            "start": "It counts no message at all. How many are there in a ring of n, and how long does each take?",
            "no_fixed_cost": "Lab 02's law has two parts. Where is the fixed cost?",
            "global_batch": "`batch_size` is that of one device. How many images does it compute in a step?",
            "shared_batch": "`batch_size` is that of one device. Do you divide it again?",
            "one_half": "A ring goes around twice: once to add up, once to hand out.",
            "one_more": "After how many messages has a chunk been at each device?",
            "no_ring": "How many messages are there in a ring of n devices?",
            "whole_gradient": "How large is a chunk?",
            "latency_once": "Messages come one after the other. How many times does the latency count?",
            "no_latency": "What does an empty message take?",
            "bits": "Bytes, or bits?",
            "two_gradients": "Two gradients in all, for any number of devices? How many "
            "messages are there with two devices, and how long is each?",
            "efficiency_first": "In each pair the speed comes first.",
            "hides_all": "A gradient has to be there before it is sent. Which part of the computing comes after the first gradient?",
            "hides_fixed_cost": "Two thirds of which time: all of the computing, or that of the images?",
            "hides_a_third": "Backward takes two thirds, forward one.",
            "hides_the_images": "Only the backward part, two thirds, has gradients to send.",
            "below_nothing": "Messages that end early do not make computing shorter. What is the least that is left of them?",
            "all_or_nothing": "What is left over is what does not fit beside. How much is that?",
            "swapped": "Which one is longer: in turn, or overlapped?",
            "of_the_peak": "One device alone has a fixed cost, too.",
            "one_device": "How many devices train at the same time?",
            "percent": "Efficiency is 1 at best.",
            "times_devices": "Efficiency is 1 at best. What do you divide by?",
            "in_turn": "Write a step as a sum: fixed cost, images, and 2 (n - 1) messages. What does yours lack?",
            "overlapped": "Messages less two thirds of the images' time, or nothing: that comes on top of the computing.",
            "efficiency": "The speed of n devices, divided by n times the speed of one: 1 at best.",
            "alone": "With one device there are 2 (1 - 1) messages. What does yours give?",
            "form": "Each of `in_turn` and `overlapped` has a pair: images per second, efficiency.",
            "raised": "Read Python's error above. Does it hold for one device? Are the two keys `in_turn` and `overlapped`?",
        },
    ),
}
