"""Recorded answers to 1.3: wrong ones, and right ones in other styles."""

import functools
import itertools
import math
import random
import statistics
from itertools import pairwise
from statistics import pvariance

import keras
import numpy as np
import tensorflow as tf
from numpy import log, var


def _nearest(sizes, estimate):
    return min(sizes, key=lambda size: abs(np.log(size / estimate)))


def _flat(losses):
    return losses[len(losses) // 2 :]


def takes_the_first(losses, example_variance, sizes):
    return sizes[0]


def takes_the_whole_curve(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses))


def takes_the_first_half(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[: len(losses) // 2]))


def the_last_hundred(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[-100:]))


def the_last_250_at_most(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(_flat(losses)[-250:]))


def the_last_quarter(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(np.array_split(losses, 4)[-1]))


def leaves_the_last_loss_out(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[len(losses) // 2 : -1]))


def from_step_240_on(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[240:]))


def from_two_fifths_on(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[2 * len(losses) // 5 :]))


def from_step_30_on(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[30:]))


def from_a_third_on(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[len(losses) // 3 :]))


def jumps_of_the_whole_curve(losses, example_variance, sizes):
    return _nearest(sizes, 2 * example_variance / np.mean(np.diff(losses) ** 2))


def divides_deviations(losses, example_variance, sizes):
    return _nearest(sizes, np.sqrt(example_variance) / np.std(_flat(losses)))


def divides_by_a_deviation(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.std(_flat(losses)))


def squares_the_ratio(losses, example_variance, sizes):
    return _nearest(sizes, (example_variance / np.var(_flat(losses))) ** 2)


def the_other_way_round(losses, example_variance, sizes):
    return _nearest(sizes, np.var(_flat(losses)) / example_variance)


def multiplies_by_the_size(losses, example_variance, sizes):
    law = [example_variance * size for size in sizes]
    return sizes[int(np.argmin([abs(np.log(v / np.var(_flat(losses)))) for v in law]))]


def forgets_single_points(losses, example_variance, sizes):
    return _nearest(sizes, 1 / np.var(_flat(losses)))


def does_not_subtract_the_mean(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.mean(_flat(losses) ** 2))


def by_the_height_of_the_floor(losses, example_variance, sizes):
    """Right where the errors are normal: their squares have twice the mean squared."""
    floor = _flat(losses)
    return _nearest(sizes, 2 * floor.mean() ** 2 / floor.var())


def relative_to_the_floor(losses, example_variance, sizes):
    floor = _flat(losses)
    return _nearest(sizes, example_variance / np.var(floor / floor.mean()))


def by_quartiles(losses, example_variance, sizes):
    """Right where the losses are normal."""
    low, high = np.quantile(_flat(losses), [0.25, 0.75])
    return _nearest(sizes, example_variance / ((high - low) / 1.349) ** 2)


def by_the_median_deviation(losses, example_variance, sizes):
    floor = _flat(losses)
    deviation = 1.4826 * np.median(np.abs(floor - np.median(floor)))
    return _nearest(sizes, example_variance / deviation**2)


def by_the_range(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / (np.ptp(_flat(losses)) / 6) ** 2)


def smooths_first(losses, example_variance, sizes):
    smooth = np.convolve(_flat(losses), np.ones(5) / 5, "valid")
    return _nearest(sizes, example_variance / np.var(smooth))


SEEN = {}


def by_ratios_between_curves(losses, example_variance, sizes):
    """The calmest curve so far has the largest size, and the others follow from it."""
    seen = SEEN.setdefault((example_variance, tuple(sizes)), [])
    seen.append(np.var(_flat(losses)))
    return _nearest(sizes, sizes[-1] * min(seen) / seen[-1])


def by_order_of_the_curves(losses, example_variance, sizes):
    """Each size once, by how many of the curves were calmer."""
    seen = SEEN.setdefault((example_variance, *sizes), [])
    seen.append(np.var(_flat(losses)))
    return sizes[min(sum(v > seen[-1] for v in seen), len(sizes) - 1)]


def nearest_by_difference(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return min(sizes, key=lambda size: abs(size - estimate))


def nearest_by_variance(losses, example_variance, sizes):
    seen = np.var(_flat(losses))
    return min(sizes, key=lambda size: abs(example_variance / size - seen))


def nearest_by_deviation(losses, example_variance, sizes):
    seen = np.std(_flat(losses))
    return min(sizes, key=lambda size: abs(np.sqrt(example_variance / size) - seen))


def nearest_by_root(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return min(sizes, key=lambda size: abs(size**0.5 - estimate**0.5))


def relative_to_the_size(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return min(sizes, key=lambda size: abs(size - estimate) / size)


def relative_to_the_estimate(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return min(sizes, key=lambda size: abs(size / estimate - 1))


def the_one_below(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return max([size for size in sizes if size <= estimate], default=sizes[0])


def the_one_above(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return next((size for size in sizes if size >= estimate), sizes[-1])


def without_the_logarithm(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return min(sizes, key=lambda size: max(size, estimate) - min(size, estimate))


def without_abs(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return min(sizes, key=lambda size: np.log(size / estimate))


def gives_the_estimate(losses, example_variance, sizes):
    return example_variance / np.var(_flat(losses))


def a_power_of_four(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return 4 ** round(math.log(estimate, 4))


def of_the_labs_sizes(losses, example_variance, sizes):
    return _nearest([1, 4, 16, 64], example_variance / np.var(_flat(losses)))


def gives_the_place(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return np.argmin(np.abs(np.log(np.array(sizes) / estimate)))


def as_a_text(losses, example_variance, sizes):
    return str(_nearest(sizes, example_variance / np.var(_flat(losses))))


def always_the_largest(losses, example_variance, sizes):
    return max(sizes)


def any_of_them(losses, example_variance, sizes):
    return random.choice(sizes)


def returns_nothing(losses, example_variance, sizes):
    half_of_the_curve(losses, example_variance, sizes)


def between_the_borders_only(losses, example_variance, sizes):
    """Nothing beyond the largest size."""
    estimate = example_variance / np.var(_flat(losses))
    for low, high in pairwise(sizes):
        if low / 1.5 <= estimate <= high:
            return low if estimate < math.sqrt(low * high) else high
    raise ValueError(estimate)


def subtracts_the_mean_in_place(losses, example_variance, sizes):
    floor = _flat(losses)
    floor -= floor.mean()
    return _nearest(sizes, example_variance / np.mean(floor**2))


def takes_sizes_out(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    while len(sizes) > 1 and math.sqrt(sizes[0] * sizes[1]) < estimate:
        sizes.pop(0)
    return sizes[0]


def half_of_the_curve(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[len(losses) // 2 :], ddof=1))


def by_deviations_of_each_size(losses, example_variance, sizes):
    seen = np.std(losses[-len(losses) // 2 :])
    expected = np.sqrt(example_variance / np.array(sizes))
    return sizes[np.argmin(np.abs(np.log(expected) - np.log(seen)))]


def by_jumps_from_step_to_step(losses, example_variance, sizes):
    """Differences of neighbours have twice the variance."""
    late = np.diff(losses)[len(losses) // 2 :]
    return np.int64(_nearest(sizes, 2 * example_variance / np.mean(late**2)))


def in_plain_python(losses, example_variance, sizes):
    flat = [float(loss) for loss in losses][math.ceil(len(losses) / 2) :]
    estimate = example_variance / pvariance(flat)
    bounds = [(a * b) ** 0.5 for a, b in itertools.pairwise(sizes)]
    return sizes[sum(estimate > bound for bound in bounds)]


def by_the_larger_ratio(losses, example_variance, sizes):
    estimate = example_variance / np.var(_flat(losses))
    return min(sizes, key=lambda size: max(size / estimate, estimate / size))


def with_searchsorted(losses, example_variance, sizes):
    sizes = np.asarray(sizes)
    borders = np.sqrt(sizes[1:] * sizes[:-1])
    estimate = example_variance / statistics.variance(_flat(losses).tolist())
    return sizes[np.searchsorted(borders, estimate)]


def with_a_loop(losses, example_variance, sizes):
    floor = losses[int(0.5 * len(losses)) :]
    center = sum(floor) / len(floor)
    spread = sum((loss - center) ** 2 for loss in floor) / len(floor)
    best, closest = None, math.inf
    for size in sizes:
        distance = abs(math.log(size) - math.log(example_variance) + math.log(spread))
        if distance < closest:
            best, closest = size, distance
    return best


def with_tensorflow(losses, example_variance, sizes):
    floor = tf.constant(losses)[len(losses) // 2 :]
    estimate = tf.cast(example_variance / tf.math.reduce_variance(floor), tf.float64)
    far = tf.abs(tf.math.log(tf.constant(sizes, tf.float64) / estimate))
    return sizes[int(tf.argmin(far))]


def from_the_end(losses, example_variance, sizes):
    backwards = losses[::-1][: len(losses) // 2]
    estimate = example_variance / (np.mean(backwards**2) - np.mean(backwards) ** 2)
    return functools.reduce(lambda a, b: b if estimate > math.sqrt(a * b) else a, sizes)


def without_its_slope(losses, example_variance, sizes):
    """The rest of a line through the floor: what only scatters."""
    floor = _flat(losses)
    steps = np.arange(len(floor))
    rest = floor - np.polyval(np.polyfit(steps, floor, 1), steps)
    return float(_nearest(sizes, example_variance / var(rest)))


def by_a_dict(losses, example_variance, sizes):
    estimate = example_variance / keras.ops.var(_flat(losses)).numpy()
    return {abs(log(size) - log(estimate)): size for size in sizes}[
        min(abs(log(size) - log(estimate)) for size in sizes)
    ]


def halves_then_asks(losses, example_variance, sizes):
    _, floor = np.split(losses, [len(losses) // 2])
    squares = (floor - floor.mean()) ** 2
    estimate = example_variance * squares.size / squares.sum()
    for low, high in pairwise(sizes):
        if estimate**2 < low * high:
            return low
    return sizes[-1]


def rounds_down(losses, example_variance, sizes):
    return _nearest(sizes, max(1, int(example_variance / np.var(_flat(losses)))))


def rounds_up(losses, example_variance, sizes):
    return _nearest(sizes, math.ceil(example_variance / np.var(_flat(losses))))


def without_the_first(losses, example_variance, sizes):
    late = losses[len(losses) // 2 + 1 :]
    return _nearest(sizes, example_variance / np.var(late))


WRONG = [
    ("flat", "descent", without_the_first),
    ("ratio", "rounded", rounds_down),
    ("ratio", "rounded", rounds_up),
    ("law", "start", takes_the_first),
    ("law", "start", the_other_way_round),
    ("law", "root", divides_deviations),
    ("law", "other", divides_by_a_deviation),
    ("law", "other", squares_the_ratio),
    ("law", "start", multiplies_by_the_size),
    ("law", "one", forgets_single_points),
    ("law", "other", does_not_subtract_the_mean),
    ("law", "level", by_the_height_of_the_floor),
    ("law", "other", relative_to_the_floor),
    ("law", "other", by_quartiles),
    ("law", "other", by_the_median_deviation),
    ("law", "other", by_the_range),
    ("law", "other", smooths_first),
    ("law", "other", by_ratios_between_curves),
    ("law", "other", by_order_of_the_curves),
    ("law", "other", always_the_largest),
    ("law", "other", any_of_them),
    ("flat", "descent", takes_the_whole_curve),
    ("flat", "descent", takes_the_first_half),
    ("flat", "descent", the_last_hundred),
    ("flat", "descent", the_last_250_at_most),
    ("flat", "descent", the_last_quarter),
    ("flat", "descent", leaves_the_last_loss_out),
    ("flat", "descent", from_step_240_on),
    ("flat", "descent", from_a_third_on),
    ("flat", "descent", from_two_fifths_on),
    ("flat", "descent", from_step_30_on),
    ("law", "other", jumps_of_the_whole_curve),
    ("listed", "not_listed", gives_the_estimate),
    ("listed", "not_listed", a_power_of_four),
    ("listed", "not_listed", of_the_labs_sizes),
    ("listed", "not_listed", as_a_text),
    ("listed", "place", gives_the_place),
    ("listed", "raised", returns_nothing),
    ("listed", "raised", between_the_borders_only),
    ("ratio", "ratio", nearest_by_difference),
    ("ratio", "ratio", nearest_by_variance),
    ("ratio", "ratio", nearest_by_deviation),
    ("ratio", "ratio", nearest_by_root),
    ("ratio", "ratio", relative_to_the_size),
    ("ratio", "ratio", relative_to_the_estimate),
    ("ratio", "ratio", the_one_below),
    ("ratio", "ratio", the_one_above),
    ("ratio", "ratio", without_the_logarithm),
    ("law", "start", without_abs),
    ("unchanged", "changed", subtracts_the_mean_in_place),
    ("unchanged", "changed", takes_sizes_out),
]
RIGHT = [
    half_of_the_curve, by_deviations_of_each_size, by_jumps_from_step_to_step,
    in_plain_python, by_the_larger_ratio,
    with_searchsorted, with_a_loop, with_tensorflow, from_the_end,
    without_its_slope, by_a_dict, halves_then_asks,
]  # fmt: skip
