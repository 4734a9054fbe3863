"""Buckets over an imitated link take as long as exercise 10.1 says, in real processes."""

import random
import statistics

import pytest

from helpers.exercise import find_exercise
from helpers.lab_10 import bucket_speeds
from helpers.lab_10.ex1_buckets.judge import make_steps
from helpers.lab_10.workers.buckets import pack
from helpers.network import models

BUCKETS = find_exercise("10.1").reference


def test_workers_pack_as_the_exercise_does():
    for seed in range(20):
        for sizes, ready_at, latency, bandwidth, least in make_steps(random.Random(seed))[
            "cases"
        ]:
            end = 0.0
            for ready, held in pack(sizes, ready_at, least):
                end = max(end, ready) + latency + held / bandwidth
            right = BUCKETS(sizes, ready_at, latency, bandwidth, least)
            assert end == pytest.approx(right)


def test_a_link_makes_all_reduces_of_messages():
    link = bucket_speeds.Link(0.001, 1e6)
    assert link.of_all_reduces(2) == pytest.approx((0.002, 1e6))
    assert link.of_all_reduces(4) == pytest.approx((0.006, 2e6 / 3))


def test_backward_has_every_weight_and_ends_with_the_first_layer():
    model = models.wide_resnet(10, 1)
    sizes, ready_at = bucket_speeds.backward(model, 0.5)
    trainable = sum(int(w.shape.num_elements()) for w in model.trainable_weights)
    assert sum(sizes) == 4 * trainable
    assert ready_at == sorted(ready_at)
    assert ready_at[-1] == pytest.approx(0.5)
    assert ready_at[0] < 0.01  # the last layer is a small dense one


@pytest.mark.slow
def test_processes_take_as_long_as_is_predicted_or_longer(tmp_path):
    gradients = [40_000] * 10, [0.02 * place for place in range(1, 11)]
    link = bucket_speeds.Link(0.01, 4e6)
    sizes = [1, 100_000, 1e9]
    found = bucket_speeds.measure(tmp_path / "new", 2, gradients, link, sizes, 3)
    assert list(found) == sizes
    for size, seconds in found.items():
        predicted = BUCKETS(*gradients, *link.of_all_reduces(2), size)
        assert len(seconds) == 3
        assert min(seconds) > 0.98 * predicted
        assert statistics.median(seconds) < 3 * predicted
