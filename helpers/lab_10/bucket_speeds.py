"""The time of steps whose gradients travel in buckets over a slow link."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import keras
import numpy as np

from helpers.workers.processes import ask


class Link(NamedTuple):
    """A message takes `latency_seconds`, plus its bytes divided by `bytes_per_second`."""

    latency_seconds: float
    bytes_per_second: float

    def of_all_reduces(self, workers: int) -> tuple[float, float]:
        """Latency and bandwidth of a whole all-reduce by a ring of some workers.

        It has 2 (n - 1) messages, one after the other, each with an n-th of the bytes.
        """
        messages = 2 * (workers - 1)
        return messages * self.latency_seconds, self.bytes_per_second * workers / messages


def backward(model: keras.Model, seconds: float) -> tuple[list[int], list[float]]:
    """The gradients of a network in the order in which backward computes them.

    A layer's share of the time is taken to be its share of the multiplications. The
    gradients of a layer are ready together, when backward has left it.

    Parameters
    ----------
    model : keras.Model
    seconds : float
        Of the whole backward pass.

    Returns
    -------
    gradient_bytes : list of int
        Of each array of weights, in float32.
    ready_at : list of float
        Seconds from the start of backward.
    """
    gradient_bytes, ready_at, done = [], [], 0
    for layer in reversed(model.layers):
        kernel = getattr(layer, "kernel", None)
        if kernel is not None:
            places = np.prod(layer.output.shape[1:-1], initial=1)
            done += int(np.prod(kernel.shape) * places)
        for weights in reversed(layer.trainable_weights):
            gradient_bytes.append(4 * int(np.prod(weights.shape)))
            ready_at.append(done)
    return gradient_bytes, [seconds * part / done for part in ready_at]


def measure(
    folder: Path,
    workers: int,
    gradients: tuple[Sequence[int], Sequence[float]],
    link: Link,
    bucket_bytes: Sequence[float],
    repeats: int,
) -> dict[float, list[float]]:
    """Start workers that send gradients in buckets over an imitated link.

    Parameters
    ----------
    folder : Path
        For the workers' files.
    workers : int
    gradients : tuple
        As `backward` returns them.
    link : Link
    bucket_bytes : list of float
        The sizes to try.
    repeats : int
        Steps with each size.

    Returns
    -------
    dict of float to list of float
        By size, the seconds of each step: from the start of backward until the worker that
        took longest had added up its last bucket.

    Raises
    ------
    LabError
        If a worker fails or takes longer than the limit.
    """
    sizes, ready_at = gradients
    asked = {"gradient_bytes": sizes, "ready_at": ready_at, "link": link._asdict()}
    asked |= {"bucket_bytes": list(bucket_bytes), "repeats": repeats}
    of_workers = np.array(ask("helpers.lab_10.workers.buckets", folder, workers, asked))
    slowest = of_workers.max(axis=0).tolist()
    return dict(zip(bucket_bytes, slowest, strict=True))
