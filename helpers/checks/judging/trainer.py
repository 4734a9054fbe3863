"""One trainer in NumPy: what right training does to weights, and what mistakes do.

It knows a network of dense layers, tanh between them. The last gives class
probabilities with the cross-entropy as loss, or one number with the squared error.
A mistake is an argument: no momentum, inference in place of training, a sum in place
of a mean.
"""

from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import NamedTuple

import numpy as np


class Trained(NamedTuple):
    """The results of a training."""

    weights: list  # kernel and bias of each layer, or the kernel alone
    after: list  # the weights after each batch
    losses: list  # for each batch an array: the losses before its step
    right: list  # for each batch an array: 1.0 where the answer was right


def draw_weights(rng: Random, *sizes) -> list:
    """Kernels and biases as plain lists, so large that every mistake shows.

    Parameters
    ----------
    rng : random.Random
    sizes : int
        Inputs, hidden units and outputs, such as ``3, 4, 3``.
    """
    weights = []
    for inputs, outputs in pairwise(sizes):
        weights.append([[rng.gauss(0, 0.8) for _ in range(outputs)] for _ in range(inputs)])
        weights.append([rng.gauss(0, 0.8) for _ in range(outputs)])
    return weights


def draw_batches(rng: Random, sizes: list, inputs: int = 3, classes: int = 3) -> list[dict]:
    """Batches of these sizes: rows `x`, and `y`, labels or, without classes, numbers."""
    return [
        {
            "x": [[rng.uniform(-2, 2) for _ in range(inputs)] for _ in range(size)],
            "y": [
                rng.randrange(classes) if classes else rng.gauss(0, 1) for _ in range(size)
            ],
        }
        for size in sizes
    ]


def mean_share(batch: dict) -> float:
    """By what each example's gradient is multiplied, if a batch counts as its mean."""
    return 1 / len(batch["y"])


def train(
    weights: list,
    batches: list,
    learning_rate: float,
    momentum: float = 0.0,
    nesterov: bool = False,
    mask: object = 1.0,
    share: Callable = mean_share,
) -> Trained:
    """Stochastic gradient descent: one step a batch, in the order given.

    Parameters
    ----------
    weights : list of array
        Kernel and bias of each layer; a single array: a kernel without a bias.
    batches : list of dict
        With `x` and `y`. Whole numbers in `y` are classes.
    learning_rate, momentum : float
    nesterov : bool
    mask : array or float
        Multiplies what goes into the last layer, as a layer does that acts in
        training only. 1.0: inference.
    share : callable
        ``share(batch)``: by what the gradients of its examples are multiplied, one
        number or one for each example. A gradient of the sum: ``lambda batch: 1``.

    Returns
    -------
    Trained
    """
    weights = [np.array(w, float) for w in weights]
    speeds = [np.zeros_like(w) for w in weights]
    result = Trained(weights, [], [], [])
    for batch in batches:
        losses, right, gradients = backward(weights, batch, mask, share)
        result.losses.append(losses)
        result.right.append(right)
        for i, gradient in enumerate(gradients):
            speeds[i] = momentum * speeds[i] - learning_rate * gradient
            moved = (
                momentum * speeds[i] - learning_rate * gradient if nesterov else speeds[i]
            )
            weights[i] = weights[i] + moved
        result.after.append(list(weights))
    return result


def evaluate(weights: list, batches: list, mask: object = 1.0) -> tuple[list, list]:
    """The losses and right answers of all batches, by the same weights.

    Returns
    -------
    tuple of list
        An array for each batch.
    """
    weights = [np.array(w, float) for w in weights]
    seen = [backward(weights, batch, mask)[:2] for batch in batches]
    return [losses for losses, _ in seen], [right for _, right in seen]


def backward(
    weights: list, batch: dict, mask: object = 1.0, share: Callable = mean_share
) -> tuple:
    """Losses and right answers of a batch, and the gradient of its weighted loss."""
    layers = [weights[i : i + 2] for i in range(0, len(weights), 2)]
    last = len(layers) - 1
    hidden, inputs, values = [], [], np.asarray(batch["x"], float)
    for number, (kernel, *bias) in enumerate(layers):
        hidden.append(np.tanh(values) if number else values)
        inputs.append(hidden[-1] * mask if number == last else hidden[-1])
        values = inputs[-1] @ kernel + (bias[0] if bias else 0.0)
    y = np.asarray(batch["y"])
    compare = _cross_entropy if y.dtype.kind in "iu" else _squared_error
    losses, right, slopes = compare(values, y)
    slopes = slopes * np.reshape(share(batch), (-1, *[1] * (slopes.ndim - 1)))
    gradients = []
    for number in reversed(range(len(layers))):
        kernel, *bias = layers[number]
        gradients[:0] = [inputs[number].T @ slopes, *[slopes.sum(axis=0)] * len(bias)]
        if number:
            slopes = slopes @ kernel.T * (mask if number == last else 1.0)
            slopes = slopes * (1 - hidden[number] ** 2)
    return losses, right, gradients


def _cross_entropy(logits, y):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    losses = -np.log(chances[np.arange(len(y)), y])
    right = (chances.argmax(axis=1) == y).astype(float)
    return losses, right, chances - np.eye(chances.shape[1])[y]


def _squared_error(values, y):
    errors = values - np.reshape(y, values.shape)
    losses = np.square(errors).reshape(len(y))
    return losses, np.full(len(y), np.nan), 2 * errors


def mean(parts: list) -> float:
    """The mean of all examples, in whichever batch they are."""
    return float(np.concatenate(parts).mean())


def mean_of_means(parts: list) -> float:
    """The mean of the batches' means, which differs if the last batch is smaller."""
    return float(np.mean([part.mean() for part in parts]))
