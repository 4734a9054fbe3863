"""Exercise 7.3: the questions, and the verdict on what the probe saw."""

import numpy as np

from helpers.checks.judging.verdicts import near, number_of, which

LONG_BLOCK = 24  # steps: more than anybody would put into one piece of a loop


def draw_question(rng):
    """Two functions, for blocks of other lengths and cores; the first call is short."""

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


def judge(question, observation):
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
        # A graph that is called twice takes twice the work, a new number a tenth.
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
            f"run(block, {asked['count']}) with a block of {len(asked['pushes'])} steps "
            f"does not make just its first {asked['count']}, each once and in order"
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
            f"run(block, {count}) gives [{shown}] of shape {tuple(one['shape'])}, the "
            f"means of the {cores} cores are [{wanted}]"
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
