"""Exercise 4.1: drives an answer, expects nothing."""

from collections.abc import Callable

import keras

from helpers.lab_04.probing import Count, observe_steps


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Let the answer train a tiny network on some batches, and report the result."""

    def prepare(network):
        optimizer = Optimizer(question["learning_rate"], question["momentum"])
        # A tf.function makes variables in its first call only, and this may be a later one.
        optimizer.build(network.model.trainable_variables)
        return optimizer.runs, (network.model, optimizer)

    return observe_steps(answer, question, prepare)


class Optimizer(keras.optimizers.SGD):
    """Counts how often Python, not a graph, applied gradients."""

    def __init__(self, *arguments: float) -> None:
        super().__init__(*arguments)
        self.runs = Count()

    def apply(self, *arguments: object, **more: object) -> object:
        self.runs.add()
        return super().apply(*arguments, **more)
