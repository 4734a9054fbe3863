"""Probes of lab 04: a custom training loop."""

import contextlib
import os
import time
from numbers import Real

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.printed import Printed

# A GPU may multiply with 10 bits (TF32): too few to compare numbers.
EXACT = "CPU:0"
NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


def train_step(answer, question, wait):
    """Let the answer train a tiny network on some batches, and report the result."""

    def prepare(network):
        optimizer = Optimizer(question["learning_rate"], question["momentum"])
        # A tf.function makes variables in its first call only, and this may be a later one.
        optimizer.build(network.model.trainable_variables)
        return optimizer.runs, (network.model, optimizer)

    return _steps(answer, question, prepare)


def valid_step(answer, question, wait):
    """Let the answer validate a tiny network on some batches."""
    return _steps(answer, question, lambda network: (Count(), (network.model,)))


def _steps(answer, question, prepare):
    with tf.device(EXACT):
        network, metrics = TinyNetwork(question), _metrics(question["metrics"])
        runs, arguments = prepare(network)
        given = dict(metrics)
        for batch in question["batches"]:
            x, y = tf.constant(batch["x"], "float32"), tf.constant(batch["y"], "int64")
            answer(*arguments, given, x, y)
        same = list(given) == list(metrics) and all(given[n] is metrics[n] for n in NAMES)
        return network.report() | {
            "metrics": {
                name: [float(metric.total), float(metric.count)]
                for name, metric in metrics.items()
            },
            "optimizer_runs": runs.n,
            "graphs_apart": any(
                all(one is not other for other in network.between.runs.graphs)
                for one in runs.graphs
            ),
            "changed": "" if same else "`metrics`",
        }


def _metrics(states):
    """The metrics of the lab, which have counted before."""
    metrics = {
        name: keras.metrics.SparseCategoricalAccuracy()
        if "accuracy" in name
        else keras.metrics.Mean()
        for name in NAMES
    }
    for name, (total, count) in states.items():
        metrics[name].total.assign(total)
        metrics[name].count.assign(count)
    return metrics


class Count:
    """How often Python was there, and in which graphs: Keras would wrap a plain list."""

    def __init__(self):
        self.n, self.graphs = 0, []

    def add(self):
        graph = tf.compat.v1.get_default_graph()
        while hasattr(getattr(graph, "outer_graph", None), "outer_graph"):
            graph = graph.outer_graph  # of the tf.function that Python called
        self.n += 1
        self.graphs.append(graph)


class Optimizer(keras.optimizers.SGD):
    """Counts how often Python, not a graph, applied gradients."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.runs = Count()

    def apply(self, *arguments, **more):
        self.runs.add()
        return super().apply(*arguments, **more)


class TinyNetwork:
    """Two layers with given weights; training can be distinguished from inference.

    The layer between them acts like dropout and batch normalisation, but without
    chance: in training it applies a mask. And it counts the examples it saw.
    """

    def __init__(self, question):
        kernel_1, bias_1, kernel_2, bias_2 = map(np.array, question["weights"])
        self.between = OnlyInTraining(question["mask"])
        self.first = keras.layers.Dense(len(bias_1), activation="tanh")
        self.second = keras.layers.Dense(len(bias_2), activation="softmax")
        inputs = keras.Input((len(kernel_1),))
        # Behind another layer Keras does not recognise the softmax, and mend a loss.
        same = keras.layers.Rescaling(1.0)
        outputs = same(self.second(self.between(self.first(inputs))))
        self.model = keras.Model(inputs, outputs)
        self.first.set_weights([kernel_1, bias_1])
        self.second.set_weights([kernel_2, bias_2])
        self.between.runs = Count()

    def report(self):
        """Weights, examples seen, how often Python ran the network, what can learn."""
        weights = self.first.get_weights() + self.second.get_weights()
        return {
            "weights": [w.tolist() for w in weights],
            "saw": float(self.between.saw),
            "trained_on": float(self.between.trained_on),
            "network_runs": self.between.runs.n,
            "trainable": len(self.model.trainable_variables),
        }


class OnlyInTraining(keras.layers.Layer):
    """Multiply by a mask with ``training=True`` only, and count examples."""

    def __init__(self, mask):
        super().__init__()
        self.by, self.runs = mask, Count()
        self.saw = self.add_weight(shape=(), initializer="zeros", trainable=False)
        self.trained_on = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x, training=False):
        self.runs.add()
        examples = tf.cast(tf.shape(x)[0], "float32")
        self.saw.assign_add(examples)
        if not training:
            return x
        self.trained_on.assign_add(examples)
        return x * tf.constant(self.by, "float32")


def train_model(answer, question, wait):
    """Give the answer steps that take time, on a device that is busy afterwards."""
    device = Device(wait, question["seconds"]["device"])
    metrics = {name: OnDevice(device) for name in NAMES}
    trained = 0

    def step(kind, prefix):
        def one(x, y):
            nonlocal trained
            x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
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
            (tf.constant(rows["x"], "float32"), tf.constant(rows["y"], "int64"))
        ).batch(question["batch_size"])
        for rows in (question["train"], question["valid"])
    )
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
        "changed": "" if list(given.items()) == list(metrics.items()) else "`metrics`",
    }


def _plain(history):
    if not hasattr(history, "items"):
        return None
    # A tensor is not a number yet: the run card would refuse it.
    return {
        str(name): [float(v) if isinstance(v, Real | np.ndarray) else None for v in values]
        for name, values in history.items()
    }


class Device:
    """Has work left when a training step returns: who reads a number waits for it."""

    def __init__(self, wait, seconds):
        self.wait, self.seconds = wait, seconds
        self.events, self.busy, self.waited = [], False, 0

    def read(self):
        self.events.append(["busy" if self.busy else "read", None])
        if self.busy:
            self.busy = False
            self.wait(self.seconds[self.waited % len(self.seconds)])
            self.waited += 1


class OnDevice(keras.metrics.Mean):
    """A metric whose result is still on the device."""

    def __init__(self, device):
        super().__init__()
        self.device = device

    def result(self):
        return Result(super().result(), self.device)


class Result:
    """A tensor that tells its device when it is read."""

    def __init__(self, tensor, device):
        self._tensor, self._device = tensor, device

    def numpy(self):
        self._device.read()
        return self._tensor.numpy()

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numpy(), dtype)

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.constant(self.numpy(), dtype)

    def __getattr__(self, name):
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


PROBES = {"4.1": train_step, "4.2": valid_step, "4.3": train_model}
