"""A score for a range that was stated before the measurement."""

import math


def interval_score(low: float, high: float, measured: float, outside: float = 0.1) -> float:
    """Score a range that was stated before the measurement: the lower, the better.

    It is the interval score of Gneiting and Raftery (2007) for logarithms, so that a
    factor counts the same at every speed: the width of the range, and if the measurement
    lies outside of it, 2 / outside times the distance to it.

    Parameters
    ----------
    low, high : float
        The range.
    measured : float
    outside : float
        The share of measurements that may lie outside of such a range.

    Returns
    -------
    float
    """
    miss = max(math.log(low / measured), math.log(measured / high), 0.0)
    return math.log(high / low) + 2 / outside * miss
