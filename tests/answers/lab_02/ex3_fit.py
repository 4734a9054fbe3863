"""Recorded answers to 2.3: wrong ones, and right ones in other styles."""

import statistics

import numpy as np
import tensorflow as tf


def fitting(points):
    """The points that fitted: sizes and times of a step, for the answers below."""
    sizes = np.array([b for b, speed in points.items() if speed is not None], float)
    speeds = np.array([speed for speed in points.values() if speed is not None])
    return sizes, sizes / speeds


def largest_is_the_peak(points):
    return 0.0, max(speed for speed in points.values() if speed)


def peak_right_cost_wrong(points):
    sizes, seconds = fitting(points)
    _, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return t0, max(sizes / seconds)


def milliseconds(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return 1000 * t0, 1 / slope


def other_way_round(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return 1 / slope, t0


def seconds_of_an_image(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return t0, slope


def counts_misfits(points):
    sizes = list(points)
    seconds = [b / points[b] for b in sizes]
    slope, t0 = np.polyfit(sizes, seconds, 1)
    return t0, 1 / slope


def drops_the_last(points):
    """Right only where the one that did not fit comes last."""
    if list(points.values())[-1] is None:
        points = dict(list(points.items())[:-1])
    sizes = np.array(list(points), float)
    seconds = sizes / np.array(list(points.values()), float)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return t0, 1 / slope


def deletes_them(points):
    for size in [size for size, speed in points.items() if speed is None]:
        del points[size]
    return by_regression(points)


def a_line_through_throughput(points):
    sizes, seconds = fitting(points)
    slope, start = np.polyfit(sizes, sizes / seconds, 1)
    return start, 1 / slope


def unweighted(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1)
    return t0, 1 / slope


def weighted_by_size(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=sizes)
    return t0, 1 / slope


def never_below_0(points):
    t0_seconds, peak = by_regression(points)
    return max(t0_seconds, 0.0), peak


def two_points_only(points):
    known = [b for b in points if points[b]][-2:]
    (a, b), (s, t) = known, [size / points[size] for size in known]
    slope = (t - s) / (b - a)
    return s - slope * a, 1 / slope


def weighted(name, weight):
    """A line by `np.polyfit` with weights made of the sizes and the times of a step."""

    def fit(points):
        sizes, seconds = fitting(points)
        slope, t0 = np.polyfit(sizes, seconds, 1, w=weight(sizes, seconds))
        return t0, 1 / slope

    fit.__name__ = name
    return fit


weighted_by_root = weighted("weighted_by_root", lambda sizes, seconds: seconds**-0.5)
weighted_by_square = weighted("weighted_by_square", lambda sizes, seconds: seconds**-2)
weighted_by_seconds = weighted("weighted_by_seconds", lambda sizes, seconds: seconds)
weighted_per_size = weighted("weighted_per_size", lambda sizes, seconds: 1 / sizes)
weighted_by_speed = weighted("weighted_by_speed", lambda sizes, seconds: sizes / seconds)


def the_ends_only(points):
    known = [b for b in points if points[b]]
    a, b = min(known), max(known)
    s, t = a / points[a], b / points[b]
    slope = (t - s) / (b - a)
    return s - slope * a, 1 / slope


def without_the_first(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes[1:], seconds[1:], 1, w=1 / seconds[1:])
    return t0, 1 / slope


def by_medians(points):
    """Theil and Sen: the median of the slopes between all pairs."""
    pairs = [(b, b / v) for b, v in points.items() if v is not None]
    slope = statistics.median(
        (t - s) / (b - a) for i, (a, s) in enumerate(pairs) for b, t in pairs[i + 1 :]
    )
    return statistics.median(s - slope * b for b, s in pairs), 1 / slope


def by_logarithms(points):
    """Steps of Newton on the logarithms of the throughputs."""
    sizes, seconds = fitting(points)
    t0, per_image = by_regression(points)[0], 1 / by_regression(points)[1]
    for _ in range(20):
        model = t0 + sizes * per_image
        slopes = np.stack([1 / model, sizes / model], axis=1)
        step, *_ = np.linalg.lstsq(slopes, np.log(seconds / model), rcond=None)
        t0, per_image = t0 + step[0], per_image + step[1]
    return t0, 1 / per_image


def by_absolute_errors(points):
    """The smallest sum of errors that are not squared: a line through two of the points."""
    sizes, seconds = fitting(points)
    one, other = np.triu_indices(len(sizes), 1)
    slopes = (seconds[other] - seconds[one]) / (sizes[other] - sizes[one])
    starts = seconds[one] - slopes * sizes[one]
    errors = np.abs((starts[:, None] + np.outer(slopes, sizes)) / seconds - 1).sum(axis=1)
    best = errors.argmin()
    return starts[best], 1 / slopes[best]


def by_regression(points):
    """Throughput's inverse is a line over the inverse of the batch size."""
    sizes, seconds = fitting(points)
    t0, per_image = np.polyfit(1 / sizes, seconds / sizes, 1, w=sizes / seconds)
    return float(t0), float(1 / per_image)


def by_least_squares(points):
    sizes, seconds = fitting(points)
    matrix = np.stack([1 / seconds, sizes / seconds], axis=1)
    (t0, per_image), *_ = np.linalg.lstsq(matrix, np.ones(len(sizes)), rcond=None)
    return t0, 1 / per_image


def by_formula(points):
    pairs = [(b, b / v) for b, v in points.items() if v]
    w = [1 / s**2 for _, s in pairs]
    mb = sum(wi * b for wi, (b, _) in zip(w, pairs, strict=True)) / sum(w)
    ms = sum(wi * s for wi, (_, s) in zip(w, pairs, strict=True)) / sum(w)
    top = sum(wi * (b - mb) * (s - ms) for wi, (b, s) in zip(w, pairs, strict=True))
    slope = top / sum(wi * (b - mb) ** 2 for wi, (b, _) in zip(w, pairs, strict=True))
    return ms - slope * mb, 1 / slope


def by_polynomial(points):
    sizes, seconds = fitting(points)
    line = np.polynomial.Polynomial.fit(sizes, seconds, 1, w=1 / seconds).convert()
    return line.coef[0], 1 / line.coef[1]


def by_tensorflow(points):
    sizes, seconds = fitting(points)
    matrix = tf.constant(np.stack([np.ones_like(sizes), sizes], 1) / seconds[:, None])
    t0, per_image = tf.linalg.lstsq(matrix, tf.ones((len(sizes), 1), tf.float64))
    return t0.numpy()[0], (1 / per_image).numpy()[0]


def by_solving(points):
    sizes, seconds = fitting(points)
    w = seconds**-2
    left = [[w.sum(), (w * sizes).sum()], [(w * sizes).sum(), (w * sizes**2).sum()]]
    right = [(w * seconds).sum(), (w * sizes * seconds).sum()]
    t0, per_image = np.linalg.solve(left, right)
    return [t0, 1 / per_image]


def by_lambda(points):
    clean = dict(filter(lambda item: item[1] is not None, points.items()))
    b, v = map(np.asarray, zip(*clean.items(), strict=True))
    slope, start = np.polyfit(b, b / v, deg=1, w=v / b)
    return np.array([start, 1 / slope])


def in_float32(points):
    sizes, seconds = (part.astype("float32") for part in fitting(points))
    matrix = np.stack([1 / seconds, sizes / seconds], axis=1)
    t0, per_image = np.linalg.lstsq(matrix, np.ones(len(sizes), "float32"), rcond=None)[0]
    return t0, 1 / per_image


def by_steps_downhill(points):
    """Newton's step on the sum of squares, from anywhere: it is a parabola."""
    sizes, seconds = fitting(points)
    weights = np.zeros(2)
    matrix = np.stack([np.ones(len(sizes)), sizes]) / seconds
    for _ in range(3):
        errors = weights @ matrix - 1
        weights = weights - np.linalg.solve(matrix @ matrix.T, matrix @ errors)
    return weights[0], 1 / weights[1]


def by_turning(points):
    """By a QR decomposition, and rounded to six digits."""
    sizes, seconds = fitting(points)
    q, r = np.linalg.qr(np.stack([1 / seconds, sizes / seconds], axis=1))
    t0, per_image = np.linalg.solve(r, q.sum(axis=0))
    return float(f"{t0:.6g}"), float(f"{1 / per_image:.6g}")


def by_many_lines(points):
    xs, ys, ws = [], [], []
    for size in sorted(points):
        if points[size]:
            xs.append(size)
            ys.append(size / points[size])
            ws.append(points[size] / size)
    result = np.polyfit(xs, ys, 1, w=ws)
    peak = 1.0 / result[0]
    return (result[1], peak)


WRONG = [
    ("fixed_cost", "start", largest_is_the_peak),
    ("fixed_cost", "units", milliseconds),
    ("fixed_cost", "swapped", other_way_round),
    ("least_squares", "other", a_line_through_throughput),
    ("peak", "peak", peak_right_cost_wrong),
    ("peak", "per_image", seconds_of_an_image),
    ("none", "raised", counts_misfits),
    ("none", "raised", drops_the_last),
    ("weights", "unweighted", unweighted),
    ("weights", "weights", weighted_by_size),
    ("weights", "weights", weighted_by_root),
    ("weights", "weights", weighted_by_square),
    ("weights", "weights", weighted_by_seconds),
    ("weights", "weights", weighted_per_size),
    ("weights", "weights", weighted_by_speed),
    ("least_squares", "other", by_logarithms),
    ("least_squares", "below", never_below_0),
    ("least_squares", "points", two_points_only),
    ("least_squares", "points", the_ends_only),
    ("least_squares", "points", without_the_first),
    ("least_squares", "points", by_medians),
    ("least_squares", "other", by_absolute_errors),
    ("unchanged", "changed", deletes_them),
]
RIGHT = [
    by_regression, by_least_squares, by_formula, by_polynomial, by_tensorflow,
    by_solving, by_lambda, by_many_lines, in_float32, by_steps_downhill, by_turning,
]  # fmt: skip
