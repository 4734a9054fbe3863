"""The script that lab 09 writes out: several workers train what one process trains."""

import numpy as np
import pytest
import tensorflow as tf

from helpers.exercise import find_exercise
from helpers.lab_09.workers import worker
from helpers.lab_09.workers.script import results, train_on_workers, write_script

# 300 images in global batches of 64: the last has 44.
SETTINGS = {
    "train_images": 300, "batch_size": 64, "epochs": 2, "seed": 0, "learning_rate": 0.1,
    "fit": False,
}  # fmt: skip
SHARD = find_exercise("9.2").reference


def test_two_workers_train_what_one_process_trains(tmp_path):
    write_script(tmp_path / "a folder", SETTINGS, SHARD)
    found = train_on_workers(tmp_path / "a folder", 2)
    default = tf.distribute.get_strategy()
    result, weights = worker.train(default, 0, SETTINGS, SHARD)
    assert [one["images"] for one, _ in found] == [300, 300]
    for one, own in found:
        assert one["losses"] == pytest.approx(result["losses"], rel=1e-4)
        for a, b in zip(own, weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
    for a, b in zip(found[0][1], found[1][1], strict=True):
        assert (a == b).all()


def test_a_batch_that_does_not_divide_is_one_of_whole_parts():
    assert worker.shape_of(SETTINGS, 3) == (21, 63, 5)
    assert worker.shape_of(SETTINGS | {"batch_size": 1}, 3) == (1, 3, 100)


def test_a_training_that_diverged_leaves_nan(tmp_path):
    left = {"losses": [2.0, float("nan")], "seconds": [0.1, 0.1], "images": 8}
    worker.save(tmp_path, 0, left, [np.ones(3)])
    assert "NaN" not in (tmp_path / "result-0.json").read_text()
    [(result, [weights])] = results(tmp_path, 1)
    np.testing.assert_array_equal(result["losses"], left["losses"])
    assert (result["images"], weights.sum()) == (8, 3)
