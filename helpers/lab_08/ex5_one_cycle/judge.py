"""Exercise 8.5: the questions, and the verdict on what the probe saw."""

import math
from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.verdict import Wrong, wrong

USUAL = [0.25, 0.02]


def make_cycle(rng: Random) -> dict:
    """Schedules of different lengths, one with the usual parts, and steps to look at."""
    cases = []
    for usual in (False, True):
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


def cycle_rate(arguments: list, step: float, mistake: str = "") -> float:
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


CYCLE = Formula(
    lambda case, mistake: [
        cycle_rate(case["arguments"], step, mistake) for step in case["at"]
    ],
    (
        "start", "fixed", "absolute_end", "to_zero", "one_early", "no_warm_up",
        "from_last", "never_down", "goes_on", "whole_way", "cosine",
    ),
    relative=1e-4,
    absolute=3e-7,  # float32 near 0
    apart=1e-4,
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Schedules for which every usual mistake gives other rates."""
    return CYCLE.draw(rng, make_cycle)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The rates at each step, also of a schedule that was stored and read."""
    cases = observation["cases"]
    rates = [case["rates"] for case in cases]
    if different := CYCLE.different(question, rates):
        return _wrong_rate(different, _of_the_last(question, rates))
    if not all(case["schedule"] for case in cases):
        return wrong("no_schedule", "no_schedule")
    plain = {"cases": [case | {"at": case["plain"]} for case in question["cases"]]}
    if different := CYCLE.different(plain, [case["plain"] for case in cases]):
        steps = different.case["plain"]
        return wrong("other", "plain", requirement="plain", steps=steps)
    stored = [case["stored"] for case in cases]
    if None in stored:
        return wrong("config", "not_stored")
    if CYCLE.different(question, stored):
        return wrong("config", "made_again")
    return None


def _of_the_last(question, rates):
    """Whether all schedules are as the last one that was made."""
    *_, last = question["cases"]
    mixed = [case | {"arguments": last["arguments"]} for case in question["cases"]]
    return not CYCLE.different({"cases": mixed}, rates)


def _wrong_rate(different, as_the_last):
    case, part, said, due, mistake = different
    step = case["at"][part]
    mistake = mistake or ("shared" if as_the_last else "")
    return wrong(
        mistake or "other", "rate", requirement="" if mistake else _broken(case, step),
        arguments=case["arguments"], rate=said, step=step, right=due,
    )  # fmt: skip


def _broken(case, step):
    """The sentence that an unusual mistake breaks: the case with all arguments is first."""
    if len(case["arguments"]) == 2:
        return "usual"
    _, steps, warm_up, _ = case["arguments"]
    until = {"from_zero": 0, "up": warm_up * steps, "down": steps - 1, "end": steps}
    return next((key for key, last in until.items() if step <= last), "stays")
