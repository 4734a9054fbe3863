"""Probes of lab 06: many GPUs with a hand-written loop."""

import contextlib
import io
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
import tqdm.std

from helpers.checks.probing.replicas import simulated_replicas
from helpers.machine.watchdog import no_hang

NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


def global_loss(answer, question, wait):
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
        if gradient is None:
            seen["constant"] = True
            return share
        optimizer.apply([gradient], [kernel])
        return share

    for batch in question["batches"]:
        starts = np.cumsum([0, *batch["split"]])

        def part(context, name, batch=batch, starts=starts):
            i = context.replica_id_in_sync_group
            return tf.constant(batch[name][starts[i] : starts[i + 1]], "float32")

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
        seen["shares"].append([share.numpy().tolist() for share in local])
        seen["weights"].append(kernel.numpy().tolist())
    return seen


def make_train_step(answer, question, wait):
    """Let the answer's step train a tiny network on replicas for some batches."""
    strategy = simulated_replicas(question["replicas"])
    with strategy.scope():
        mask = OnlyInTraining(question["mask"])
        inputs = keras.Input((len(question["mask"]),))
        dense = keras.layers.Dense(len(question["bias"]), activation="softmax")
        model = keras.Model(inputs, dense(mask(inputs)))
        dense.set_weights([np.array(question["weights"]), np.array(question["bias"])])
        optimizer = keras.optimizers.SGD(question["learning_rate"], question["momentum"])
        optimizer.build(model.trainable_variables)
        metrics = new_metrics()
    global_batch = question["global_batch"]
    rows = [np.array(question["x"], "float32"), np.eye(3, dtype="float32")[question["y"]]]
    batches = tf.data.Dataset.from_tensor_slices(tuple(rows)).batch(
        global_batch, drop_remainder=True
    )
    mask.runs[0] = 0
    step = answer(strategy, model, optimizer, metrics, mean_over_batch, global_batch)
    returned = []
    with no_hang("training in this check"):
        for x, y in strategy.experimental_distribute_dataset(batches):
            local = strategy.experimental_local_results(step(x, y))
            returned.append([v if v is None else np.asarray(v).tolist() for v in local])
    return {
        "returned": returned,
        "weights": [weights.tolist() for weights in dense.get_weights()],
        "metrics": {name: float(metrics[name].result()) for name in NAMES},
        "python_runs": int(mask.runs[0]),
    }


def mean_over_batch(losses, global_batch):
    """What exercise 6.1 asks for, with TensorFlow's own function."""
    return tf.nn.compute_average_loss(losses, global_batch_size=global_batch)


def new_metrics():
    """The metrics of the lab."""
    return {
        name: keras.metrics.Mean()
        if "loss" in name
        else keras.metrics.CategoricalAccuracy()
        for name in NAMES
    }


class OnlyInTraining(keras.layers.Layer):
    """Multiply by a mask with ``training=True`` only, as dropout does, without chance."""

    def __init__(self, mask):
        super().__init__()
        self.by = np.array(mask, "float32")
        self.runs = np.zeros(1, int)  # Keras would wrap a plain list

    def call(self, x, training=False):
        self.runs[0] += 1
        return x * self.by if training else x


def train_model(answer, question, wait):
    """Give the answer steps that take time; report what it called, showed and printed."""
    metrics = {name: keras.metrics.Mean() for name in NAMES}
    calls = []

    def step(kind, prefix):
        def one(x, y):
            trained = sum(call[0] == "train" for call in calls)
            calls.append([kind, np.asarray(x).tolist()])
            wait(question["batch_seconds"][kind])
            # The result depends on the number of training steps before.
            losses = tf.convert_to_tensor(x) / (1.0 + trained)
            metrics[f"{prefix}loss"].update_state(losses)
            right = (tf.convert_to_tensor(y) + trained) % 3 == 0
            metrics[f"{prefix}accuracy"].update_state(right)
            return tf.reduce_mean(losses) if kind == "train" else None

        return one

    train, valid = (Batches(question[name]) for name in ("train", "valid"))
    printed, errors = io.StringIO(), io.StringIO()
    bars = Bars(lambda: sum(call[0] == "train" for call in calls))
    wait(0)
    with (
        bars.watched(),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
    ):
        history = answer(
            step("train", ""),
            step("valid", "valid_"),
            metrics,
            train,
            valid,
            question["epochs"],
            len(question["train"]),
        )
    wait(0)
    # A bar is redrawn in one line again and again, and cleared before a line is printed.
    lines = printed.getvalue().replace("\r", "\n").splitlines()
    return {
        "calls": calls,
        "printed": [line.strip() for line in lines if line.strip()],
        "shown": bars.shown,
        "finished": bars.finished,
        "history": plain(history),
    }


class Batches:
    """Tensors batch by batch, without a length: as a distributed data set gives them."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        for batch in self.batches:
            yield tf.constant(batch["x"], "float32"), tf.constant(batch["y"], "int64")


class Bars:
    """Records what tqdm's bars of any kind show, and how far they got."""

    def __init__(self, count):
        self.count, self.shown, self.finished = count, [], []

    @contextlib.contextmanager
    def watched(self):
        """Look at every bar for a while."""
        bar = tqdm.std.tqdm
        names = (
            "set_postfix", "set_postfix_str", "set_description", "set_description_str",
        )  # fmt: skip
        with contextlib.ExitStack() as stack:
            for name in names:
                changed = self._watch(getattr(bar, name), self._show)
                stack.enter_context(mock.patch.object(bar, name, changed))
            closed = self._watch(bar.close, self._finish)
            stack.enter_context(mock.patch.object(bar, "close", closed))
            yield

    @staticmethod
    def _watch(method, note):
        def watched(bar, *arguments, **options):
            result = method(bar, *arguments, **options)
            note(bar)
            return result

        return watched

    def _show(self, bar):
        text = f"{getattr(bar, 'desc', '') or ''} {getattr(bar, 'postfix', '') or ''}"
        self.shown.append([self.count(), text])

    def _finish(self, bar):
        self.finished.append([self.count(), int(getattr(bar, "n", 0))])


def plain(history):
    """A dict of lists of numbers, or None for anything else."""
    if not hasattr(history, "items"):
        return None
    return {str(name): [float(v) for v in values] for name, values in history.items()}


PROBES = {"6.1": global_loss, "6.2": make_train_step, "6.3": train_model}
