"""The calibration load trains, and twice the steps take twice as long."""

import time

from helpers.speed_record.calibration import calibration_load, calibration_seconds


def test_the_load_takes_steps_that_train():
    load = calibration_load()
    first, last = load(1), load(10)
    assert last < first
    began = time.process_time()
    load(5)
    few = time.process_time() - began
    began = time.process_time()
    load(20)
    assert 2 < (time.process_time() - began) / few < 8
    assert calibration_seconds(load, 2) > 0
