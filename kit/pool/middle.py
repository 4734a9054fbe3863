"""The median of a class: one definition for all pages, figures and notebooks of a pool."""

import math
import statistics
from collections.abc import Iterable

IN_WORDS = (
    "A median of an even number of values is the geometric mean of the two in the middle, "
    "so it lies in the middle of a logarithmic axis, too."
)


def median(values: Iterable[float]) -> float:
    """The value in the middle; of two in the middle their geometric mean.

    So the median of ratios is the same whichever way round they are.

    Parameters
    ----------
    values : iterable of float
        At least one, none of them negative.

    Returns
    -------
    float
    """
    values = list(values)
    low, high = statistics.median_low(values), statistics.median_high(values)
    return low if low == high else math.sqrt(low) * math.sqrt(high)
