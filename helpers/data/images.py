"""What MNIST and Fashion-MNIST share: the form of an image set, and a synthetic one."""

from typing import NamedTuple

import numpy as np


class Images(NamedTuple):
    """A labelled image set; images are uint8 (n, 28, 28, 1), labels uint8 (n,)."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    source: str


def synthetic_images(seed=0):
    """Ten blurred patterns under noise, in the shapes of both sets."""
    rng = np.random.default_rng(seed)
    patterns = np.kron(rng.integers(0, 200, (10, 7, 7)), np.ones((4, 4)))

    def draw(n):
        labels = rng.integers(0, 10, n, dtype="uint8")
        noise = rng.integers(0, 56, (n, 28, 28, 1), dtype="uint8")
        return patterns.astype("uint8")[labels][..., None] + noise, labels

    return Images(*draw(60_000), *draw(10_000), "synthetic")
