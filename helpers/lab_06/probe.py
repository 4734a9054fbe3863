"""Probes of lab 06: many GPUs with a hand-written loop."""

import contextlib
import itertools
from numbers import Real
from unittest import mock

import keras
import numpy as np
import tensorflow as tf

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
    simulated_replicas(question["logical_devices"])  # now all devices are there
    strategy, images = simulated_replicas(question["replicas"]), []
    with strategy.scope():
        model, optimizer, watcher = tiny_network(question, images)
        metrics = new_metrics()
        for name in NAMES[2:]:  # validation has counted before
            metrics[name].total.assign(3.0)
            metrics[name].count.assign(4.0)
    batch = len(question["batches"][0]["y"])

    def global_loss(losses, global_batch):
        """What exercise 6.1 asks for; but its gradient is steeper than its value says."""
        share = tf.nn.compute_average_loss(losses, global_batch_size=global_batch)
        return share + (question["steeper"] - 1) * (share - tf.stop_gradient(share))

    step = answer(strategy, model, optimizer, metrics, global_loss, batch)
    returned = []
    with no_hang("training in this check"), _runs_watched(strategy) as eager_runs:
        for x, y in strategy.experimental_distribute_dataset(numbered_batches(question)):
            local = strategy.experimental_local_results(step(x, y))
            returned.append([v if v is None else np.asarray(v).tolist() for v in local])
    return {
        "returned": returned,
        "images": images,
        "weights": [weights.tolist() for weights in model.get_weights()],
        "metrics": {name: float(metrics[name].result()) for name in NAMES},
        "counts": {name: float(value_of(metrics[name].count)) for name in NAMES},
        "python_runs": int(watcher.runs[0]),
        "eager_runs": len(eager_runs),
        "optimizer_steps": int(value_of(optimizer.iterations)),
    }


@contextlib.contextmanager
def _runs_watched(strategy):
    """Note each time that Python, not a graph, hands work to the replicas."""
    eager, original = [], strategy.extended.call_for_each_replica

    def watched(*arguments, **more):
        if tf.executing_eagerly():
            eager.append(True)
        return original(*arguments, **more)

    with mock.patch.object(strategy.extended, "call_for_each_replica", watched):
        yield eager


def tiny_network(question, images):
    """A softmax layer, its optimizer, and the layer that notes in `images` who saw what."""
    watcher, mask = WhoSeesWhat(images), OnlyInTraining(question["mask"])
    kernel, bias = map(np.array, question["weights"])
    inputs = keras.Input((1 + len(kernel),))
    dense = keras.layers.Dense(len(bias), activation="softmax")
    # Behind another layer Keras does not recognise the softmax, and mend a loss.
    same = keras.layers.Rescaling(1.0)
    model = keras.Model(inputs, same(dense(mask(watcher(inputs)))))
    dense.set_weights([kernel, bias])
    optimizer = keras.optimizers.SGD(question["learning_rate"], question["momentum"])
    optimizer.build(model.trainable_variables)
    watcher.runs[0] = 0
    return model, optimizer, watcher


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

    def call(self, x, training=False):
        return x * self.by if training else x


def train_on(answer, question, wait):
    """Let the answer train a tiny network on devices that are named, some trainings."""
    simulated_replicas(question["logical_devices"])  # now all devices are there
    runs = [_train_on(answer, question, names) for names in question["devices"]]
    changed = any(run.pop("changed") for run in runs)
    return {"runs": runs} | ({"changed": "`devices`"} if changed else {})


def _train_on(answer, question, names):
    """One training: its strategies, where `build` ran, who saw which image, the result."""
    networks, scopes, seen = [], [], []

    def build():
        scope = tf.distribute.get_strategy().extended
        inside = tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context()
        scopes.append([short(name) for name in scope.worker_devices] if inside else [])
        model, optimizer, _ = tiny_network(question, seen)
        networks.append((model, optimizer))
        return model, optimizer

    given, returned = list(names), None
    with strategies_watched() as made, no_hang("training in this check"):
        try:
            returned = answer(given, build, turning_batches(question), question["epochs"])
        except Exception:
            # What is made outside of a scope raises later, with a text that does not help.
            if not made or scopes != [[]]:
                raise
    pair = isinstance(returned, tuple | list) and len(returned) == 2
    network, losses = returned if pair else (None, None)
    model, optimizer = networks[0] if networks else (None, None)
    return {
        # Who makes several makes each in the same way.
        "all_reduces": sorted(set(made)),
        "scopes": scopes,
        "images": seen,
        "weights": [w.tolist() for w in model.get_weights()] if model else [],
        "optimizer_steps": int(value_of(optimizer.iterations)) if model else 0,
        "own_network": network is not None and network is model,
        "losses": _numbers(losses),
        "changed": given != names,
    }


def _numbers(values):
    """The numbers as a list, or None; a tensor is not a number yet."""
    if not np.iterable(values) or not all(isinstance(one, Real) for one in values):
        return None
    return [float(one) for one in values]


def value_of(variable):
    """The value of a variable that has a copy on every replica."""
    return (variable * 1).numpy()


def numbered_batches(question):
    """The question's batches; each row begins with its number, in the order of the data."""
    data = tf.data.Dataset.from_tensor_slices(_numbered_rows(question))
    return data.batch(len(question["batches"][0]["y"]))


def turning_batches(question):
    """The same rows, as of data that are shuffled: each pass begins one row further on.

    A row's number is that in the data, plus the number of all rows for each pass before.
    """
    x, one_hot = _numbered_rows(question)
    passes = itertools.count()

    def rows():
        number = next(passes)
        for at in np.roll(np.arange(len(x)), -number):
            yield x[at] + np.eye(1, x.shape[1])[0] * number * len(x), one_hot[at]

    signature = [tf.TensorSpec(rows.shape[1:], rows.dtype) for rows in (x, one_hot)]
    data = tf.data.Dataset.from_generator(rows, output_signature=tuple(signature))
    # So `len(data)` is known.
    data = data.apply(tf.data.experimental.assert_cardinality(len(x)))
    return data.batch(len(question["batches"][0]["y"]))


def _numbered_rows(question):
    x = np.concatenate([batch["x"] for batch in question["batches"]])
    y = np.concatenate([batch["y"] for batch in question["batches"]])
    x = np.column_stack([np.arange(len(x)), x]).astype("float32")
    return x, np.eye(len(question["weights"][1]), dtype="float32")[y]


class WhoSeesWhat(keras.layers.Layer):
    """Notes which replica sees which rows, and takes the rows' numbers away."""

    def __init__(self, seen):
        super().__init__()
        self.runs = np.zeros(1, int)  # of Python; Keras would wrap a plain list
        self.note = lambda replica, rows: seen.append(
            [int(replica), rows.numpy().astype(int).tolist()]
        )

    def call(self, x):
        self.runs[0] += 1
        # Without a strategy there is a replica context, too.
        run = tf.distribute.has_strategy() and tf.distribute.get_replica_context()
        replica = run.replica_id_in_sync_group if run else -1
        tf.py_function(self.note, [replica, x[:, 0]], [])
        return x[:, 1:]


@contextlib.contextmanager
def strategies_watched():
    """Note the all-reduce of every `MirroredStrategy` that is made, however imported."""
    made, original = [], tf.distribute.MirroredStrategy.__init__

    def watched(self, devices=None, cross_device_ops=None):
        made.append(type(cross_device_ops).__name__)
        # The default fails, or waits for ever, where there are several strategies.
        original(self, devices, cross_device_ops or tf.distribute.ReductionToOneDevice())

    with mock.patch.object(tf.distribute.MirroredStrategy, "__init__", watched):
        yield made


def short(name):
    """`CPU:2` of a device's full name."""
    return name.rpartition("device:")[2]


PROBES = {"6.1": global_loss, "6.2": make_train_step, "6.3": train_on}
