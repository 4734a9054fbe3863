"""Exercise 7.1: the questions, and the verdict on what the probe saw."""

import random
from itertools import permutations

import numpy as np

from helpers.checks.judging.verdicts import first_wrong, near, which
from helpers.verdict import Wrong, wrong

LONG_BLOCK = 24  # steps: more than anybody would put into one piece of a loop


def draw_question(rng: random.Random) -> dict:
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
SHORT_CALL = 5  # steps: of so few all orders can be tried


def judge(question: dict, observation: dict) -> Wrong | None:
    """What Python did, then the steps that were made, then what was returned."""
    cases, calls = question["cases"], observation["calls"]
    both = zip(observation["made"], calls, strict=True)
    if any(made["state"] or made["traces"] for made, _ in both):
        return wrong("early", "early")
    return (
        first_wrong(cases, calls, _judge_python)
        or _judge_traces(cases, calls)
        or first_wrong(cases, calls, _judge_case)
    )


def _judge_python(case, seen):
    lengths = [len(asked["pushes"]) for asked in case["calls"]]
    counts = [asked["count"] for asked in case["calls"]]
    # By call: how often Python went through one_step.
    traces = np.diff([0, *(one["traces"] for one in seen)]).tolist()
    if traces == counts:
        return wrong("start", "start", steps=counts[1])
    for i in (i for i in range(1, len(counts)) if lengths[i] == lengths[i - 1]):
        if traces[i]:
            return wrong("retraced", "retraced", steps=counts[i], block_steps=lengths[i])
    # Only the count differs. A trace takes thousands of calls, and nothing else does.
    work = [one["python_calls"] for one in seen]
    more = min(work[1], work[4]) - work[2]
    if more >= counts[1] - 1:
        return wrong("host", "host", steps=counts[1], more=more)
    least, most = min(work[1:5]), max(work[1:5])
    if most > least + TRACE_CALLS:
        return wrong("traced_around", "traced_around", steps=counts[work.index(most, 1)])
    if least > TRACE_CALLS:
        return wrong("new_graph", "new_graph", function_calls=least)
    if max(traces[5:], default=0) > traces[0]:
        return _unrolled(lengths[0], traces[0], lengths[5], traces[5])
    # A graph that is called twice takes twice the work, a new number a tenth.
    if len(work) > 5 and work[7] > 1.5 * work[6]:
        return wrong("host", "host", steps=LONG_BLOCK, more=work[7] - work[6])
    return None


def _judge_traces(cases, calls):
    first = [seen[0]["traces"] for seen in calls]
    if 0 in first and any(first):
        return wrong("shared", "shared")
    if first[0] != first[1]:
        lengths = [len(case["calls"][0]["pushes"]) for case in cases]
        return _unrolled(lengths[0], first[0], lengths[1], first[1])
    # The second function: with the first, TensorFlow imports and prepares a lot.
    work = [one["python_calls"] for one in calls[1]]
    if work[5] > 1.3 * work[0]:
        times = work[5] / work[0]
        return wrong("unrolled", "work_of_trace", block_steps=LONG_BLOCK, times=times)
    return None


def _unrolled(block_steps, traces, other_block_steps, other_traces):
    return wrong(
        "unrolled", "unrolled", block_steps=block_steps, traces=traces,
        other_block_steps=other_block_steps, other_traces=other_traces,
    )  # fmt: skip


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
        "order": lambda count, length: range(count)[::-1],
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
    states, right = [one["state"] for one in seen], ways["right"]
    if not same(states, right):
        pairs = enumerate(zip(states, right, strict=True))
        number = next(i for i, pair in pairs if not same(*pair))
        asked, before = case["calls"][number], right[number - 1] if number else 0.0
        mistake = which(states, ways, same, "").strip()
        if not mistake:
            reordered = _in_another_order(asked, before, states[number])
            mistake = "order" if reordered else "other_steps"
        return wrong(
            mistake, "steps", count=asked["count"], block_steps=len(asked["pushes"])
        )
    due = [losses for _, losses in _steps(case, _ways_to_step(case)["right"])]
    return _judge_means(case, due, seen, same) or _judge_returned(seen)


def _in_another_order(asked, before, state):
    """Whether the right steps, in some order, lead from one state to another."""
    count = asked["count"]
    if count > SHORT_CALL:
        return False
    orders = np.array(list(permutations(asked["pushes"][:count])))
    ends = 0.5**count * before + orders @ 0.5 ** np.arange(count)[::-1]
    return np.abs(ends - state).min() < 1e-5


def _judge_means(case, due, seen, same):
    cores, sums = case["cores"], [np.sum(losses, axis=0) for losses in due]
    counts = np.array([asked["count"] for asked in case["calls"]])
    lengths = np.array([len(asked["pushes"]) for asked in case["calls"]])
    means = [total / count for total, count in zip(sums, counts, strict=True)]
    for count, mean, one in zip(counts, means, seen, strict=True):
        if same(one["values"], mean) and one["shape"] == [cores]:
            continue
        if one["shape"] is None:
            return wrong("nothing", "nothing", count=count)
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
        mistake = which(
            [one["values"] for one in seen], ways,
            lambda said, way: all(map(same, said, way)),
            "other" if one["shape"] == [cores] else "shape",
        )  # fmt: skip
        return wrong(
            mistake.strip(), "means", count=count, values=one["values"][:5],
            shape=tuple(one["shape"]), cores=cores, means=mean,
        )  # fmt: skip
    return None


def _judge_returned(seen):
    if not all(one["tensor"] for one in seen):
        return wrong("shape", "no_tensor")
    if others := {one["dtype"] for one in seen} - {"float32"}:
        return wrong("dtype", "dtype", type=min(others))
    return None
