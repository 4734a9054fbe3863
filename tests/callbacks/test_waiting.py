"""Clocks that stop before validation wait for a device that works from a queue."""

import json
import os
import subprocess
import sys

import pytest

from helpers.files import REPOSITORY

# One process trains for all of these tests.
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("waiting")]

ON_JAX = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
# With Keras on JAX even a processor works from a queue. The last callback finds out how
# much of the epoch's work was still to be done when those before it had stopped.
TRAINS = """
import json
import time

import keras
import numpy as np

import callbacks
from callbacks.waiting import wait_for_device


class Late(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_test_begin(self, logs=None):
        stopped = time.perf_counter()
        wait_for_device(self.model)
        done = time.perf_counter()
        self.left = (done - stopped) / (done - self.began)


layers = [keras.layers.Dense(600) for _ in range(20)]
network = keras.Sequential([keras.Input((600,)), *layers])
network.compile("sgd", "mse")
x = np.zeros((1200, 600), "float32")
way = {"batch_size": 300, "validation_data": (x[:1], x[:1]), "verbose": 0}
network.fit(x, x, **way)  # JAX compiles
found = {}
for name in ("nothing", "EpochRecorder", "TrainingDashboard"):
    own, late = [] if name == "nothing" else [getattr(callbacks, name)()], Late()
    network.fit(x, x, callbacks=[*own, late], **way)
    found[name] = late.left
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """The share of an epoch's training that is left when each clock has stopped."""
    ended = subprocess.run(
        [sys.executable, "-c", TRAINS], capture_output=True, text=True, check=False,
        cwd=tmp_path_factory.mktemp("training"),  # where the dashboard puts its picture
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | ON_JAX,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def test_without_waiting_most_of_the_work_would_be_left(left):
    assert left["nothing"] > 0.5


@pytest.mark.parametrize("clock", ["EpochRecorder", "TrainingDashboard"])
def test_a_clock_stops_when_the_work_is_done(clock, left):
    assert left[clock] < 0.25
