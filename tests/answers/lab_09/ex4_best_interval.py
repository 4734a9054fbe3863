"""Recorded answers to 9.4: wrong ones, and right ones in other styles."""

import math
from functools import partial

import numpy as np


def searched(cost, count=20_000, result=lambda interval, lost, job: (interval, lost)):
    """An answer to 9.4 that tries many intervals."""

    def answer(save_seconds, restart_seconds, failure_seconds):
        job = save_seconds, restart_seconds, failure_seconds
        intervals = np.geomspace(0.1, failure_seconds, count)
        costs = cost(intervals, *job) + 0 * intervals
        place = int(np.argmin(costs))
        return result(float(intervals[place]), float(costs[place]), job)

    return answer


def right_cost(interval, save, restart, failure):
    return save / interval + (interval / 2 + restart) / failure


def other_unit(change):
    return searched(right_cost, result=change)


def by_the_clock(interval, save, restart, failure):
    failing = (interval / 2 + restart) / failure
    return (save / interval + failing) / np.maximum(1 - failing, 1e-9)


def save_repeated(interval, save, restart, failure):
    return save / interval + ((interval + save) / 2 + restart) / failure


def restarts_twice(interval, save, restart, failure):
    return right_cost(interval, save, 2 * restart, failure)


def tries(intervals_of):
    """The right cost, of too few intervals."""

    def answer(save_seconds, restart_seconds, failure_seconds):
        job = save_seconds, restart_seconds, failure_seconds
        tried = intervals_of(*job)
        best = min(tried, key=lambda interval: right_cost(interval, *job))
        return best, right_cost(best, *job)

    return answer


class LooksUpTwoDigits:
    """Keeps its results by two digits of each number, in which two jobs may agree."""

    __name__ = "looks_up_two_digits"

    def __init__(self):
        self.found = {}

    def __call__(self, *job):
        digits = tuple(f"{seconds:.1e}" for seconds in job)
        return self.found.setdefault(digits, searched(right_cost)(*job))


class Remembers:
    """Keeps the best interval of all jobs that it was ever asked about."""

    __name__ = "remembers"

    def __init__(self):
        self.best = None

    def __call__(self, save, restart, failure):
        found, _ = searched(right_cost)(save, restart, failure)
        self.best = self.best or found
        return self.best, right_cost(self.best, save, restart, failure)


def without_two(save, restart, failure):
    interval = math.sqrt(save * failure)
    return interval, right_cost(interval, save, restart, failure)


def less_the_save(save, restart, failure):
    interval = math.sqrt(2 * save * failure) - save
    return interval, right_cost(interval, save, restart, failure)


def with_geomspace(save_seconds, restart_seconds, failure_seconds):
    intervals = np.geomspace(0.1, failure_seconds, 20_000)
    costs = save_seconds / intervals + (intervals / 2 + restart_seconds) / failure_seconds
    best = np.argmin(costs)
    return intervals[best], costs[best]


def by_thirds(save_seconds, restart_seconds, failure_seconds):
    """Leaves out the worse third of a range, again and again."""
    low, high = 0.1, failure_seconds

    def lost(interval):
        return right_cost(interval, save_seconds, restart_seconds, failure_seconds)

    while high / low > 1.001:
        one, other = low + (high - low) / 3, high - (high - low) / 3
        if lost(one) < lost(other):
            high = other
        else:
            low = one
    return (low + high) / 2, lost((low + high) / 2)


def in_steps(save_seconds, restart_seconds, failure_seconds):
    """Walks uphill only after it has come down."""
    interval, lost = 0.1, math.inf
    while True:
        now = save_seconds / interval + interval / (2 * failure_seconds)
        now += restart_seconds / failure_seconds
        if now > lost:
            return interval / 1.002, lost
        interval, lost = interval * 1.002, now


def by_halving_the_slope(save_seconds, restart_seconds, failure_seconds):
    low, high = 0.1, failure_seconds
    for _ in range(60):
        middle = (low * high) ** 0.5
        slope = -save_seconds / middle**2 + 1 / (2 * failure_seconds)
        low, high = (low, middle) if slope > 0 else (middle, high)
    return low, right_cost(low, save_seconds, restart_seconds, failure_seconds)


def by_young(save_seconds, restart_seconds, failure_seconds):
    interval = math.sqrt(2 * save_seconds * failure_seconds)
    saving = repeating = save_seconds / interval  # at the minimum both are equal
    return interval, saving + repeating + restart_seconds / failure_seconds


def with_list(save_seconds, restart_seconds, failure_seconds):
    found = []
    power = 0
    while (interval := 0.1 * 1.005**power) <= failure_seconds:
        saves = save_seconds / interval
        repeated = interval / 2 / failure_seconds
        found.append((saves + repeated + restart_seconds / failure_seconds, interval))
        power += 1
    lost, interval = min(found)
    return [interval, lost]


def twice_finer(save_seconds, restart_seconds, failure_seconds):
    """A coarse grid, then a fine one around its best."""
    cost = partial(
        right_cost, save=save_seconds, restart=restart_seconds, failure=failure_seconds
    )
    coarse = np.logspace(-1, np.log10(failure_seconds), 200)
    best = coarse[cost(coarse).argmin()]
    fine = np.linspace(best * 0.8, best * 1.2, 2001)
    return np.array([fine[cost(fine).argmin()], cost(fine).min()])


def per_failure(save_seconds, restart_seconds, failure_seconds):
    """Counts what is lost between two failures, and divides at the end."""

    def lost(interval):
        saves = failure_seconds / interval
        return (saves * save_seconds + interval / 2 + restart_seconds) / failure_seconds

    tried = [math.exp(power / 500) for power in range(-1200, 10_000)]
    best = min((t for t in tried if t <= failure_seconds), key=lost)
    return best, lost(best)


def by_golden_section(save, restart, failure):
    golden = (5**0.5 - 1) / 2
    a, b = math.log(0.1), math.log(failure)
    cost = lambda x: right_cost(math.exp(x), save, restart, failure)  # noqa: E731
    for _ in range(80):
        c, d = b - golden * (b - a), a + golden * (b - a)
        a, b = (a, d) if cost(c) < cost(d) else (c, b)
    return math.exp(a), cost(a)


def by_newton(save_seconds, restart_seconds, failure_seconds):
    """Newton's method on the slope, from the left, where it cannot overshoot."""
    interval = 0.1
    for _ in range(100):
        slope = -save_seconds / interval**2 + 0.5 / failure_seconds
        bend = 2 * save_seconds / interval**3
        interval -= slope / bend
    return interval, right_cost(interval, save_seconds, restart_seconds, failure_seconds)


WRONG = [
    ("failures", "start", lambda save, restart, failure: (save, 1.0)),
    ("failures", "start", lambda save, restart, failure: (100 * save, 0.01)),
    ("saves", "no_saves", searched(lambda t, d, r, m: (t / 2 + r) / m)),
    ("saves", "saves_once", searched(lambda t, d, r, m: (d + t / 2 + r) / m)),
    ("repeats", "whole_interval", searched(lambda t, d, r, m: d / t + (t + r) / m)),
    ("repeats", "no_repeats", searched(lambda t, d, r, m: d / t + r / m)),
    ("repeats", "save_repeated", searched(save_repeated)),
    ("restarts", "no_restarts", searched(lambda t, d, r, m: d / t + t / 2 / m)),
    ("restarts", "restarts_always", searched(lambda t, d, r, m: (d + r) / t + t / 2 / m)),
    ("restarts", "restarts_twice", searched(restarts_twice)),
    ("failures", "by_the_clock", searched(by_the_clock)),
    ("unit", "share", other_unit(lambda t, lost, job: (t, lost / (1 + lost)))),
    ("unit", "percent", other_unit(lambda t, lost, job: (t, 100 * lost))),
    ("unit", "an_hour", other_unit(lambda t, lost, job: (t, 3600 * lost))),
    ("unit", "between_failures", other_unit(lambda t, lost, job: (t, lost * job[2]))),
    ("unit", "in_an_interval", other_unit(lambda t, lost, job: (t, lost * t))),
    ("unit", "other", other_unit(lambda t, lost, job: (t, lost / 60))),
    ("pair", "swapped", other_unit(lambda t, lost, job: (lost, t))),
    ("pair", "form", other_unit(lambda t, lost, job: (t, lost, job[0]))),
    ("pair", "raised", other_unit(lambda t, lost, job: t)),
    ("least", "coarse", tries(lambda d, r, m: np.arange(0.1, m, 1))),
    ("least", "coarse", searched(right_cost, count=100)),
    ("least", "coarse", without_two),
    ("least", "coarse", less_the_save),
    ("least", "not_least", tries(lambda d, r, m: np.arange(10, 10_000, 0.5))),
    ("least", "not_least", tries(lambda d, r, m: np.linspace(60, m, 100_000))),
    ("least", "not_least", tries(lambda d, r, m: [m / 2])),
    ("least", "not_least", tries(lambda d, r, m: np.geomspace(1, m, 20_000))),
    ("least", "coarse", tries(lambda d, r, m: np.geomspace(0.1, 0.7 * m, 20_000))),
    ("least", "not_least", Remembers()),
    ("unit", "other", LooksUpTwoDigits()),
    ("least", "no_interval", lambda save, restart, failure: (0.0, 0.0)),
]
RIGHT = [
    with_geomspace, by_thirds, in_steps, by_halving_the_slope, by_young, with_list,
    twice_finer, per_failure, by_golden_section, by_newton, searched(right_cost),
]  # fmt: skip
