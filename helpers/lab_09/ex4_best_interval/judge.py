"""Exercise 9.4: the questions, and the verdict on what the probe saw."""

import math
from random import Random

from helpers.verdict import Wrong, wrong

LONGEST_OFF = 1.0101  # 1% off, and how numbers are rounded
SAME_COST = 1e-4
# Seconds of a save and between two failures: best intervals from a minute to a day.
JOBS = (
    ((2.06, 2.08), (1000, 5000)), ((20, 90), (10_000, 60_000)), ((200, 600), (3000, 9000)),
    ((1000, 3000), (800_000, 2_000_000)),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Jobs with quick and slow saves; in some a restart takes longer than a save."""
    jobs = [(rng.uniform(*saves), rng.uniform(*failures)) for saves, failures in JOBS]
    # Best intervals near both ends of the range, and half way between whole seconds.
    for best in (rng.uniform(0.12, 0.18), rng.randint(2, 8) + 0.5):
        failure = rng.uniform(1000, 5000) * best
        jobs.append((best**2 / 2 / failure, failure))
    failure = rng.uniform(2000, 9000)
    jobs.append((rng.uniform(0.3, 0.45) * failure, failure))
    cases = []
    for save, failure in jobs:
        restart = rng.uniform(0.02, 0.3) * failure
        cases.append([float(f"{n:.4g}") for n in (save, restart, failure)])
    # Three that differ from the first by 3% in one number, the first of them not in its
    # two leading digits: what an answer has found for the first is wrong for them.
    cases += [
        [1.03 * n if place == changed else n for place, n in enumerate(cases[0])]
        for changed in range(3)
    ]
    rng.shuffle(cases)
    return {"cases": cases}


def cost(interval: float, case: list[float], mistake: str = "") -> float:
    """Seconds lost for each second of training, if one makes this mistake."""
    save, restart, failure = case
    saves, repeats, restarts = save / interval, interval / 2 / failure, restart / failure
    saves = {"no_saves": 0.0, "saves_once": save / failure}.get(mistake, saves)
    repeats = {
        "whole_interval": 2 * repeats, "no_repeats": 0.0,
        "save_repeated": (interval + save) / 2 / failure,
    }.get(mistake, repeats)  # fmt: skip
    restarts = {
        "no_restarts": 0.0, "restarts_always": restart / interval,
        "restarts_twice": 2 * restarts,
    }.get(mistake, restarts)  # fmt: skip
    lost = saves + repeats + restarts
    if mistake == "by_the_clock":
        # Failures come by the clock, not by the seconds of training: 1 + lost of these.
        lost = (saves + repeats + restarts) / max(1 - repeats - restarts, 1e-9)
    return {
        "share": lost / (1 + lost), "percent": 100 * lost, "an_hour": 3600 * lost,
        "between_failures": lost * failure, "in_an_interval": lost * interval,
    }.get(mistake, lost)  # fmt: skip


MISTAKES = (
    "no_saves", "saves_once", "whole_interval", "no_repeats", "save_repeated",
    "no_restarts", "restarts_always", "restarts_twice", "by_the_clock", "share", "percent",
    "an_hour", "between_failures", "in_an_interval",
)  # fmt: skip


def judge(question: dict, observation: dict) -> Wrong | None:
    """For each job: is the cost that of the interval, and is there a better interval?"""
    replies = observation["said"]
    cases = list(zip(question["cases"], replies, strict=True))
    if wrong_form := next((said for said in replies if len(said) != 2), None):
        return wrong("form", "count", numbers=len(wrong_form))
    for case, (interval, lost) in cases:
        if not interval > 0 or not _is_cost(lost, interval, case):
            return _wrong_cost(cases, case, interval, lost)
    times, case, interval = max((_times_off(t, case), case, t) for case, (t, _) in cases)
    if times <= LONGEST_OFF:
        return None
    mistake, best = "coarse" if times < 2 else "not_least", _best(case)
    facts = {"value": interval, "right": best, "lost": cost(best, case)}
    return wrong(mistake, "interval", case=case, **facts)


def _best(case):
    """Young (1974): there the derivative of the cost is zero."""
    return math.sqrt(2 * case[0] * case[2])


def _times_off(interval, case):
    return max(interval / _best(case), _best(case) / interval)


def _is_cost(lost, interval, case, mistake=""):
    return math.isclose(lost, cost(interval, case, mistake), rel_tol=SAME_COST)


def _wrong_cost(cases, case, interval, lost):
    """The mistake that gives the cost in all jobs; or what else is wrong with one."""
    positive = all(said[0] > 0 for _, said in cases)
    for mistake in MISTAKES if positive else ():
        if all(_is_cost(said[1], said[0], job, mistake) for job, said in cases):
            break
    else:
        mistake = _unusual(cases, positive)
    right = cost(interval, case) if interval > 0 else math.inf
    return wrong(mistake, "cost", case=case, interval=interval, value=lost, right=right)


def _unusual(cases, positive):
    if all(said[1] > 0 and _is_cost(said[0], said[1], job) for job, said in cases):
        return "swapped"
    if positive and all(
        math.isclose(said[1], job[0] / said[0], rel_tol=SAME_COST) for job, said in cases
    ):
        return "start"
    if not positive:
        return "no_interval"
    return "other"
