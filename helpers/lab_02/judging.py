"""What judges of lab 02 share."""

from collections.abc import Callable

import numpy as np


def known_points(points: list) -> tuple[np.ndarray, np.ndarray]:
    """Sizes and times of a step of the points that are not None."""
    sizes = np.array([size for size, speed in points if speed])
    return sizes, sizes / np.array([speed for _, speed in points if speed])


def line(
    points: list,
    weight: Callable = lambda sizes, seconds: 1 / seconds,
    places: slice | list = slice(None),
) -> tuple[float, float]:
    """The fixed cost and the peak of a straight line through the times of a step."""
    sizes, seconds = known_points(points)
    weights = weight(sizes, seconds) * np.ones(len(sizes))
    # np.polyfit squares the weighted errors.
    slope, t0 = np.polyfit(sizes[places], seconds[places], 1, w=weights[places])
    return t0, 1 / slope
