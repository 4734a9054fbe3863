"""Steps of a training whose workers share the optimizer's state, and more than that."""

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers.workers.collectives import all_gather, reduce_scatter


def adam(part: np.ndarray, mean_gradient: np.ndarray, state: Any) -> tuple[np.ndarray, Any]:
    """One step of Adam, value by value: the new part of the weights, and its state."""
    steps, mean, square = state or (0, np.zeros_like(part), np.zeros_like(part))
    steps += 1
    mean = 0.9 * mean + 0.1 * mean_gradient
    square = 0.999 * square + 0.001 * mean_gradient**2
    scale = np.sqrt(square / (1 - 0.999**steps)) + 1e-7
    part = part - 0.001 / (1 - 0.9**steps) * mean / scale
    return part, (steps, mean, square)


def data_parallel_step(
    weights: np.ndarray,
    state: Any,
    gradient: np.ndarray,
    sharded_step: Callable,
    ring: tuple,
) -> tuple[np.ndarray, Any]:
    """All-reduce the gradients, then update all weights on every worker."""

    def only_the_mean(part, mean_gradient, state):
        return mean_gradient, state

    mean, _ = sharded_step(weights, gradient, None, only_the_mean, *ring)
    return adam(weights, mean, state)


def zero_2_step(
    weights: np.ndarray,
    state: Any,
    blocks: list[slice],
    task: "Targets",
    update: Callable,
    ring: tuple,
) -> tuple[np.ndarray, Any]:
    """Split the optimizer and the gradient: no worker keeps a whole gradient.

    `state` is the one that `update` returned for this worker's parts of all blocks. Each of
    the `blocks` has a layer's weights.
    """
    rank, workers, *_ = ring
    means = []
    for place in reversed(blocks):  # backward; a block's gradient is then forgotten
        means.insert(
            0, reduce_scatter(task.gradient(place, weights[place]), *ring) / workers
        )
    parts = [np.array_split(weights[place], workers)[rank] for place in blocks]
    new, state = update(np.concatenate(parts), np.concatenate(means), state)
    new_parts = cut(new, parts)
    return np.concatenate([all_gather(part, *ring) for part in new_parts]), state


def zero_3_step(
    parts: list[np.ndarray],
    state: Any,
    blocks: list[slice],
    task: "Targets",
    update: Callable,
    ring: tuple,
) -> tuple[list[np.ndarray], Any]:
    """Split the weights, too: this worker keeps only its part of every block."""
    for place, part in zip(blocks, parts, strict=True):  # forward
        task.loss(place, all_gather(part, *ring))
    means = []
    for place, part in reversed(list(zip(blocks, parts, strict=True))):  # backward
        gradient = task.gradient(place, all_gather(part, *ring))
        means.insert(0, reduce_scatter(gradient, *ring) / ring[1])
    new, state = update(np.concatenate(parts), np.concatenate(means), state)
    return cut(new, parts), state


def cut(array: np.ndarray, parts: list[np.ndarray]) -> list[np.ndarray]:
    """An array, cut into pieces that are as long as these."""
    return np.split(array, np.cumsum([len(part) for part in parts])[:-1])


class Targets:
    """A worker's own problem: every weight has a target, and the loss is their distance.

    Each rank has other targets, as it has other images.
    """

    def __init__(self, weights: int, seed: int, rank: int) -> None:
        rng = np.random.default_rng([seed, rank + 1])
        self._targets = rng.standard_normal(weights, "float32")

    def loss(self, place: slice, block: np.ndarray) -> float:
        """Half the squared distance of some weights from their targets."""
        return float(np.square(block - self._targets[place]).sum()) / 2

    def gradient(self, place: slice, block: np.ndarray) -> np.ndarray:
        """The gradient of this loss."""
        return block - self._targets[place]
