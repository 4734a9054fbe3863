"""Exercise 6.2: drives an answer, expects nothing."""

import contextlib
from collections.abc import Callable
from unittest import mock

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.replicas import simulated_replicas
from helpers.lab_06.probing import numbered_rows, tiny_network, value_of
from helpers.machine.watchdog import no_hang

NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Let the answer's step train a tiny network on replicas for some batches."""
    simulated_replicas(question["logical_devices"])  # now all devices are there
    strategy, images = simulated_replicas(question["replicas"]), []
    with strategy.scope():
        model, optimizer, watcher = tiny_network(question, images)
        metrics = new_metrics()
        for metric in metrics.values():  # all of them have counted before
            metric.total.assign(question["counted_before"]["total"])
            metric.count.assign(question["counted_before"]["count"])
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


def new_metrics() -> dict[str, keras.metrics.Mean]:
    """The metrics of the lab."""
    return {
        name: keras.metrics.Mean()
        if "loss" in name
        else keras.metrics.CategoricalAccuracy()
        for name in NAMES
    }


def numbered_batches(question: dict) -> tf.data.Dataset:
    """The question's batches; each row begins with its number, in the order of the data."""
    data = tf.data.Dataset.from_tensor_slices(numbered_rows(question))
    return data.batch(len(question["batches"][0]["y"]))
