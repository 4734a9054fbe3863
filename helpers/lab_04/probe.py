"""Probes of lab 04: a custom training loop."""

import contextlib
import io
import os
import time

import keras
import tensorflow as tf

# A GPU may multiply with 10 bits (TF32): too few to compare numbers.
EXACT = "CPU:0"
NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


def train_step(answer, question, wait):
    """Let the answer train a tiny network on some batches, and report the result."""
    with tf.device(EXACT):
        network, metrics = TinyNetwork(question), new_metrics()
        optimizer = keras.optimizers.SGD(question["learning_rate"], question["momentum"])
        # A tf.function makes variables in its first call only, and this may be a later
        # one.
        optimizer.build(network.model.trainable_variables)
        for x, y in batches_of(question):
            answer(network.model, optimizer, metrics, x, y)
        return network.report() | {"metrics": results(metrics)}


def valid_step(answer, question, wait):
    """Let the answer validate a tiny network on some batches."""
    with tf.device(EXACT):
        network, metrics = TinyNetwork(question), new_metrics()
        for x, y in batches_of(question):
            answer(network.model, metrics, x, y)
        return network.report() | {"metrics": results(metrics)}


def new_metrics():
    """The metrics of the lab."""
    return {
        "loss": keras.metrics.Mean(),
        "accuracy": keras.metrics.SparseCategoricalAccuracy(),
        "valid_loss": keras.metrics.Mean(),
        "valid_accuracy": keras.metrics.SparseCategoricalAccuracy(),
    }


def results(metrics):
    """The value of each metric."""
    return {name: float(metrics[name].result()) for name in NAMES}


def batches_of(question):
    """The question's batches as tensors."""
    for batch in question["batches"]:
        yield tf.constant(batch["x"], "float32"), tf.constant(batch["y"], "int64")


class TinyNetwork:
    """Two layers with given weights; training can be distinguished from inference.

    The layer between them acts like dropout and batch normalisation, but without
    chance: in training it applies a mask, and counts the examples it saw.
    """

    def __init__(self, question):
        weights = {name: tf.constant(w) for name, w in question["weights"].items()}
        self.mask = OnlyInTraining(question["mask"])
        hidden, classes = weights["kernel_2"].shape
        self.first = keras.layers.Dense(hidden, activation="tanh")
        self.second = keras.layers.Dense(classes, activation="softmax")
        inputs = keras.Input((weights["kernel_1"].shape[0],))
        outputs = self.second(self.mask(self.first(inputs)))
        self.model = keras.Model(inputs, outputs)
        self.first.set_weights([weights["kernel_1"], weights["bias_1"]])
        self.second.set_weights([weights["kernel_2"], weights["bias_2"]])
        self.mask.runs.clear()

    def report(self):
        """Weights, examples seen in training, and how often Python ran the network."""
        arrays = self.first.get_weights() + self.second.get_weights()
        names = ("kernel_1", "bias_1", "kernel_2", "bias_2")
        return {
            "weights": dict(zip(names, (a.tolist() for a in arrays), strict=True)),
            "trained_on": float(self.mask.trained_on),
            "python_runs": len(self.mask.runs),
        }


class OnlyInTraining(keras.layers.Layer):
    """Multiply by a mask and count examples, with ``training=True`` only."""

    def __init__(self, mask):
        super().__init__()
        self.by, self.runs = mask, _Log()
        self.trained_on = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x, training=False):
        self.runs.add()
        if not training:
            return x
        self.trained_on.assign_add(tf.cast(tf.shape(x)[0], "float32"))
        return x * tf.constant(self.by, "float32")


class _Log:
    """A counter: Keras would wrap a plain list, and a graph would miss it."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.count = 0

    def add(self):
        self.count += 1

    def __len__(self):
        return self.count


def train_model(answer, question, wait):
    """Give the answer steps that take time, and report what it called and printed."""
    metrics = {name: keras.metrics.Mean() for name in NAMES}
    calls = []

    def step(kind, prefix, seconds):
        def one(x, y):
            x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
            trained = sum(call[0] == "train" for call in calls)
            calls.append([kind, x.numpy().tolist()])
            wait(seconds)
            # The result depends on the number of training steps before.
            metrics[f"{prefix}loss"].update_state(x / (1.0 + trained))
            metrics[f"{prefix}accuracy"].update_state((y + trained) % 3 == 0)

        return one

    train, valid = (
        tf.data.Dataset.from_tensor_slices(
            (tf.constant(rows["x"], "float32"), tf.constant(rows["y"], "int64"))
        ).batch(question["batch_size"])
        for rows in (question["train"], question["valid"])
    )
    seconds = question["batch_seconds"]
    printed = io.StringIO()
    wait(0)
    with _time_zone(question["time_zone"]), contextlib.redirect_stdout(printed):
        history = answer(
            step("train", "", seconds["train"]),
            step("valid", "valid_", seconds["valid"]),
            metrics,
            train,
            valid,
            question["epochs"],
        )
    wait(0)
    lines = [line.strip() for line in printed.getvalue().splitlines()]
    return {
        "calls": calls,
        "printed": [line for line in lines if line],
        "history": _plain(history),
    }


def _plain(history):
    if history is None or not hasattr(history, "items"):
        return None
    return {
        str(name): [float(value) for value in values] for name, values in history.items()
    }


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
