"""The statistics of a judging: is the target reached, and how fast?

Every function returns a value and raises nothing for a result that is bad.
"""

import itertools
import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from helpers.speed_record.rule import CONFIDENCE, CRASH_ACCURACY, P_VALUE

ROUNDING = 1e-9  # far less than one image


class Interval(NamedTuple):
    """An estimate with the ends of its confidence interval."""

    low: float
    middle: float
    high: float


def t_probability(t: float, degrees: int) -> float:
    """P(T <= t) for Student's t distribution with a whole number of degrees of freedom.

    For whole numbers the integral is a finite sum: Abramowitz and Stegun 26.7.3 and 4.
    """
    if math.isinf(t):
        return float(t > 0)
    angle = math.atan2(t, math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = degrees % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cosine**2 * (k - 1) / k
    if odd:
        return 0.5 + (angle + sine * total) / math.pi
    return 0.5 + sine * total / 2


def t_quantile(probability: float, degrees: int) -> float:
    """The t below which Student's T lies with a probability between 0.5 and 1."""
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < probability:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if t_probability(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return high


def with_crashes(accuracies: Sequence[float | None]) -> list[float]:
    """The accuracies of all seeds; a crash, None, counts as a guess."""
    return [CRASH_ACCURACY if one is None else one for one in accuracies]


def p_value(accuracies: Sequence[float | None], target: float) -> float:
    """The one-sided p of a t test that the mean accuracy is at or above a target.

    Parameters
    ----------
    accuracies : sequence of float
        One of each seed; None for a crash.
    target : float

    Returns
    -------
    float
        1.0 if there are fewer than two seeds.
    """
    values = with_crashes(accuracies)
    if len(values) < 2:
        return 1.0
    above, spread = fmean(values) - target, stdev(values)
    if spread < ROUNDING:
        return 0.5 if abs(above) < ROUNDING else float(above < 0)
    return 1 - t_probability(above / (spread / math.sqrt(len(values))), len(values) - 1)


def reaches(accuracies: Sequence[float | None], target: float) -> bool:
    """Whether a submission reaches its target: mean and p."""
    mean = fmean(with_crashes(accuracies)) if accuracies else 0.0
    return mean >= target and p_value(accuracies, target) < P_VALUE


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The mean with its t interval, which is infinite for fewer than two values."""
    if not values:
        return Interval(-math.inf, math.nan, math.inf)
    middle = fmean(values)
    if len(values) < 2:
        return Interval(-math.inf, middle, math.inf)
    t = t_quantile((1 + confidence) / 2, len(values) - 1)
    half = t * stdev(values) / math.sqrt(len(values))
    return Interval(middle - half, middle, middle + half)


def score(seconds: Sequence[float], calibrations: Sequence[float]) -> Interval:
    """Seconds as a multiple of the calibration load, which cancels the machine's speed.

    Parameters
    ----------
    seconds : sequence of float
        Of each seed.
    calibrations : sequence of float
        Seconds of the calibration load around each seed: the mean of the two beside it.

    Returns
    -------
    Interval
        The geometric mean of the ratios; its interval is symmetric for logarithms.
    """
    return _of_logarithms(
        [math.log(s / c) for s, c in zip(seconds, calibrations, strict=True)]
    )


def ratio(seconds: Sequence[float], holder_seconds: Sequence[float]) -> Interval:
    """How many times as long as the holder's a submission takes, paired by seed.

    Parameters
    ----------
    seconds, holder_seconds : sequence of float
        Of runs that were interleaved; the drift of the machine cancels in each pair.

    Returns
    -------
    Interval
    """
    return score(seconds, holder_seconds)


def is_record(against_holder: Interval) -> bool:
    """Whether a ratio against the holder is surely below 1."""
    return against_holder.high < 1


def beside(calibrations: Sequence[float]) -> list[float]:
    """The calibration of each seed: the mean of the load before it and after it.

    Parameters
    ----------
    calibrations : sequence of float
        Seconds, one more than there are seeds.
    """
    return [(before + after) / 2 for before, after in itertools.pairwise(calibrations)]


def has_drifted(before: float, after: float, most: float) -> bool:
    """Whether the machine's speed has changed by more than a fraction within a seed."""
    return max(before, after) > (1 + most) * min(before, after)


def _of_logarithms(values):
    low, middle, high = mean_interval(values)
    return Interval(
        math.exp(low), math.exp(middle), math.inf if high > 700 else math.exp(high)
    )
