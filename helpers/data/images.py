"""Parts of MNIST and Fashion-MNIST: their form, a synthetic set, a last check."""

from typing import NamedTuple

import numpy as np


class Images(NamedTuple):
    """A labelled image set; images are uint8 (n, 28, 28, 1), labels uint8 (n,)."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    source: str


def synthetic_images(seed: int = 0) -> Images:
    """Ten blurred patterns under noise, in the shapes of both sets."""
    rng = np.random.default_rng(seed)
    patterns = np.kron(rng.integers(0, 200, (10, 7, 7)), np.ones((4, 4)))

    def draw(n):
        labels = rng.integers(0, 10, n, dtype="uint8")
        noise = rng.integers(0, 56, (n, 28, 28, 1), dtype="uint8")
        return patterns.astype("uint8")[labels][..., None] + noise, labels

    return Images(*draw(60_000), *draw(10_000), "synthetic")


def fault(values: np.ndarray, training: bool) -> str | None:
    """The reason why an array of the right shape cannot be real data, or None.

    Parameters
    ----------
    values : array
        Images, or labels: these have one dimension.
    training : bool
        Whether a model trains on them: then labels that are all the same are a fault.

    Returns
    -------
    str or None
        The end of a sentence that begins with the array's name.
    """
    lowest, highest = values.min(), values.max()
    if values.ndim > 1:
        return "has the same value in every pixel" if lowest == highest else None
    if not 0 <= lowest <= highest <= 9:
        return "has labels beyond 0 to 9"
    if training and lowest == highest:
        return f"has the same label, {lowest}, for every image"
    return None
