"""The statistics of the speed record, against known values and by simulation."""

import math

import numpy as np
import pytest

from helpers.speed_record import scores


@pytest.mark.parametrize(
    ("probability", "degrees", "quantile"),
    [  # as tables of Student's distribution have them
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.99, 3, 4.541),
        (0.99, 9, 2.821),
        (0.975, 9, 2.262),
        (0.95, 30, 1.697),
    ],
)
def test_quantiles_agree_with_the_tables(probability, degrees, quantile):
    assert scores.t_quantile(probability, degrees) == pytest.approx(quantile, abs=6e-4)


def test_probabilities_agree_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    for degrees in range(1, 14):
        for t in (-8.0, -1.5, 0.0, 0.3, 2.0, 40.0):
            expected = stats.t.cdf(t, degrees)
            assert scores.t_probability(t, degrees) == pytest.approx(expected, abs=1e-12)


def test_ten_equal_seeds_above_the_target_reach_it():
    assert scores.reaches([0.921] * 10, 0.92)
    assert not scores.reaches([0.919] * 10, 0.92)
    assert not scores.reaches([0.92] * 10, 0.92)  # p is a half


def test_one_lucky_seed_reaches_nothing():
    assert not scores.reaches([0.95], 0.94)
    assert not scores.reaches([0.918] * 9 + [0.95], 0.92)


def test_a_crash_is_a_guess():
    values = [0.945 + 0.0005 * k for k in range(9)]
    assert scores.reaches([*values, 0.944], 0.94)
    assert not scores.reaches([*values, None], 0.94)


def test_a_network_just_below_the_target_gets_in_at_most_once_in_a_hundred():
    rng = np.random.default_rng(0)
    tries = rng.normal(0.92, 0.002, (4000, 10))
    share = np.mean([scores.reaches(list(one), 0.92) for one in tries])
    assert share < 0.015


def test_the_interval_of_a_score_covers_it():
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(1000):
        calibrations = rng.lognormal(3, 0.1, 10)
        seconds = 2 * calibrations * rng.lognormal(0, 0.05, 10)
        low, middle, high = scores.score(seconds, calibrations)
        assert low < middle < high
        covered.append(low < 2 < high)
    assert 0.93 < np.mean(covered) < 0.97


def test_a_machine_that_slows_down_does_not_change_a_ratio():
    drift = [1 + 0.1 * k for k in range(10)]
    ours, theirs = [9 * d for d in drift], [10 * d for d in drift]
    assert scores.ratio(ours, theirs).middle == pytest.approx(0.9)
    assert scores.is_record(scores.ratio(ours, theirs))
    assert not scores.is_record(scores.ratio(theirs, ours))
    assert not scores.is_record(scores.ratio(ours[:1], theirs[:1]))  # one pair says nothing


def test_a_seed_is_compared_with_the_calibrations_beside_it():
    assert scores.beside([20.0, 22.0, 20.0]) == [21.0, 21.0]
    assert scores.has_drifted(20.0, 21.1, 0.05)
    assert not scores.has_drifted(21.0, 20.1, 0.05)


def test_few_values_have_an_infinite_interval_and_raise_nothing():
    assert scores.mean_interval([0.9]).high == math.inf
    assert math.isnan(scores.mean_interval([]).middle)
    assert scores.p_value([], 0.9) == 1
    assert scores.score([2.0], [1.0]).low == 0
