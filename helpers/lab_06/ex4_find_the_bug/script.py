"""A training script with one bug, which exercise 6.4 asks for."""

import numpy as np
from numpy import ndarray


def train(
    weights: ndarray, x: ndarray, y: ndarray,
    replicas: int, accumulate: int, steps: int, peak_rate: float,
) -> tuple[ndarray, list[float]]:  # fmt: skip
    """Make `steps` steps of SGD, once through the data; return the weights and the rates.

    A step follows the mean gradient of its images, which come in `accumulate`
    micro-batches, each split over the replicas. The learning rate is `peak_rate` in the
    first step and falls by the same amount from step to step; one step later it would be 0.
    """
    batches_done, rates = 0, []
    for x_step, y_step in zip(np.split(x, steps), np.split(y, steps), strict=True):
        rate = peak_rate * max(0.0, 1 - batches_done / steps)
        gradient = np.zeros_like(weights)
        for rows in np.array_split(np.arange(len(x_step)), accumulate):
            for part in np.array_split(rows, replicas):
                errors = x_step[part] @ weights - y_step[part]
                gradient += 2 * x_step[part].T @ errors  # the all-reduce: a sum
            batches_done += 1
        weights = weights - rate * gradient / len(x_step)
        rates.append(rate)
    return weights, rates
