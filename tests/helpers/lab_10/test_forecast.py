"""Lab 10's laws: they find what made the numbers, and say what sources say."""

import numpy as np
import pytest

from helpers.exercise import find_exercise
from helpers.lab_10 import forecast
from helpers.network import models
from helpers.run_card.documents import open_card

law = find_exercise("10.2").reference


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


def planned(**changed):
    return forecast.plan(forecast.DEFAULTS | changed, law)


def test_a_plan_takes_the_quickest_all_reduce():
    """Issue 29: a flat ring makes 1,024 devices slower than 8, and a tree does not."""
    small = {"t0_seconds": 1e-3, "peak": 60_000.0, "parameters": 203_530}
    few = planned(**small)["hours"]
    hours = {
        way: planned(**small, devices=1024, all_reduce=way)["hours"]
        for way in ("ring", "tree", "two levels", "quickest")
    }
    assert few / hours["ring"] == pytest.approx(0.28, abs=0.05)
    assert few / hours["tree"] == pytest.approx(2.6, abs=0.1)
    assert hours["quickest"] == min(hours.values())


def test_a_plan_costs_device_hours():
    said = planned(devices=16, price=3.0, watts=500.0)
    assert said["dollars"] == pytest.approx(3 * said["device_hours"])
    assert said["kwh"] == pytest.approx(0.5 * said["device_hours"])


def test_failures_are_those_of_all_devices():
    """2,112 days of a GPU are 264 of a machine with eight."""
    assert forecast.DEFAULTS["device_days"] == pytest.approx(8 * 264, rel=0.001)
    few, many = (planned(devices=n)["save_every_seconds"] for n in (16, 64))
    assert few == pytest.approx(2 * many)


def test_the_law_misses_what_horovod_reported():
    few, many = (
        forecast.published_efficiencies(law, "VGG-16", gpus, 64, 25)["overlapped"]
        for gpus in (128, 512)
    )
    assert few == pytest.approx(0.812, abs=5e-4)
    assert many == pytest.approx(0.797, abs=5e-4)


def test_a_range_is_scored_by_its_width_and_its_miss():
    score = forecast.interval_score
    assert score(50, 200, 100) == pytest.approx(np.log(4))
    assert score(90, 110, 100) < score(50, 200, 100)
    assert score(90, 110, 121) == pytest.approx(np.log(110 / 90) + 20 * np.log(1.1))
    assert score(90, 110, 81) == pytest.approx(np.log(110 / 90) + 20 * np.log(90 / 81))


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
        ("device_days", 1, 1000),
        ("critical_batch", 100, 10_000),
        ("peak", 100, 1000),
        ("parameters", 1e9, 1e7),
    ],
)
def test_a_change_that_helps_shortens_the_training(name, worse, better):
    # Where messages are not hidden by the computing.
    slow_link = {"link_gbit": 0.1, "devices": 64}
    hours = [planned(**slow_link | {name: value})["hours"] for value in (better, worse)]
    assert hours[0] < hours[1]


def test_accumulation_hides_a_slow_link():
    once, often = (planned(link_gbit=0.1, devices=64, accumulation=n) for n in (1, 16))
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
