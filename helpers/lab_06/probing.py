"""Code that the probes of lab 06 share."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.replicas import simulated_replicas
from helpers.machine.watchdog import no_hang


def global_loss(answer: Callable, question: dict, wait: Callable) -> dict:
    """Train one weight vector on replicas, with the answer as their loss."""
    strategy = simulated_replicas(question["replicas"])
    with strategy.scope():
        kernel = tf.Variable(question["weights"], dtype="float32")
        optimizer = keras.optimizers.SGD(question["learning_rate"])
        optimizer.build([kernel])
    seen = {"shares": [], "weights": [], "constant": False}

    def replica_step(x, y, global_batch):
        with tf.GradientTape() as tape:
            losses = tf.square(tf.linalg.matvec(x, kernel) - y)
            share = tf.convert_to_tensor(answer(losses, global_batch))
        gradient = tape.gradient(share, kernel)
        if gradient is None:  # no losses have none either
            seen["constant"] = seen["constant"] or bool(x.shape[0])
            gradient = tf.zeros_like(kernel)
        optimizer.apply([gradient], [kernel])
        return share

    for batch in question["batches"]:
        starts = np.cumsum([0, *batch["split"]])

        def part(context, name, batch=batch, starts=starts):
            i = context.replica_id_in_sync_group
            # An array, because a part without images still has three columns.
            return tf.constant(np.array(batch[name], "float32")[starts[i] : starts[i + 1]])

        x, y = (
            strategy.experimental_distribute_values_from_function(
                lambda context, name=name, part=part: part(context, name)
            )
            for name in ("x", "y")
        )
        run = tf.function(lambda x, y, n: strategy.run(replica_step, args=(x, y, n)))
        with no_hang("training in this check"):
            shares = run(x, y, len(batch["x"]))
        local = strategy.experimental_local_results(shares)
        seen["shares"].append([_finite(share.numpy()) for share in local])
        seen["weights"].append(_finite(kernel.numpy()))
    return seen


def _finite(numbers):
    """Plain numbers; None for one that is infinite or not a number."""
    return np.where(np.isfinite(numbers), numbers.astype(object), None).tolist()


def tiny_network(
    question: dict, images: list
) -> "tuple[keras.Model, keras.optimizers.SGD, WhoSeesWhat]":
    """A softmax layer, its optimizer, and the layer that notes in `images` who saw what."""
    watcher, mask = WhoSeesWhat(images), OnlyInTraining(question["mask"])
    kernel, bias = map(np.array, question["weights"])
    inputs = keras.Input((1 + len(kernel),))
    dense = keras.layers.Dense(len(bias), activation="softmax")
    # Behind another layer Keras does not recognise the softmax, and corrects no loss.
    same = keras.layers.Rescaling(1.0)
    model = keras.Model(inputs, same(dense(mask(watcher(inputs)))))
    dense.set_weights([kernel, bias])
    optimizer = keras.optimizers.SGD(question["learning_rate"], question["momentum"])
    optimizer.build(model.trainable_variables)
    watcher.runs[0] = 0
    return model, optimizer, watcher


class OnlyInTraining(keras.layers.Layer):
    """Multiply by a mask with ``training=True`` only, as dropout does, without chance."""

    def __init__(self, mask: list[float]) -> None:
        super().__init__()
        self.by = np.array(mask, "float32")

    def call(self, x: keras.KerasTensor, training: bool = False) -> keras.KerasTensor:
        return x * self.by if training else x


def value_of(variable: keras.Variable) -> np.ndarray:
    """The value of a variable that has a copy on every replica."""
    return (variable * 1).numpy()


def numbered_rows(question: dict) -> tuple[np.ndarray, np.ndarray]:
    x = np.concatenate([batch["x"] for batch in question["batches"]])
    y = np.concatenate([batch["y"] for batch in question["batches"]])
    x = np.column_stack([np.arange(len(x)), x]).astype("float32")
    return x, np.eye(len(question["weights"][1]), dtype="float32")[y]


class WhoSeesWhat(keras.layers.Layer):
    """Notes which replica sees which rows, and takes the rows' numbers away."""

    def __init__(self, seen: list) -> None:
        super().__init__()
        self.runs = np.zeros(1, int)  # of Python; Keras would wrap a plain list
        self.note = lambda replica, rows: seen.append(
            [int(replica), rows.numpy().astype(int).tolist()]
        )

    def call(self, x: keras.KerasTensor) -> keras.KerasTensor:
        self.runs[0] += 1
        # Without a strategy, a replica context exists as well.
        run = tf.distribute.has_strategy() and tf.distribute.get_replica_context()
        replica = run.replica_id_in_sync_group if run else -1
        tf.py_function(self.note, [replica, x[:, 0]], [])
        return x[:, 1:]
