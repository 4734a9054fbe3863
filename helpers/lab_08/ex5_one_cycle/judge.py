"""Exercise 8.5: the questions, and the verdict on what the probe saw."""

import math

from helpers.checks.judging.verdicts import draw_apart, near, which

USUAL = [0.25, 0.02]


def make_cycle(rng):
    """Schedules of different lengths, one with the usual parts, and steps to look at."""
    cases = []
    for usual in (True, False):
        steps = rng.randint(20, 400)
        warm_up, last = USUAL
        if not usual:
            warm_up, last = rng.choice([0.1, 0.2, 0.4]), round(rng.uniform(0.03, 0.1), 3)
        top = warm_up * steps
        at = [0, 1, round(0.4 * top), math.floor(top), math.ceil(top) + 2]
        at += [
            round(top + 0.5 * (steps - top)),
            steps - 1,
            steps,
            steps + 1,
            3 * steps,
            50 * steps,
        ]
        peak = round(rng.uniform(0.01, 1.5), 3)
        arguments = [peak, steps] if usual else [peak, steps, warm_up, last]
        cases.append({"arguments": arguments, "at": at, "plain": [1, 3]})
    return {"cases": cases}


def cycle_rate(arguments, step, mistake=""):
    """The rate at a step, if one makes this mistake."""
    peak, steps, warm_up, last = (*arguments, *USUAL)[:4]
    top, end = warm_up * steps, last * peak
    if mistake == "start":
        return peak
    if mistake == "fixed":
        top, end = 0.25 * steps, 0.02 * peak
    if mistake == "absolute_end":
        end = last
    if mistake == "to_zero":
        end = 0.0
    if mistake == "one_early":
        step = step + 1
    if step <= top:
        if mistake == "no_warm_up":
            return peak
        low = end if mistake == "from_last" else 0.0
        return low + (peak - low) * step / top
    if mistake == "never_down":
        return peak
    if mistake != "goes_on":
        step = min(step, steps)
    part = (step - top) / (steps - top)
    if mistake == "whole_way":
        part = step / steps
    if mistake == "cosine":
        part = (1 - math.cos(math.pi * part)) / 2
    rate = peak - (peak - end) * part
    return max(rate, 0.0) if mistake == "to_zero" else rate


CYCLE_MISTAKES = [
    "start", "fixed", "absolute_end", "to_zero", "one_early", "no_warm_up", "from_last",
    "never_down", "goes_on", "whole_way", "cosine",
]  # fmt: skip


def cycle_ways(question):
    """For each way of scheduling, the rates of all cases."""
    return {
        name: [
            [cycle_rate(case["arguments"], step, name) for step in case["at"]]
            for case in question["cases"]
        ]
        for name in ("right", *CYCLE_MISTAKES)
    }


def _same_rates(said, due):
    return near(1e-4, 1e-7)(said, due)


def draw_question(rng):
    """Schedules for which every usual mistake gives other rates."""
    return draw_apart(rng, make_cycle, cycle_ways, lambda a, b: not _same_rates(a, b))


def judge(question, observation):
    """The rates at each step, also of a schedule that was stored and read."""
    ways, cases = cycle_ways(question), observation["cases"]
    said = [case["rates"] for case in cases]
    hint = which(said, ways, _same_rates)
    for case, rates, due in zip(question["cases"], said, ways["right"], strict=True):
        for step, one, right in zip(case["at"], rates, due, strict=True):
            if not _same_rates(one, right):
                made = f"OneCycle({', '.join(map(str, case['arguments']))})"
                return f"`{made}` gives {one:.5g} at step {step}, not {right:.5g}", hint
    if not all(case["schedule"] for case in cases):
        return "what it makes is not a Keras schedule", "no_schedule"
    for asked, case in zip(question["cases"], cases, strict=True):
        due = [cycle_rate(asked["arguments"], step) for step in asked["plain"]]
        if not _same_rates(case["plain"], due):
            return f"at the plain numbers {asked['plain']} it gives other rates", "other"
    for case, due in zip(cases, ways["right"], strict=True):
        if case["stored"] is None:
            return "what its `get_config` gives cannot be stored as JSON", "config"
        if not _same_rates(case["stored"], due):
            return "made again from its own `get_config`, it gives other rates", "config"
    return None
