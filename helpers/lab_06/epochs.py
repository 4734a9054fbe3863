"""The validation step of lab 06, and the time of a step on one device."""

from collections.abc import Callable, Mapping
from time import perf_counter

import keras
import numpy as np
import tensorflow as tf
from keras.losses import categorical_crossentropy


def make_valid_step(
    strategy: tf.distribute.Strategy,
    model: keras.Model,
    metrics: Mapping[str, keras.metrics.Metric],
) -> Callable:
    """A function that updates the validation metrics with a distributed batch."""

    def replica_step(x, y):
        probabilities = model(x, training=False)
        losses = categorical_crossentropy(y, probabilities)
        metrics["valid_loss"].update_state(losses)
        metrics["valid_accuracy"].update_state(y, probabilities)

    @tf.function
    def valid_step(x, y):
        strategy.run(replica_step, args=(x, y))

    return valid_step


def seconds_of_steps(
    step: Callable, batches: Mapping[int, tuple], repeats: int = 5
) -> dict[int, float]:
    """The median seconds of a step for each size of a batch.

    The first call for each size, which builds a graph, does not count. Then the sizes
    take turns, so that a busy machine slows all of them alike.

    Parameters
    ----------
    step : callable
        Takes a batch, and returns a number.
    batches : mapping of int to tuple
        A batch by its size.
    repeats : int
    """
    seconds = {size: [] for size in batches}
    for turn in range(1 + repeats):
        for size, batch in batches.items():
            began = perf_counter()
            float(step(*batch))  # waits for the device
            if turn:
                seconds[size].append(perf_counter() - began)
    return {size: float(np.median(found)) for size, found in seconds.items()}
