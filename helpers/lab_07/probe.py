"""Probes of lab 07: the cores of a TPU. None of them needs a strategy."""

import contextlib
import io

import keras
import numpy as np
import tensorflow as tf


def core_indices(answer, question, wait):
    """Ask for the images of each core, in an order that no core can rely on."""
    replicas, images, batch_size = (
        question[name] for name in ("replicas", "images", "batch_size")
    )
    return {
        "calls": [
            _plain(answer(core, replicas, images, batch_size, epoch, seed))
            for core, epoch, seed in question["calls"]
        ]
    }


def _plain(returned):
    try:
        array = np.asarray(returned)
    except ValueError:  # rows of different lengths
        return {"shape": None, "indices": None}
    if array.dtype.kind not in "iu" or array.ndim != 2:
        # An array of arrays of different lengths has kind "O".
        return {"shape": list(array.shape), "kind": array.dtype.kind, "indices": None}
    return {"shape": list(array.shape), "kind": "i", "indices": array.tolist()}


def new_optimizer(answer, question, wait):
    """Train a linear model with the answer's optimizer; report it after every step."""
    return {"cases": [_train_linear(answer, case) for case in question["cases"]]}


def _train_linear(answer, case):
    optimizer = answer(case["base_learning_rate"], case["momentum"], case["replicas"])
    x, y = np.array(case["x"]), np.array(case["y"])
    weights = keras.Variable(case["weights"], dtype="float32")
    optimizer.build([weights])
    after = []
    for _ in range(case["steps"]):
        # The mean squared error's gradient.
        now = keras.ops.convert_to_numpy(weights)
        gradient = 2 * x.T @ (x @ now - y) / len(y)
        optimizer.apply([keras.ops.convert_to_tensor(gradient, "float32")], [weights])
        after.append(keras.ops.convert_to_numpy(weights).tolist())
    return {"weights": after}


def train(answer, question, wait):
    """Let the answer's loop call steps and tests that only take time."""
    events, trained, tested = [], iter(question["losses"]), iter(question["accuracies"])

    def batches_of(epoch):
        events.append(["epoch", int(epoch)])
        # An iterator: one can go through it only once, and it has no length.
        return iter([f"{epoch}:{i}" for i in range(question["steps"])])

    def train_step(batch):
        events.append(["step", batch])
        wait(question["batch_seconds"])
        # Tensors, as in the lab. Extra steps get the last losses again.
        losses = next(trained, question["losses"][-1])
        return tuple(tf.constant(loss, tf.float32) for loss in losses)

    def test_accuracy():
        events.append(["test"])
        wait(question["test_seconds"])
        return next(tested, question["accuracies"][-1])

    printed = io.StringIO()
    epochs = range(question["first_epoch"], question["first_epoch"] + question["epochs"])
    wait(question["seconds_before"])
    with contextlib.redirect_stdout(printed):
        history = answer(
            epochs, batches_of, train_step, test_accuracy, question["log_interval"]
        )
    wait(0)
    return {
        "events": events,
        "lines": [line.strip() for line in printed.getvalue().splitlines() if line.strip()],
        "history": _history(history),
    }


def _history(history):
    names = ("accuracy", "wall_seconds")
    if not isinstance(history, dict) or set(names) - set(history):
        return None
    return {name: np.asarray(history[name], "float64").ravel().tolist() for name in names}


PROBES = {"7.1": core_indices, "7.2": new_optimizer, "7.3": train}
