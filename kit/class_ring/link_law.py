"""Latency and bandwidth of a link, from the times that arrays took on it."""

from collections.abc import Sequence
from itertools import combinations
from statistics import median
from typing import NamedTuple

SMALL_BYTES = 64  # of an array whose time is all latency
SHORTEST_SECONDS = 1e-6  # below that a clock says nothing


class Link(NamedTuple):
    """A message of n bytes takes `latency_seconds` + n / `bytes_per_second`."""

    latency_seconds: float
    bytes_per_second: float


def fit_link(points: Sequence[tuple[float, float]]) -> Link:
    """Fit the law to round trips: an array went over the link, a tiny answer returned.

    The latency is half the median of the smallest arrays. The bandwidth is the median of
    the slopes between all pairs of larger ones (Theil and Sen), which a pause of the
    network, or a burst that a limiter lets pass at first, changes little. Where pauses hide
    the slope, it is what the largest array reached at its fastest.

    Parameters
    ----------
    points : sequence of (bytes, seconds)

    Returns
    -------
    Link

    Raises
    ------
    ValueError
        If there are no small arrays, or no two sizes of larger ones.
    """
    small = [seconds for size, seconds in points if size <= SMALL_BYTES]
    large = [point for point in points if point[0] > SMALL_BYTES]
    slopes = [
        (one[1] - other[1]) / (one[0] - other[0])
        for one, other in combinations(large, 2)
        if one[0] != other[0]
    ]
    if not small or not slopes:
        raise ValueError("too few points for a latency and a bandwidth")
    if (seconds_per_byte := median(slopes)) <= 0:
        largest = max(size for size, _ in large)
        fastest = min(seconds for size, seconds in large if size == largest)
        seconds_per_byte = max(fastest, SHORTEST_SECONDS) / largest
    return Link(median(small) / 2, 1 / seconds_per_byte)
