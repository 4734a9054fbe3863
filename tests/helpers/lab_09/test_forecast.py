"""Lab 09's laws: they find what made the numbers, and say what sources say."""

import numpy as np
import pytest

from helpers.exercise import find_exercise
from helpers.lab_09 import forecast
from helpers.lab_09.workers import failures
from helpers.network import models
from helpers.run_card.records import open_card

law, save_interval = find_exercise("9.5").reference, find_exercise("9.4").reference


@pytest.mark.parametrize(
    ("save_minutes", "hours_between", "minutes"),
    [(5, 24, 117), (5, 6, 57), (5, 0.25, 9.1)],
)
def test_dalys_interval_is_that_of_his_figures(save_minutes, hours_between, minutes):
    """Daly (2006), captions of figures 3 to 5."""
    job = 60 * save_minutes, 600, hours_between / 24, 1
    assert save_interval(*job)[1] / 60 == pytest.approx(minutes, rel=0.01)


def test_the_laws_numbers_are_found_again_in_its_seconds():
    rng = np.random.default_rng(0)
    for workers in (2, 3, 9):
        t0, peak, latency = (
            rng.uniform(1e-3, 1e-1),
            rng.uniform(10, 1e4),
            rng.uniform(1e-5, 1e-2),
        )
        bandwidth = rng.uniform(1e6, 1e10)
        alone = {b: t0 + b / peak for b in (1, 30, 400)}
        assert forecast.fit_step(alone) == pytest.approx((t0, peak))
        ring = {
            size: 2 * (workers - 1) * (latency + size / workers / bandwidth)
            for size in (4, 10**6, 10**8)
        }
        assert forecast.fit_link(ring, workers) == pytest.approx((latency, bandwidth))


def test_a_busy_machine_gives_no_negative_cost():
    """Where more seems to take less time, the law stays one that can be used."""
    latency, bandwidth = forecast.fit_link({4000: 0.01, 400_000: 0.005}, 2)
    t0, peak = forecast.fit_step({16: 0.001, 64: 0.008})
    assert min(latency, bandwidth, peak) > 0
    assert t0 >= 0


def test_the_stated_error_grows_with_the_largest_miss():
    assert forecast.stated_factor([1.0, 1.0], [1.0, 1.0]) == pytest.approx(1.1)
    assert forecast.stated_factor([1.0, 3.0], [1.0, 2.0]) == pytest.approx(2.25)
    assert forecast.stated_factor([2.0], [3.0]) == pytest.approx(2.25)


def test_the_published_p100_is_met_at_both_batch_sizes():
    for network, speeds in forecast.P100_SPEEDS.items():
        t0_seconds, peak = forecast.published_law(network)
        for batch, speed in speeds.items():
            assert batch / (t0_seconds + batch / peak) == pytest.approx(speed)


def test_a_simulated_month_agrees_with_the_formula_where_failures_are_rare():
    rng = np.random.default_rng(0)
    save, restart, machine_days, machines = 20, 60, 200, 100
    interval, _, expected = save_interval(save, restart, machine_days, machines)
    lost = [
        failures.lost_seconds(interval, save, restart, machine_days, machines, 300, rng)[0]
        for _ in range(20)
    ]
    assert np.mean(lost) == pytest.approx(expected, rel=0.1)


def test_without_failures_only_saves_are_lost():
    rng = np.random.default_rng(0)
    lost, seen = failures.lost_seconds(990, 10, 60, 1e12, 1, 10, rng)
    assert seen == 0
    assert lost == pytest.approx(10 / 990)


def test_who_never_gets_to_a_save_loses_all():
    rng = np.random.default_rng(0)
    lost, _ = failures.lost_seconds(10 * 86_400, 1, 1, 1, 100, 5, rng)
    assert lost == float("inf")


def planned(**changed):
    return forecast.plan(forecast.DEFAULTS | changed, law, save_interval)


def test_a_plans_parts_agree_with_each_other():
    said = planned(devices=16)
    assert said["device_hours"] == pytest.approx(16 * said["hours"])
    trained = said["steps"] * said["step_seconds"] / 3600
    assert said["hours"] == pytest.approx(trained * (1 + said["lost_seconds"]))
    assert said["global_batch"] / said["images_per_second"] == pytest.approx(
        said["step_seconds"]
    )


@pytest.mark.parametrize(
    ("name", "worse", "better"),
    [
        ("link_gbit", 1, 100),
        ("compression", 1, 50),
        ("value_bytes", 4, 2),
        ("straggler_spread", 0.5, 0.0),
        ("machine_days", 1, 1000),
        ("critical_batch", 100, 10_000),
        ("peak", 100, 1000),
        ("parameters", 1e9, 1e7),
    ],
)
def test_what_helps_shortens_the_training(name, worse, better):
    slow_link = {"link_gbit": 1}  # where nothing is hidden by the computing
    hours = [planned(**slow_link | {name: value})["hours"] for value in (better, worse)]
    assert hours[0] < hours[1]


def test_accumulation_hides_a_slow_link():
    once, often = (planned(link_gbit=1, accumulation=n) for n in (1, 16))
    assert often["efficiency"] > once["efficiency"]
    assert often["global_batch"] == 16 * once["global_batch"]


def test_one_device_waits_for_nobody():
    said = planned(devices=1, straggler_spread=1.0)
    assert said["efficiency"] == pytest.approx(1)


def test_the_critical_batch_is_the_bend_of_lab_03():
    assert forecast.critical_batch_of_lab_03() == {}
    card = open_card("03_time_to_accuracy", {}, {})
    card.measure("bend", [80.0, 120.0, 900.0])
    assert forecast.critical_batch_of_lab_03() == {"critical_batch": 120.0}
    card.finish()
    open_card("03_time_to_accuracy", {}, {})  # the setup cell was run again, no more
    assert forecast.critical_batch_of_lab_03() == {"critical_batch": 120.0}


def test_the_law_of_lab_02_comes_with_the_parameters_of_its_network():
    assert forecast.law_of_lab_02() == {}
    card = open_card("02_throughput", {"depth": 10, "width": 1}, {})
    card.measure("fit", {"t0_seconds": 0.01, "peak_images_per_second": 500.0})
    parameters = models.wide_resnet(10, 1).count_params()
    expected = {"t0_seconds": 0.01, "peak": 500.0, "parameters": parameters}
    assert forecast.law_of_lab_02() == expected
    card.finish()
    open_card("02_throughput", {"depth": 16, "width": 4}, {})  # measured nothing yet
    assert forecast.law_of_lab_02() == expected
