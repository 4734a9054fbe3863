"""Exercise 5.2: the questions, and the verdict on what the probe saw."""

from helpers.checks.judging.verdicts import all_near, draw_apart, near, which


def make_schedules(rng):
    """Several warm-ups, and steps before, at and after the end of each, in any order."""
    cases = []
    # One of them is no whole number.
    for factor in [rng.choice([1.5, 2.5]), *rng.sample([2, 3, 4, 8, 16], 2)]:
        warmup = rng.randint(6, 50)
        steps = [0, 1, warmup // 3, warmup - 1, warmup, warmup + 1, 10 * warmup]
        rng.shuffle(steps)
        base = round(rng.uniform(0.001, 0.2), 4)
        cases.append({"base_rate": base, "factor": factor, "warmup_steps": warmup})
        cases[-1]["steps"] = steps
    cases[0] |= {"warmup_steps": 1, "steps": [2, 1, 0]}
    return {"cases": cases}


def _rates(question, rate):
    return [[float(rate(step=step, **_of(case))) for step in case["steps"]]
            for case in question["cases"]]  # fmt: skip


def _of(case):
    return {"base": case["base_rate"], "factor": case["factor"], "n": case["warmup_steps"]}


def warmup(base, factor, n, step):
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
    "back": lambda base, factor, n, step: warmup(base, factor, n, step if step <= n else 0),
}


def warmup_ways(question):
    """For each way of warming up, the rates at all steps."""
    ways = {"right": warmup} | WARMUP_MISTAKES
    return {name: _rates(question, rate) for name, rate in ways.items()}


def _same_rates(said, right):
    return all_near(1e-3)(said, right)


RATE = near(3e-5)  # float32 keeps more digits, and float16 fewer


def draw_question(rng):
    """Warm-ups in which every usual mistake gives other rates."""
    return draw_apart(
        rng, make_schedules, warmup_ways, lambda one, other: not _same_rates(one, other)
    )


def judge(question, observation):
    """The rate at each step, as float32 gives it, eagerly and in a graph."""
    if not observation["is_schedule"]:
        return "it is not a Keras LearningRateSchedule", "schedule"
    ways = warmup_ways(question)
    if verdict := _wrong_rates(question, observation["eager"], ways, ""):
        return verdict
    if observation["graph_error"]:
        return f"in a graph it raised {observation['graph_error']}", "graph"
    wrong = _wrong_rates(question, observation["graph"], ways, " in a graph")
    return wrong and (wrong[0], "graph")


def _wrong_rates(question, said, ways, where):
    hint = which(said, ways, _same_rates)
    hint = "coarse" if hint == "right" else hint
    for case, rates, due in zip(question["cases"], said, ways["right"], strict=True):
        for step, rate, right in zip(case["steps"], rates, due, strict=True):
            if not RATE(rate, right):
                base, factor, n = _of(case).values()
                schedule = f"LinearWarmup({base}, {factor}, {n})"
                return (
                    f"{schedule} gives {rate:.7g} at step {step}{where}, not {right:.7g}",
                    hint,
                )
    return None
