"""A small network that shows within 40 steps what a loss does to training."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from helpers.machine.devices import simulated_strategy


def small_network(seed: int) -> keras.Sequential:
    """A network with one hidden layer, which is traced quickly, and fixed first weights."""
    keras.utils.set_random_seed(seed)
    return keras.Sequential([
        keras.Input((28, 28, 1)), layers.Rescaling(1 / 255), layers.Flatten(),
        layers.Dense(32, activation="relu"), layers.Dense(10, activation="softmax"),
    ])  # fmt: skip


def flat_weights(network: keras.Model) -> np.ndarray:
    """All weights in one array."""
    return np.concatenate([array.ravel() for array in network.get_weights()])


def train_on_simulated(
    replicas: int, new: Callable, make_step: Callable, data: tf.data.Dataset
) -> tuple[float, list[float]]:
    """Train a network; return its first step's length and each step's mean loss.

    Parameters
    ----------
    replicas : int
        Simulated ones.
    new : callable
        Makes the network, its optimizer and the metrics, inside the scope.
    make_step : callable
        Of the strategy and what `new` returned: the step that trains on a batch.
    data : tf.data.Dataset
        A global batch for each step.
    """
    strategy = simulated_strategy(replicas)
    with strategy.scope():
        network, optimizer, metrics = new()
    step = make_step(strategy, network, optimizer, metrics)
    weights, losses = [flat_weights(network)], []
    for batch in strategy.experimental_distribute_dataset(data):
        metrics["loss"].reset_state()
        step(*batch)
        losses.append(float(metrics["loss"].result()))
        weights.append(flat_weights(network))
    return float(np.linalg.norm(weights[1] - weights[0])), losses
