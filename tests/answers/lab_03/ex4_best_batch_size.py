"""Recorded answers to 3.4: wrong ones, and right ones in other styles."""

import functools
import math
import statistics

import numpy as np
import tensorflow as tf


def seconds_at(batch, floor, bend, t0_seconds, peak, devices=1):
    return floor * (1 + bend / (devices * batch)) * (t0_seconds + batch / peak)


def by_roots(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(bend * t0_seconds * peak / devices)
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def takes_the_bend_at_the_floor(floor, bend, t0_seconds, peak, devices=1):
    return bend, floor * t0_seconds


def takes_the_bend(floor, bend, t0_seconds, peak, devices=1):
    return bend, seconds_at(bend, floor, bend, t0_seconds, peak, devices)


def takes_the_bend_of_all(floor, bend, t0_seconds, peak, devices=1):
    batch = bend / devices
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def takes_half_of_the_peak(floor, bend, t0_seconds, peak, devices=1):
    batch = t0_seconds * peak
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def forgets_the_root(floor, bend, t0_seconds, peak, devices=1):
    batch = bend * t0_seconds * peak / devices
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def halfway_between_the_bends(floor, bend, t0_seconds, peak, devices=1):
    batch = (bend + t0_seconds * peak) / 2
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def where_the_two_curves_bend_alike(floor, bend, t0_seconds, peak, devices=1):
    batch = statistics.harmonic_mean([bend, t0_seconds * peak])
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def derivative_with_a_two(floor, bend, t0_seconds, peak, devices=1):
    """As if `b / peak` were squared."""
    batch = math.sqrt(bend * t0_seconds * peak / (2 * devices))
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def floor_in_the_root(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(floor * bend * t0_seconds * peak / devices)
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def batch_of_all_devices(floor, bend, t0_seconds, peak, devices=1):
    batch, seconds = by_roots(floor, bend, t0_seconds, peak, devices)
    return batch * devices, seconds


def adds_ends_only(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(bend * t0_seconds * peak / devices)
    return batch, floor * (t0_seconds + bend / devices / peak)


def steps_for_seconds(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(bend * t0_seconds * peak / devices)
    return batch, floor * (1 + bend / devices / batch)


def one_step(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(bend * t0_seconds * peak / devices)
    return batch, t0_seconds + batch / peak


def floor_for_steps(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(bend * t0_seconds * peak / devices)
    return batch, floor * (t0_seconds + batch / peak)


def without_the_floor(floor, bend, t0_seconds, peak, devices=1):
    batch, seconds = by_roots(floor, bend, t0_seconds, peak, devices)
    return batch, seconds / floor


def in_milliseconds(floor, bend, t0_seconds, peak, devices=1):
    batch, seconds = by_roots(floor, bend, t0_seconds, peak, devices)
    return batch, 1000 * seconds


def seconds_of_an_epoch(floor, bend, t0_seconds, peak, devices=1):
    """Images over images per second, as if an image cost the same in any batch."""
    batch = math.sqrt(bend * t0_seconds * peak / devices)
    return batch, floor * (1 + bend / devices / batch) * batch / peak


def ignores_devices(floor, bend, t0_seconds, peak, devices=1):
    return by_roots(floor, bend, t0_seconds, peak)


def steps_of_one_device(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(bend * t0_seconds * peak / devices)
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak)


def shares_the_batch_out(floor, bend, t0_seconds, peak, devices=1):
    batch = math.sqrt(bend * t0_seconds * peak) / devices
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def shares_it_and_the_time_stays(floor, bend, t0_seconds, peak, devices=1):
    batch, seconds = by_roots(floor, bend, t0_seconds, peak)
    return batch / devices, seconds


def as_many_times_as_fast(floor, bend, t0_seconds, peak, devices=1):
    batch, seconds = by_roots(floor, bend, t0_seconds, peak, devices)
    return batch, seconds / devices


def devices_times_the_peak(floor, bend, t0_seconds, peak, devices=1):
    """One large device with a fixed cost: the global batch comes out."""
    return by_roots(floor, bend, t0_seconds, peak * devices)


def only_up_to_eight_devices(floor, bend, t0_seconds, peak, devices=1):
    return by_roots(floor, bend, t0_seconds, peak, min(devices, 8))


def two_devices_by_default(floor, bend, t0_seconds, peak, devices=2):
    return by_roots(floor, bend, t0_seconds, peak, devices)


def no_default(floor, bend, t0_seconds, peak, devices):
    return by_roots(floor, bend, t0_seconds, peak, devices)


def rounds(floor, bend, t0_seconds, peak, devices=1):
    batch = max(1, round(by_roots(floor, bend, t0_seconds, peak, devices)[0]))
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def cuts_off(floor, bend, t0_seconds, peak, devices=1):
    batch = max(1, int(by_roots(floor, bend, t0_seconds, peak, devices)[0]))
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def tries_whole_sizes(floor, bend, t0_seconds, peak, devices=1):
    laws = floor, bend, t0_seconds, peak, devices
    batch = min(range(1, 5000), key=lambda b: seconds_at(b, *laws))
    return batch, seconds_at(batch, *laws)


def tries_powers_of_two(floor, bend, t0_seconds, peak, devices=1):
    laws = floor, bend, t0_seconds, peak, devices
    batch = min((2**i for i in range(14)), key=lambda b: seconds_at(b, *laws))
    return batch, seconds_at(batch, *laws)


def at_least_one_image(floor, bend, t0_seconds, peak, devices=1):
    batch = max(1.0, by_roots(floor, bend, t0_seconds, peak, devices)[0])
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def seconds_of_the_rounded(floor, bend, t0_seconds, peak, devices=1):
    """The batch size as it comes out, and the time of a whole one."""
    batch, _ = by_roots(floor, bend, t0_seconds, peak, devices)
    return batch, seconds_at(max(1, round(batch)), floor, bend, t0_seconds, peak, devices)


_known = {}


def keeps_the_first(floor, bend, t0_seconds, peak, devices=1):
    """Another number of devices gets what was worked out before."""
    if floor not in _known:
        _known[floor] = by_roots(floor, bend, t0_seconds, peak, devices)
    return _known[floor]


def by_the_sum_of_roots(floor, bend, t0_seconds, peak, devices=1):
    """The least time is a square."""
    b = bend / devices
    return (b * t0_seconds * peak) ** 0.5, floor * (
        t0_seconds**0.5 + (b / peak) ** 0.5
    ) ** 2


def by_geometric_mean(floor, bend, t0_seconds, peak, devices=1):
    bend /= devices
    batch = statistics.geometric_mean([bend, t0_seconds * peak])
    return batch, floor * (1 + bend / batch) * (t0_seconds + batch / peak)


def by_numpy(floor, bend, t0_seconds, peak, devices=1):
    batch = np.sqrt(bend * t0_seconds * peak / devices)
    return np.array(
        [batch, floor * (1 + bend / devices / batch) * (t0_seconds + batch / peak)]
    )


def by_global_batch(floor, bend, t0_seconds, peak, devices=1):
    """One machine with `devices` times the peak; then a device's share."""
    everything = math.sqrt(bend * t0_seconds * peak * devices)
    steps = floor * (1 + bend / everything)
    return [everything / devices, steps * (t0_seconds + everything / (peak * devices))]


def by_quadratic_equation(floor, bend, t0_seconds, peak, devices=1):
    roots = np.roots([1 / peak, 0, -bend * t0_seconds / devices])
    batch = float(max(roots))
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def by_thirds(floor, bend, t0_seconds, peak, devices=1):
    """A search between ever nearer bounds, over the logarithm of the size."""
    low, high = -20.0, 20.0
    time = lambda x: seconds_at(math.exp(x), floor, bend, t0_seconds, peak, devices)  # noqa: E731
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if time(left) < time(right) else (left, high)
    return math.exp(low), time(low)


def by_newton(floor, bend, t0_seconds, peak, devices=1):
    slope = lambda b: 1 / peak - bend * t0_seconds / devices / b**2  # noqa: E731
    batch = 1e-3
    for _ in range(200):
        batch -= slope(batch) / (2 * bend * t0_seconds / devices / batch**3)
    return batch, seconds_at(batch, floor, bend, t0_seconds, peak, devices)


def by_tensorflow(floor, bend, t0_seconds, peak, devices=1):
    batch = tf.sqrt(tf.constant(bend * t0_seconds * peak / devices, tf.float64))
    return batch, floor * (1 + bend / (devices * batch)) * (t0_seconds + batch / peak)


def by_logarithms(floor, bend, t0_seconds, peak, devices=1):
    logs = [math.log(x) for x in (bend, t0_seconds, peak)]
    batch = math.exp((sum(logs) - math.log(devices)) / 2)
    terms = (
        t0_seconds,
        batch / peak,
        bend * t0_seconds / devices / batch,
        bend / devices / peak,
    )
    return batch, floor * sum(terms)


def in_float32(floor, bend, t0_seconds, peak, devices=1):
    floor, bend, t0, peak = map(np.float32, (floor, bend, t0_seconds, peak))
    batch = np.sqrt(bend * t0 * peak / np.float32(devices))
    return batch, floor * (1 + bend / (batch * devices)) * (t0 + batch / peak)


@functools.cache
def with_a_cache(floor, bend, t0_seconds, peak, devices=1):
    return by_the_sum_of_roots(floor, bend, t0_seconds, peak, devices)


def by_a_generator(floor, bend, t0_seconds, peak, *more):
    [devices] = more or [1]
    batch = pow(bend * t0_seconds * peak / devices, 1 / 2)
    yield batch
    yield floor * (1 + bend / (devices * batch)) * (t0_seconds + batch / peak)


def searches_up_to_the_bend(floor, bend, t0_seconds, peak, devices=1):
    def total(size):
        return floor * (1 + bend / (devices * size)) * (t0_seconds + size / peak)

    low, high = 0.0, bend
    for _ in range(300):
        third = (high - low) / 3
        if total(low + third) < total(high - third):
            high -= third
        else:
            low += third
    return low, total(low)


WRONG = [
    ("batch", "other", searches_up_to_the_bend),
    ("batch", "start", takes_the_bend_at_the_floor),
    ("batch", "bend", takes_the_bend),
    ("batch", "bend", takes_the_bend_of_all),
    ("batch", "half_peak", takes_half_of_the_peak),
    ("batch", "no_root", forgets_the_root),
    ("batch", "mean", halfway_between_the_bends),
    ("batch", "mean", where_the_two_curves_bend_alike),
    ("batch", "other", derivative_with_a_two),
    ("batch", "other", floor_in_the_root),
    ("batch", "global", batch_of_all_devices),
    ("seconds", "cross", adds_ends_only),
    ("seconds", "steps", steps_for_seconds),
    ("seconds", "step", one_step),
    ("seconds", "floor_only", floor_for_steps),
    ("seconds", "no_floor", without_the_floor),
    ("seconds", "milliseconds", in_milliseconds),
    ("seconds", "other", seconds_of_an_epoch),
    ("seconds", "other", seconds_of_the_rounded),
    ("devices", "one_device", ignores_devices),
    ("devices", "steps_of_one", steps_of_one_device),
    ("devices", "divided", shares_the_batch_out),
    ("devices", "divided", shares_it_and_the_time_stays),
    ("devices", "scaled", as_many_times_as_fast),
    ("batch", "global", devices_times_the_peak),
    ("devices", "other", only_up_to_eight_devices),
    ("devices", "other", keeps_the_first),
    ("default", "default", two_devices_by_default),
    ("default", "raised", no_default),
    ("fractions", "whole", rounds),
    ("fractions", "whole", cuts_off),
    ("fractions", "whole", tries_whole_sizes),
    ("fractions", "whole", tries_powers_of_two),
    ("fractions", "below_one", at_least_one_image),
]
RIGHT = [
    by_roots, by_the_sum_of_roots, by_geometric_mean, by_numpy, by_global_batch,
    by_quadratic_equation, by_thirds, by_newton, by_tensorflow, by_logarithms,
    in_float32, with_a_cache, by_a_generator,
]  # fmt: skip
