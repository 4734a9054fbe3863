"""Helpers that the judges of lab 02 share."""

from collections.abc import Callable

import numpy as np


def known_points(points: list) -> tuple[np.ndarray, np.ndarray]:
    """Batch sizes and step times of the points that are not None."""
    sizes = np.array([size for size, speed in points if speed])
    return sizes, sizes / np.array([speed for _, speed in points if speed])


def line(
    points: list,
    weight: Callable = lambda sizes, seconds: 1 / seconds,
    places: slice | list = slice(None),
) -> tuple[float, float]:
    """The fixed cost and the peak, from a straight line through the step times."""
    sizes, seconds = known_points(points)
    weights = weight(sizes, seconds) * np.ones(len(sizes))
    # np.polyfit multiplies each error by its weight before it squares.
    slope, t0 = np.polyfit(sizes[places], seconds[places], 1, w=weights[places])
    return t0, 1 / slope
