"""A worker's batches with one bug, which the exercise asks for."""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray


def batches_of(
    rank: int, workers: int, images: int, epochs: int, batch_size: int, seed: int
) -> Iterator[tuple[int, ndarray, ndarray]]:
    """The batches of one worker: the epoch, which images, and which of these to flip.

    In each epoch all workers together see every image once, in a new random order. Each
    worker flips about half of its images, by chances that no other worker has.
    """
    flipping = np.random.default_rng([seed, rank, 1])
    shuffling = np.random.default_rng([seed, rank])
    for epoch in range(epochs):
        order = shuffling.permutation(images)
        mine = order[rank::workers]
        for first in range(0, len(mine), batch_size):
            chosen = mine[first : first + batch_size]
            flip = flipping.random(len(chosen)) < 0.5
            yield epoch, chosen, flip
