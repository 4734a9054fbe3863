"""A change is kept only if it is surely faster and still reaches the target."""

import time

import numpy as np
import pytest

from helpers.lab_12.trials import Run, Trial, compare


def runs(*seconds, accuracy=0.9):
    return [Run(one, accuracy) for one in seconds]


@pytest.mark.parametrize(
    ("before", "after", "decision"),
    [
        (runs(2.0, 2.2, 2.1), runs(1.0, 1.1, 1.04), "keep"),
        (runs(2.0, 2.2, 2.1), runs(2.1, 2.0, 2.2), "cannot tell"),
        (runs(1.0, 1.1, 1.04), runs(2.0, 2.2, 2.1), "drop"),
        (runs(2.0, 2.2, 2.1), runs(1.0, 1.1, 1.04, accuracy=0.7), "drop"),
    ],
)
def test_the_decision_needs_speed_and_accuracy(before, after, decision):
    assert Trial(before, after).decision(0.8) == decision


def test_the_gain_is_paired_by_seed():
    gain = Trial(runs(2.0, 20.0), runs(1.0, 10.0)).gain
    assert gain == pytest.approx((2, 2, 2))


def test_both_run_with_each_seed_and_take_turns_to_begin():
    called, x, y = [], np.zeros((4, 28, 28, 1), "uint8"), np.arange(4, dtype="uint8")

    def training(name, seconds, labels):
        def train(images, answers, seed):
            called.append((name, seed))
            time.sleep(seconds)
            return lambda tests: labels

        return train

    slow, quick = training("slow", 0.05, y), training("quick", 0.0, [0, 1, 2, 0])
    found = compare(slow, quick, (x, y, x, y), [7, 8])
    assert called == [("slow", 7), ("quick", 7), ("quick", 8), ("slow", 8)]
    assert found.accuracies() == (1.0, 0.75)
    assert min(run.seconds for run in found.before) >= 0.05
    assert found.gain.middle > 2
