"""A simulated month of failures loses what a walk through it loses, and never less."""

import math

import numpy as np
import pytest

from helpers.exercise import find_exercise
from helpers.lab_09.workers import failures
from helpers.lab_09.workers.failures import DAY_SECONDS, lost_seconds

# Seconds of an interval, a save and a restart; days between failures, machines, days.
JOBS = {
    "rare failures": (3600, 60, 600, 300, 100, 30),
    "restarts that fail": (600, 60, 7200, 1, 40, 3),
    "saves that fail": (60, 3600, 10, 1, 10, 3),
    "no time for a save": (1800, 1, 0, 0.05, 10, 1),
    "interval longer than the month": (90 * DAY_SECONDS, 1, 1, 1e9, 1, 30),
    "all at once": (0.5, 0.0, 0.0, 0.001, 1, 1),
}
any_job = pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)


def walked(interval, save, restart, failed_at, end):
    """Seconds of training that are kept, failure by failure and save by save."""
    now = kept = 0.0
    coming = [*sorted(failed_at), end]
    while coming:
        stop = coming.pop(0)
        while now + interval + save <= stop:
            now += interval + save
            kept += interval
        now = stop + restart  # what was trained since the last save is lost
    return kept


@any_job
def test_it_keeps_what_a_walk_through_the_month_keeps(job):
    interval, save, restart, machine_days, machines, days = job
    for seed in range(5):
        rng, same = (np.random.default_rng(seed) for _ in range(2))
        lost, seen = lost_seconds(*job, rng)
        end = days * DAY_SECONDS
        count = same.poisson(days / machine_days, machines).sum()
        failed_at = same.uniform(0, end, count)
        kept = walked(interval, save, restart, failed_at, end)
        assert seen == count
        assert lost == (pytest.approx(end / kept - 1) if kept else math.inf)


@any_job
def test_no_month_loses_less_than_its_saves(job):
    for seed in range(5):
        lost, _ = lost_seconds(*job, np.random.default_rng(seed))
        assert lost >= job[1] / job[0] * (1 - 1e-12)


@any_job
def test_the_same_month_loses_no_less_with_longer_saves_or_restarts(job):
    interval, save, restart, *rest = job
    for seed in range(5):
        lost = [
            lost_seconds(
                interval, save * by, restart * of, *rest, np.random.default_rng(seed)
            )
            for by, of in ((1, 1), (1, 3), (3, 3))
        ]
        assert lost == sorted(lost)


def test_machines_fail_as_often_as_is_said():
    for machine_days, machines, days in ((264, 1000, 30), (0.5, 1, 400), (10, 7, 365)):
        rng = np.random.default_rng(0)
        month = 60, 1, 1, machine_days, machines, days
        mean = np.mean([lost_seconds(*month, rng)[1] for _ in range(40)])
        expected = machines * days / machine_days
        assert mean == pytest.approx(expected, abs=5 * (expected / 40) ** 0.5)


@pytest.mark.parametrize(
    ("interval", "save", "days"),
    [(math.inf, 1, 30), (10, math.inf, 30), (10, 1, 0), (0, 1, 30), (0, 0, 30)],
    ids=["no save ever", "a save without end", "no days", "only saves", "nothing"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_nothing_is_kept_the_loss_is_infinite(interval, save, days):
    rng = np.random.default_rng(0)
    lost, _ = lost_seconds(interval, save, 60, 264, 1000, days, rng)
    assert lost == math.inf


def test_the_simulated_loss_can_be_stored_in_a_card():
    lost, seen = failures.lost_seconds(600, 10, 60, 1, 10, 3, np.random.default_rng(0))
    assert type(lost) is float
    assert type(seen) is int


def test_a_simulated_month_agrees_with_the_formula_where_failures_are_rare():
    rng = np.random.default_rng(0)
    save, restart, machine_days, machines = 20, 60, 200, 100
    best_interval = find_exercise("9.4").reference
    failure_seconds = machine_days * DAY_SECONDS / machines
    interval, expected = best_interval(save, restart, failure_seconds)
    lost = [
        lost_seconds(interval, save, restart, machine_days, machines, 300, rng)[0]
        for _ in range(20)
    ]
    assert np.mean(lost) == pytest.approx(expected, rel=0.1)


def test_without_failures_only_saves_are_lost():
    rng = np.random.default_rng(0)
    lost, seen = lost_seconds(990, 10, 60, 1e12, 1, 10, rng)
    assert seen == 0
    assert lost == pytest.approx(10 / 990)
