"""Exercise 5.2: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.verdicts import all_near, draw_apart, near, which
from helpers.verdict import Wrong, wrong


def make_schedules(rng: Random) -> dict:
    """Several warm-ups, and steps before, at and after the end of each, in any order."""
    cases = []
    # One of them is no whole number, and with another one the rate falls.
    factors = [rng.choice([1.5, 2.5]), rng.choice([0.2, 0.5])]
    for factor in [*factors, *rng.sample([2, 3, 4, 8, 16], 2)]:
        warmup = rng.randint(6, 50)
        steps = [0, 1, warmup // 3, warmup - 1, warmup, warmup + 1, 10 * warmup]
        rng.shuffle(steps)
        base = round(rng.uniform(0.001, 0.2), 4)
        cases.append({"base_rate": base, "factor": factor, "warmup_steps": warmup})
        cases[-1]["steps"] = steps
    cases[0] |= {"warmup_steps": 1, "steps": [2, 1, 0]}
    # Steps that float16 cannot count.
    long = rng.randint(2500, 4000)
    cases[-1] |= {"warmup_steps": long, "steps": [0, 1, 2051, long - 1, long, long + 1]}
    return {"cases": cases}


def _rates(question, rate):
    return [[float(rate(step=step, **_of(case))) for step in case["steps"]]
            for case in question["cases"]]  # fmt: skip


def _of(case):
    return {"base": case["base_rate"], "factor": case["factor"], "n": case["warmup_steps"]}


def warmup(base: float, factor: float, n: int, step: float) -> float:
    """The right rate."""
    return base * (1 + min(step / n, 1) * (factor - 1))


WARMUP_MISTAKES = {
    "start": lambda base, factor, n, step: base * factor,
    "from_zero": lambda base, factor, n, step: base * factor * min(step / n, 1),
    "after": lambda base, factor, n, step: base * (1 + step / n * (factor - 1)),
    "one_off": lambda base, factor, n, step: warmup(base, factor, n, step + 1),
    "peak": lambda base, factor, n, step: base * (1 + min(step / n, 1) * factor),
    "added": lambda base, factor, n, step: base + min(step / n, 1) * (factor - base),
    "jump": lambda base, factor, n, step: base * (factor if step >= n else 1),
    "curve": lambda base, factor, n, step: base * factor ** min(step / n, 1),
    "limit": lambda base, factor, n, step: min(
        base * (1 + step / n * (factor - 1)), base * factor
    ),
    "back": lambda base, factor, n, step: warmup(base, factor, n, step if step <= n else 0),
}


def warmup_ways(question: dict) -> dict:
    """For each way of warming up, the rates at all steps."""
    ways = {"right": warmup} | WARMUP_MISTAKES
    return {name: _rates(question, rate) for name, rate in ways.items()}


def _same_rates(said, right):
    return all_near(1e-3)(said, right)


RATE = near(3e-5)  # float32 keeps more digits, and float16 fewer


def draw_question(rng: Random) -> dict:
    """Warm-ups in which every usual mistake gives other rates."""
    return draw_apart(
        rng, make_schedules, warmup_ways, lambda one, other: not _same_rates(one, other)
    )


def judge(question: dict, observation: dict) -> Wrong | None:
    """The rate at each step, as float32 gives it, eagerly and in a graph."""
    if not observation["is_schedule"]:
        return wrong("schedule", "no_schedule")
    ways, reply = warmup_ways(question), observation["eager"]
    if found := _wrong_rate(question, reply, ways):
        sentence, facts = found
        mistake = which(reply, ways, _same_rates)
        if mistake == "other":
            return wrong("other", "rate", requirement=sentence, **facts)
        return wrong("coarse" if mistake == "right" else mistake, "rate", **facts)
    if observation["graph_error"]:
        return wrong("graph", "error_in_graph", error=observation["graph_error"])
    found = _wrong_rate(question, observation["graph"], ways)
    return found and wrong("graph", "rate_in_graph", **found[1])


def _wrong_rate(question, reply, ways):
    """The sentence that a wrong rate breaks, and what the words say of that rate."""
    for case, rates, due in zip(question["cases"], reply, ways["right"], strict=True):
        steps = list(zip(case["steps"], rates, due, strict=True))
        for sentence, speaks_of in SENTENCES.items():
            for step, rate, right in steps:
                if speaks_of(step, case["warmup_steps"]) and not RATE(rate, right):
                    return sentence, _of(case) | {"step": step, "rate": rate, "due": right}
    return None


# Which steps a requirement speaks of; where an end is wrong, so is the line.
SENTENCES = {
    "start": lambda step, n: step == 0,
    "peak": lambda step, n: step == n,
    "after": lambda step, n: step > n,
    "line": lambda step, n: step < n,
}
