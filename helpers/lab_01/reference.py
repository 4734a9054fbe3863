"""The solutions in labs/01_gradient_descent.py, written by `labs build`: edit there."""

import numpy as np


# Solution 1.1: how fast the mean squared error rises with slope and intercept.
def gradient(weights, x, y):
    """How fast the mean squared error rises with slope and intercept, shape (2,)."""
    slope, intercept = weights
    errors = slope * x + intercept - y
    return 2 * np.array([np.mean(errors * x), np.mean(errors)])


# Solution 1.2: batches of indices that cover every point once, in a random order.
def epoch_batches(points, batch_size, rng):
    """Batches of indices, as arrays, that hold each of the points once."""
    order = rng.permutation(points)
    return [order[i : i + batch_size] for i in range(0, points, batch_size)]


# Solution 1.3: which of the batch sizes gave a loss curve that scatters like this.
def which_batch_size(losses, example_variance, sizes):
    """The batch size whose losses scatter like these."""
    floor = losses[len(losses) // 2 :]
    estimate = example_variance / np.var(floor)
    return min(sizes, key=lambda size: abs(np.log(size / estimate)))


REFERENCES = {
    "1.1": gradient,
    "1.2": epoch_batches,
    "1.3": which_batch_size,
}
