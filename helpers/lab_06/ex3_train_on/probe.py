"""Exercise 6.3: drives an answer, expects nothing."""

import itertools
from collections.abc import Callable
from numbers import Real

import numpy as np
import tensorflow as tf

from helpers.checks.probing.replicas import simulated_replicas
from helpers.lab_06.probing import numbered_rows, tiny_network, value_of
from helpers.machine.watchdog import no_hang


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Let the answer train a tiny network on strategies over some devices."""
    simulated_replicas(question["logical_devices"])  # now all devices are there
    return {"runs": [_train_on(answer, question, names) for names in question["devices"]]}


def _train_on(answer, question, names):
    """One training: where `build` ran, who saw which image, the result."""
    networks, scopes, seen = [], [], []

    def build():
        scope = tf.distribute.get_strategy().extended
        inside = tf.distribute.has_strategy() and tf.distribute.in_cross_replica_context()
        scopes.append([short(name) for name in scope.worker_devices] if inside else [])
        model, optimizer, _ = tiny_network(question, seen)
        networks.append((model, optimizer))
        return model, optimizer

    # The default all-reduce fails, or waits for ever, where there are several strategies.
    one_device = tf.distribute.ReductionToOneDevice()
    strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=one_device)
    returned = None
    with no_hang("training in this check"):
        try:
            returned = answer(
                strategy, build, turning_batches(question), question["epochs"]
            )
        except Exception:
            # Variables made outside a scope raise later, with an unhelpful message.
            if scopes != [[]]:
                raise
    pair = isinstance(returned, tuple | list) and len(returned) == 2
    network, losses = returned if pair else (None, None)
    model, optimizer = networks[0] if networks else (None, None)
    return {
        "scopes": scopes,
        "images": seen,
        "weights": [w.tolist() for w in model.get_weights()] if model else [],
        "optimizer_steps": int(value_of(optimizer.iterations)) if optimizer else 0,
        "own_network": network is not None and network is model,
        "losses": _numbers(losses),
    }


def _numbers(values):
    """The numbers as a list, or None; a tensor is not a number yet."""
    if not np.iterable(values) or not all(isinstance(one, Real) for one in values):
        return None
    return [float(one) for one in values]


def turning_batches(question: dict) -> tf.data.Dataset:
    """The same rows, as of data that are shuffled: each pass begins one row further on.

    A row's number is that in the data, plus the number of all rows for each pass before.
    """
    x, one_hot = numbered_rows(question)
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


def short(name: str) -> str:
    """`CPU:2` of a device's full name."""
    return name.rpartition("device:")[2]
