"""Recorded answers to 9.4: wrong ones, and right ones in other styles."""

import datetime
import math

import numpy as np


def both_intervals(save, between, restart):
    young = math.sqrt(2 * save * between)
    part = save / (2 * between)
    daly = young * (1 + math.sqrt(part) / 3 + part / 9) - save if part < 1 else between
    return young, daly, save / daly + (daly / 2 + restart) / between


def saves_always(save_seconds, restart_seconds, machine_days, machines):
    return save_seconds, save_seconds, 0.0


def of_one_machine(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, machine_days * 86_400, restart_seconds)


def in_days(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, machine_days / machines, restart_seconds)


def in_hours(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, 24 * machine_days / machines, restart_seconds)


def more_live_longer(save_seconds, restart_seconds, machine_days, machines):
    return both_intervals(save_seconds, machine_days * 86_400 * machines, restart_seconds)


def interval_answer(change):
    """An answer to 9.4 that changes the right three numbers."""

    def answer(save_seconds, restart_seconds, machine_days, machines):
        between = machine_days * 86_400 / machines
        right = both_intervals(save_seconds, between, restart_seconds)
        return change(*right, save_seconds, between, restart_seconds)

    return answer


def lost_by(interval, save, between, restart):
    return save / interval + (interval / 2 + restart) / between


def other_daly(formula):
    """Wrong in Daly's interval; what is lost follows from it."""

    def change(young, daly, lost, save, between, restart):
        if save < 2 * between:
            daly = formula(young, save, between)
        return young, daly, lost_by(daly, save, between, restart)

    return interval_answer(change)


def other_limit(formula):
    def change(young, daly, lost, save, between, restart):
        if save >= 2 * between:
            daly = formula(young, save, between)
        return young, daly, lost_by(daly, save, between, restart)

    return interval_answer(change)


def whole_daly(young, save, between):
    part = save / (2 * between)
    return young * (1 + math.sqrt(part) / 3 + part / 9) - save


def other_lost(formula):
    return interval_answer(lambda y, d, lost, s, m, r: (y, d, formula(y, d, lost, s, m, r)))


def no_two_under_the_root(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    young = math.sqrt(save_seconds * between)
    part = save_seconds / (2 * between)
    daly = young * (1 + part**0.5 / 3 + part / 9) - save_seconds if part < 1 else between
    return young, daly, lost_by(daly, save_seconds, between, restart_seconds)


def leaves_the_formula_early(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    young = math.sqrt(2 * save_seconds * between)
    daly = between
    if save_seconds < between:
        daly = whole_daly(young, save_seconds, between)
    return young, daly, lost_by(daly, save_seconds, between, restart_seconds)


def leaves_the_formula_late(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    young = math.sqrt(2 * save_seconds * between)
    daly = between
    if save_seconds <= 2 * between:
        daly = whole_daly(young, save_seconds, between)
    return young, daly, lost_by(daly, save_seconds, between, restart_seconds)


WRONG_INTERVALS = {
    "saves_always": saves_always,
    "young_without_the_save": interval_answer(lambda y, d, lost, s, m, r: (y - s, d, lost)),
    "young_is_daly": interval_answer(lambda y, d, lost, s, m, r: (d, d, lost)),
    "daly_is_young": other_daly(lambda y, s, m: y),
    "daly_keeps_the_save": other_daly(lambda y, s, m: whole_daly(y, s, m) + s),
    "daly_of_one_term": other_daly(lambda y, s, m: y - s),
    "daly_of_two_terms": other_daly(lambda y, s, m: y * (1 + (s / 2 / m) ** 0.5 / 3) - s),
    "half_of_the_save": other_daly(lambda y, s, m: whole_daly(y, s, m) + s / 2),
    "no_limit": other_limit(whole_daly),
    "limit_is_young": other_limit(lambda y, s, m: y),
    "limit_is_the_save": other_limit(lambda y, s, m: s),
    "lost_by_young": other_lost(lambda y, d, lost, s, m, r: lost_by(y, s, m, r)),
    "loses_whole_intervals": other_lost(lambda y, d, lost, s, m, r: s / d + (d + r) / m),
    "restarts_at_once": other_lost(lambda y, d, lost, s, m, r: s / d + d / 2 / m),
    "restarts_twice": other_lost(lambda y, d, lost, s, m, r: s / d + (d / 2 + 2 * r) / m),
    "never_fails": other_lost(lambda y, d, lost, s, m, r: s / d),
    "saves_for_nothing": other_lost(lambda y, d, lost, s, m, r: (d / 2 + r) / m),
    "a_share": other_lost(lambda y, d, lost, s, m, r: lost / (1 + lost)),
    "a_percentage": other_lost(lambda y, d, lost, s, m, r: 100 * lost),
    "gives_two": interval_answer(lambda y, d, lost, s, m, r: (y, d)),
}
for _name, _answer in WRONG_INTERVALS.items():
    _answer.__name__ = _name


def plain_intervals(save_seconds, restart_seconds, machine_days, machines):
    between = machine_days * 86_400 / machines
    return both_intervals(save_seconds, between, restart_seconds)


def with_timedelta(save_seconds, restart_seconds, machine_days, machines):
    between = (datetime.timedelta(days=machine_days) / machines).total_seconds()
    # A timedelta has whole microseconds: with so few seconds that would show.
    between = machine_days * 24 * 60 * 60 / machines if between < 1e4 else between
    return both_intervals(save_seconds, between, restart_seconds)


def with_rates(save_seconds, restart_seconds, machine_days, machines):
    failures_per_second = machines / machine_days / 24 / 3600
    young = (2 * save_seconds / failures_per_second) ** 0.5
    if save_seconds * failures_per_second >= 2:
        daly = 1 / failures_per_second
    else:
        x = math.sqrt(save_seconds * failures_per_second / 2)
        daly = young * (1 + x / 3 + x * x / 9) - save_seconds
    per_failure = restart_seconds + daly / 2
    return young, daly, save_seconds / daly + failures_per_second * per_failure


def with_numpy_root(save_seconds, restart_seconds, machine_days, machines):
    m = np.float64(machine_days) * 86_400 / machines
    young = np.sqrt(2 * save_seconds * m)
    x = np.sqrt(save_seconds / (2 * m))
    daly = np.where(x < 1, young * np.polyval([1 / 9, 1 / 3, 1], x) - save_seconds, m)
    return young, daly, save_seconds / daly + (daly / 2 + restart_seconds) / m


def gives_a_list(*case):
    return list(plain_intervals(*case))


def gives_an_array(*case):
    return np.array(plain_intervals(*case))


def with_dict(*case):
    named = dict(zip(("young", "daly", "lost"), plain_intervals(*case), strict=True))
    return named["young"], named["daly"], named["lost"]


def adds_in_parts(save_seconds, restart_seconds, machine_days, machines):
    seconds = 24 * 60 * 60 * machine_days
    m = seconds / machines
    young = math.sqrt(2) * math.sqrt(save_seconds) * math.sqrt(m)
    daly = m
    if save_seconds < 2 * m:
        daly = young + young * math.sqrt(save_seconds / (2 * m)) / 3
        daly += young * save_seconds / (18 * m)
        daly -= save_seconds
    lost = save_seconds / daly
    lost += daly / (2 * m)
    lost += restart_seconds / m
    return young, daly, lost


def with_nested(save_seconds, restart_seconds, machine_days, machines):
    def daly_of(delta, m):
        if delta >= 2 * m:
            return m
        half = delta / (2 * m)
        return (2 * delta * m) ** 0.5 * (1 + half**0.5 / 3 + half / 9) - delta

    m = machine_days * 86_400 / machines
    daly, lost = daly_of(save_seconds, m), 0.0
    lost += lost_by(daly, save_seconds, m, restart_seconds)
    return (2 * save_seconds * m) ** 0.5, daly, lost


def per_month(save_seconds, restart_seconds, machine_days, machines):
    """Counts the saves and the failures of a month."""
    month = 30 * 86_400
    m = machine_days * 86_400 / machines
    young, daly, _ = both_intervals(save_seconds, m, restart_seconds)
    saves, failures = month / daly, month / m
    lost = saves * save_seconds + failures * (daly / 2 + restart_seconds)
    return young, daly, lost / month


RIGHT_INTERVALS = [
    plain_intervals, with_timedelta, with_rates, with_numpy_root, gives_a_list,
    gives_an_array, with_dict, adds_in_parts, with_nested, per_month,
    lambda save, restart, days, n: both_intervals(save, days * 86_400 / n, restart),
]  # fmt: skip

WRONG = [
    ("young", "start", saves_always),
    ("seconds", "days", in_days),
    ("seconds", "hours", in_hours),
    ("between", "one_machine", of_one_machine),
    ("between", "more_machines", more_live_longer),
    ("young", "no_two", no_two_under_the_root),
    ("young", "young", WRONG_INTERVALS["young_without_the_save"]),
    ("young", "young", WRONG_INTERVALS["young_is_daly"]),
    ("daly", "daly_is_young", WRONG_INTERVALS["daly_is_young"]),
    ("daly", "save_not_left_out", WRONG_INTERVALS["daly_keeps_the_save"]),
    ("daly", "first_term_only", WRONG_INTERVALS["daly_of_one_term"]),
    ("daly", "without_ninth", WRONG_INTERVALS["daly_of_two_terms"]),
    ("daly", "daly", WRONG_INTERVALS["half_of_the_save"]),
    ("limit", "no_limit", WRONG_INTERVALS["no_limit"]),
    ("limit", "limit_is_young", WRONG_INTERVALS["limit_is_young"]),
    ("limit", "limit", WRONG_INTERVALS["limit_is_the_save"]),
    ("limit", "early_limit", leaves_the_formula_early),
    ("limit", "above_limit", leaves_the_formula_late),
    ("lost_saves", "no_saves", WRONG_INTERVALS["saves_for_nothing"]),
    ("lost_saves", "lost_by_young", WRONG_INTERVALS["lost_by_young"]),
    ("lost_failures", "whole_interval", WRONG_INTERVALS["loses_whole_intervals"]),
    ("lost_failures", "no_restart", WRONG_INTERVALS["restarts_at_once"]),
    ("lost_failures", "lost", WRONG_INTERVALS["restarts_twice"]),
    ("lost_failures", "no_failures", WRONG_INTERVALS["never_fails"]),
    ("lost_unit", "share", WRONG_INTERVALS["a_share"]),
    ("lost_unit", "percent", WRONG_INTERVALS["a_percentage"]),
    ("lost_unit", "form", WRONG_INTERVALS["gives_two"]),
]
RIGHT = RIGHT_INTERVALS
