"""Functions that the probes of lab 04 share."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

# A GPU may multiply with 10 bits (TF32): too few to compare numbers.
EXACT = "CPU:0"
NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


def observe_steps(answer: Callable, question: dict, prepare: Callable) -> dict:
    with tf.device(EXACT):
        network, metrics = TinyNetwork(question), metrics_at(question["metrics"])
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
            "eager_updates": max(metric.eager for metric in metrics.values()),
            "graphs_apart": any(
                all(one is not other for other in network.between.runs.graphs)
                for one in runs.graphs
            ),
            "changed": "" if same else "`metrics`",
        }


def metrics_at(states: dict[str, tuple[float, float]]) -> dict[str, keras.metrics.Mean]:
    """The metrics of the lab, which have counted before."""
    metrics = {name: (Accuracy if "accuracy" in name else Mean)() for name in NAMES}
    for name, (total, count) in states.items():
        metrics[name].total.assign(total)
        metrics[name].count.assign(count)
    return metrics


class Watched:
    """Before a metric: counts the updates that Python makes itself, in no graph."""

    eager = 0

    def update_state(self, *arguments: object, **more: object) -> object:
        self.eager += tf.executing_eagerly()
        return super().update_state(*arguments, **more)


class Mean(Watched, keras.metrics.Mean):
    """Of the losses."""


class Accuracy(Watched, keras.metrics.SparseCategoricalAccuracy):
    """The share of right answers."""


class Count:
    """How often Python was there, and in which graphs: Keras would wrap a plain list."""

    def __init__(self) -> None:
        self.n, self.graphs = 0, []

    def add(self) -> None:
        graph = tf.compat.v1.get_default_graph()
        while hasattr(getattr(graph, "outer_graph", None), "outer_graph"):
            graph = graph.outer_graph  # of the tf.function that Python called
        self.n += 1
        self.graphs.append(graph)


class TinyNetwork:
    """Two layers with given weights; training can be distinguished from inference.

    The layer between them acts like dropout and batch normalisation, but without
    chance: in training it applies a mask. And it counts the examples it saw.
    """

    def __init__(self, question: dict) -> None:
        kernel_1, bias_1, kernel_2, bias_2 = map(np.array, question["weights"])
        self.between = OnlyInTraining(question["mask"])
        self.first = keras.layers.Dense(len(bias_1), activation="tanh")
        self.second = keras.layers.Dense(len(bias_2), activation="softmax")
        inputs = keras.Input((len(kernel_1),))
        # Behind another layer Keras does not recognise the softmax, and corrects no loss.
        same = keras.layers.Rescaling(1.0)
        outputs = same(self.second(self.between(self.first(inputs))))
        self.model = keras.Model(inputs, outputs)
        self.first.set_weights([kernel_1, bias_1])
        self.second.set_weights([kernel_2, bias_2])
        self.between.runs = Count()

    def report(self) -> dict:
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

    def __init__(self, mask: list[float]) -> None:
        super().__init__()
        self.by, self.runs = mask, Count()
        self.saw = self.add_weight(shape=(), initializer="zeros", trainable=False)
        self.trained_on = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x: keras.KerasTensor, training: bool = False) -> keras.KerasTensor:
        self.runs.add()
        examples = tf.cast(tf.shape(x)[0], "float32")
        self.saw.assign_add(examples)
        if not training:
            return x
        self.trained_on.assign_add(examples)
        return x * tf.constant(self.by, "float32")
