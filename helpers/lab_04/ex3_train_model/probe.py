"""Exercise 4.3: drives an answer, expects nothing."""

import contextlib
import os
import time
from collections.abc import Callable
from numbers import Real
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.printed import Printed
from helpers.lab_04.probing import NAMES


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Give the answer steps that take time, on a device that is busy afterwards."""
    device = Device(wait, question["seconds"]["device"])
    metrics = {name: OnDevice(device) for name in NAMES}
    for metric in metrics.values():
        metric.update_state(question["left_over"])
    trained, served = 0, Served()

    def step(kind, prefix):
        def one(x, y):
            nonlocal trained
            x, y = tf.convert_to_tensor(x)[:, 0], tf.convert_to_tensor(y)
            printed.cut()
            device.events.append([kind, np.round(x.numpy().astype(float), 3).tolist()])
            wait(question["seconds"][kind])
            # The result depends on the number of training steps before.
            metrics[f"{prefix}loss"].update_state(x / (1.0 + trained % 5))
            metrics[f"{prefix}accuracy"].update_state((y + trained) % 4 == 0)
            if kind == "train":
                trained, device.busy = trained + 1, True

        return one

    train, valid = (
        tf.data.Dataset.from_tensor_slices(
            (_with_words(rows["x"], question["words"]), tf.constant(rows["y"], "int64"))
        )
        for rows in (question["train"], question["valid"])
    )
    # As in the lab, each pass has an order of its own.
    train = train.shuffle(len(question["train"]["x"]), question["shuffle_seed"])
    train, valid = (data.batch(question["batch_size"]) for data in (train, valid))
    train = train.map(served.count)
    given = dict(metrics)
    wait(0)
    with _time_zone(question["time_zone"]), Printed() as printed:
        steps = step("train", ""), step("valid", "valid_")
        history = answer(*steps, given, train, valid, question["epochs"])
    device.busy = False
    events = list(device.events)
    wait(0)
    return {
        "events": events,
        "printed": printed.parts(),
        "history": _plain(history),
        "served": served.batches,
        "changed": "" if list(given.items()) == list(metrics.items()) else "`metrics`",
    }


def _with_words(x, words):
    """Rows of so many numbers, of which only the first counts."""
    return tf.pad(tf.constant(x, "float32")[:, None], [[0, 0], [0, words - 1]])


def _plain(history):
    if not hasattr(history, "items"):
        return None
    # A tensor is not a number yet: the run card would refuse it.
    return {
        str(name): [float(v) if isinstance(v, Real | np.ndarray) else None for v in values]
        for name, values in history.items()
    }


class Served:
    """How many batches a data set has given, to a loop that trains or to any other."""

    batches = 0

    def count(self, x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Count one batch, as a step of the data set."""
        with tf.control_dependencies([tf.numpy_function(self._add, [], tf.int64)]):
            return tf.identity(x), tf.identity(y)

    def _add(self):
        self.batches += 1
        return np.int64(self.batches)


class Device:
    """Has work left when a training step returns: who reads a number waits for it."""

    def __init__(self, wait: Callable, seconds: list[float]) -> None:
        self.wait, self.seconds = wait, seconds
        self.events, self.busy, self.waited = [], False, 0

    def read(self) -> None:
        self.events.append(["busy" if self.busy else "read", None])
        if self.busy:
            self.busy = False
            self.wait(self.seconds[self.waited % len(self.seconds)])
            self.waited += 1


class OnDevice(keras.metrics.Mean):
    """A metric whose result is still on the device."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device

    def result(self) -> "Result":
        return Result(super().result(), self.device)


class Result:
    """A tensor that tells its device when it is read."""

    def __init__(self, tensor: tf.Tensor, device: Device) -> None:
        self._tensor, self._device = tensor, device

    def numpy(self) -> np.ndarray:
        self._device.read()
        return self._tensor.numpy()

    def __array__(
        self, dtype: np.dtype | None = None, copy: bool | None = None
    ) -> np.ndarray:
        return np.array(self.numpy(), dtype)

    def __tf_tensor__(self, dtype: tf.DType | None = None, name: str | None = None) -> Any:
        return tf.constant(self.numpy(), dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tensor, name)


def _reads(name):
    return lambda self, *more: getattr(self.numpy(), name)(*more)


def _computes(name):
    def compute(self, *more):
        more = [getattr(one, "_tensor", one) for one in more]
        return Result(getattr(self._tensor, name)(*more), self._device)

    return compute


READS = ("float", "int", "bool", "format", "str", "repr", "round", "lt", "le", "gt", "ge")
COMPUTES = ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow")
for _name in READS:
    setattr(Result, f"__{_name}__", _reads(f"__{_name}__"))
for _name in COMPUTES:
    setattr(Result, f"__{_name}__", _computes(f"__{_name}__"))


@contextlib.contextmanager
def _time_zone(name):
    """Put the process into another time zone for a while."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        if before is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = before
        time.tzset()
