"""Exercise 9.4: the questions, and the verdict on what the probe saw."""

import math
from random import Random

from helpers.checks.judging.formulas import COUNT, Formula
from helpers.verdict import Wrong, phrase, wrong

DAY_SECONDS = 86_400
WHAT = phrase("young"), phrase("daly"), phrase("lost")


def make_intervals(rng: Random) -> dict:
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


def intervals(case: list[float], mistake: str = "") -> list[float]:
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


INTERVALS = Formula(
    intervals,
    (
        "start", "one_machine", "hours", "days", "more_machines", "no_two",
        "daly_is_young", "save_not_left_out", "first_term_only", "without_ninth",
        "no_limit", "limit_is_young", "early_limit", "above_limit", "lost_by_young",
        "whole_interval", "no_restart", "no_failures", "no_saves", "share", "percent",
    ),
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Jobs for which every usual mistake gives other numbers."""
    return INTERVALS.draw(rng, make_intervals)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Both intervals and the lost seconds of each job."""
    different = INTERVALS.different(question, observation["said"])
    if different is None:
        return None
    case, part, said, due, mistake = different
    if part == COUNT:
        return wrong("form", "count", numbers=len(said))
    what = WHAT[part]
    save, _, days, machines = case
    at_limit = what.key == "daly" and save >= 2 * days * DAY_SECONDS / machines
    unusual = "limit" if at_limit else what.key
    return wrong(mistake or unusual, "value", what=what, case=case, value=said, right=due)
