"""Four ways to train on several workers: what they hold, send and learn."""

import json

import numpy as np
import pytest

from helpers.errors import LabError
from helpers.exercise import find_exercise
from helpers.lab_11.sharding import sharded_training, zero, zero_figures
from helpers.lab_11.sharding.sharded_training import (
    WAYS,
    largest_difference,
    predicted_bytes,
    train,
)
from helpers.workers.threads import run_in_threads
from kit.authoring.recorded_answers import recorded_answers

# One process compiles or trains for all of these tests.
pytestmark = pytest.mark.xdist_group("zero")

SHARDED_STEP = find_exercise("11.3").reference
WEIGHTS, WORKERS = 4800, 3  # every layer has as many for each worker
answers = recorded_answers("11.3")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zero") / "a folder"
    return train(folder, WAYS, SHARDED_STEP, WORKERS, WEIGHTS, 2, 1)


def alone():
    """The same training in this process: the mean gradient of all workers, and Adam."""
    weights = np.random.default_rng(1).standard_normal(WEIGHTS, "float32")
    tasks, state = [zero.Targets(WEIGHTS, 1, rank) for rank in range(WORKERS)], None
    for _ in range(sharded_training.STEPS):
        gradients = [task.gradient(slice(None), weights) for task in tasks]
        weights, state = zero.adam(weights, np.mean(gradients, axis=0), state)
    return weights


def test_a_workers_large_arrays_go_back_to_the_system(tmp_path, monkeypatch):
    monkeypatch.setattr(
        sharded_training, "WORKER", "tests.helpers.workers.says_environment"
    )
    assert train(tmp_path, [], SHARDED_STEP, 2, WEIGHTS, 1, 1) == {}
    for rank in range(2):
        said = json.loads((tmp_path / f"said-{rank}.json").read_text())
        assert said["environment"]["MALLOC_MMAP_THRESHOLD_"] == "65536"


def test_every_way_trains_as_one_process_would(trained):
    right = alone()
    for way, done in trained.items():
        assert largest_difference(done.weights, done.weights[0]) == 0, way
        assert largest_difference(done.weights, right) < 1e-4, way
        assert len(done.seconds) == 2


def test_a_shared_optimizer_gives_the_same_bits(trained):
    one, other = trained["data parallel"], trained["ZeRO-1"]
    assert largest_difference(one.weights, other.weights) == 0


def test_workers_hold_and_send_what_the_formulas_say(trained):
    for way, due in predicted_bytes(WEIGHTS, WORKERS).items():
        assert trained[way].held | {"sent": trained[way].sent} == due, way


@pytest.mark.parametrize("answer", answers.RIGHT, ids=lambda one: one.__name__)
def test_whatever_the_style_both_trainings_add_in_the_same_order(answer):
    """With an update that returns the mean, the function is an all-reduce."""
    weights = np.random.default_rng(2).standard_normal(23, "float32")
    gradients = np.random.default_rng(3).standard_normal((4, 23), "float32")

    def shared(gradient, rank, workers, send, receive):
        ring = rank, workers, send, receive
        return answer(weights, gradient, None, zero.adam, *ring)[0]

    def whole(gradient, rank, workers, send, receive):
        ring = rank, workers, send, receive
        return zero.data_parallel_step(weights, None, gradient, answer, ring)[0]

    (one, *rest), _ = run_in_threads([shared] * 4, list(gradients))
    others, _ = run_in_threads([whole] * 4, list(gradients))
    assert all(np.array_equal(one, other) for other in (*rest, *others))


def test_a_function_that_is_wrong_ends_in_a_line(tmp_path):
    with pytest.raises(LabError):
        train(tmp_path, WAYS[:2], answers.returns_no_state, 2, 1000, 1, 0)


def test_the_figure_has_a_solid_bar_and_an_outline_for_each_way(trained):
    measured = {way: done.held | {"sent": done.sent} for way, done in trained.items()}
    predicted = predicted_bytes(WEIGHTS, WORKERS)
    held, sent = zero_figures.held_and_sent(measured, predicted).axes
    assert len(held.patches) == 2 * 3 * len(WAYS)
    assert len(sent.patches) == 2 * len(WAYS)
    tops = [bar.get_y() + bar.get_height() for bar in held.patches]
    assert max(tops) == pytest.approx(16 * WEIGHTS / 1e6)
