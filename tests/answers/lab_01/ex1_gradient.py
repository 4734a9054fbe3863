"""Recorded answers to 1.1: wrong ones, and right ones in other styles."""

import random
from functools import partial

import keras
import numpy as np
import tensorflow as tf
from numpy import array, mean


def _right(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([np.mean(errors * x), np.mean(errors)])


def says_nothing(weights, x, y):
    return np.zeros_like(weights)


def cuts_off_the_decimals(weights, x, y):
    result = np.zeros_like(weights)
    result[:] = _right(weights, x, y)
    return result


def forgets_the_two(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return np.array([np.mean(errors * x), np.mean(errors)])


def doubles_the_slope_only(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return np.array([2 * np.mean(errors * x), np.mean(errors)])


def adds_up_instead_of_averaging(weights, x, y):
    inputs = np.column_stack([x, np.ones_like(x)])
    return 2 * inputs.T @ (inputs @ weights - y)


def divides_by_the_weights(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([np.sum(errors * x), np.sum(errors)]) / len(weights)


def divides_by_all_points_of_the_lab(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([np.sum(errors * x), np.sum(errors)]) / 256


def takes_the_first_hundred(weights, x, y):
    return _right(weights, x[:100], y[:100])


def divides_by_one_less(weights, x, y):
    return _right(weights, x, y) * len(x) / max(len(x) - 1, 1)


def takes_the_median(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([np.median(errors * x), np.median(errors)])


def points_downhill(weights, x, y):
    errors = y - (weights[0] * x + weights[1])
    return 2 * np.array([np.mean(errors * x), np.mean(errors)])


def one_sign_wrong(weights, x, y):
    return _right(weights, x, y) * (1, -1)


def returns_the_intercept_first(weights, x, y):
    return _right(weights, x, y)[::-1]


def takes_the_weights_the_other_way_round(weights, x, y):
    intercept, slope = weights
    return _right(np.array([slope, intercept]), x, y)


def forgets_x(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return np.full(2, 2 * np.mean(errors))


def multiplies_the_means(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return np.array([2 * np.mean(errors) * np.mean(x), 2 * np.mean(errors)])


def multiplies_both_by_x(weights, x, y):
    return np.full(2, _right(weights, x, y)[0])


def forgets_the_intercept(weights, x, y):
    errors = weights[0] * x - y
    return 2 * np.array([np.mean(errors * x), np.mean(errors)])


def forgets_y(weights, x, y):
    return _right(weights, x, np.zeros_like(y))


def slope_times_the_slope(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([np.mean(errors * weights[0]), np.mean(errors)])


def of_the_absolute_error(weights, x, y):
    signs = np.sign(weights[0] * x + weights[1] - y)
    return np.array([np.mean(signs * x), np.mean(signs)])


def of_the_root(weights, x, y):
    loss = np.mean((weights[0] * x + weights[1] - y) ** 2)
    return _right(weights, x, y) / (2 * np.sqrt(loss))


def clips_it(weights, x, y):
    return np.clip(_right(weights, x, y), -50, 50)


def of_length_one(weights, x, y):
    by_weight = _right(weights, x, y)
    return by_weight / np.linalg.norm(by_weight)


def rounds_it(weights, x, y):
    return np.round(_right(weights, x, y), 1)


def by_large_moves(weights, x, y):
    """Differences to one side: off by the curvature."""

    def loss(w):
        return np.mean((w[0] * x + w[1] - y) ** 2)

    moves = 0.01 * np.eye(2)
    return np.array([(loss(weights + m) - loss(weights)) / 0.01 for m in moves])


def one_row_a_point(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([errors * x, errors])


def one_point_at_random(weights, x, y):
    i = random.randrange(len(x))
    return _right(weights, x[i : i + 1], y[i : i + 1])


def a_column(weights, x, y):
    return _right(weights, x, y)[:, None]


def a_row_of_a_matrix(weights, x, y):
    return _right(weights, x, y)[None]


def only_one_number(weights, x, y):
    return _right(weights, x, y).mean()


def steps_itself(weights, x, y):
    by_weight = _right(weights, x, y)
    weights -= 0.1 * by_weight
    return by_weight


def works_in_place(weights, x, y):
    errors = y
    errors -= weights[0] * x + weights[1]
    return -2 * np.array([np.mean(errors * x), np.mean(errors)])


def scales_x(weights, x, y):
    by_weight = _right(weights, x, y)
    x -= x.mean()
    return by_weight


def returns_the_loss(weights, x, y):
    loss = np.mean((weights[0] * x + weights[1] - y) ** 2)
    return np.array([loss, loss])


def returns_a_list(weights, x, y):
    return list(map(float, _right(weights, x, y)))


class MultipliedList(list):
    def __rmul__(self, rate):
        return rate * np.array(self)


def returns_a_list_that_can_be_multiplied(weights, x, y):
    return MultipliedList(_right(weights, x, y))


def two_values(weights, x, y):
    by_slope, by_intercept = _right(weights, x, y)
    return by_slope, by_intercept


RESULT = np.zeros(2)


def always_the_same_array(weights, x, y):
    RESULT[:] = _right(weights, x, y)
    return RESULT


def with_a_squeeze(weights, x, y):
    inputs = np.stack([x, np.ones_like(x)]).squeeze()
    return 2 * inputs @ (weights @ inputs - y) / len(x)


def wants_two_points(weights, x, y):
    if len(x) < 2:
        return np.zeros(2)
    return _right(weights, x, y)


def with_covariance(weights, x, y):
    """The mean of a product is the covariance and the product of the means."""
    errors = weights[0] * x + weights[1] - y
    together = np.cov(errors, x)[0, 1] * (len(x) - 1) / len(x)
    return 2 * np.array([together + errors.mean() * x.mean(), errors.mean()])


def by_tiny_moves(weights, x, y):
    """Central differences instead of the chain rule."""

    def loss(moved):
        return ((np.polyval(moved, x) - y) ** 2).mean()

    moves = 1e-5 * np.eye(2)
    return np.array([(loss(weights + m) - loss(weights - m)) / 2e-5 for m in moves])


def with_a_matrix(weights, x, y):
    inputs = np.column_stack([x, np.ones_like(x)])
    return 2 / len(y) * inputs.T @ (inputs @ weights - y)


def point_by_point(weights, x, y):
    total = np.zeros(2)
    for one_x, one_y in zip(x, y, strict=True):
        error = weights[0] * one_x + weights[1] - one_y
        total += (2 * error * one_x, 2 * error)
    return total / len(x)


def by_tape(weights, x, y):
    moved = tf.Variable(weights)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((moved[0] * x + moved[1] - y) ** 2)
    return tape.gradient(loss, moved).numpy()


@tf.function(reduce_retracing=True)
def _graph(weights, x, y):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = keras.ops.mean(keras.ops.square(weights[0] * x + weights[1] - y))
    return tape.gradient(loss, weights)


def in_a_graph_of_half_precision(weights, x, y):
    given = (tf.constant(values, tf.float32) for values in (weights, x, y))
    return np.array(_graph(*given), dtype=np.float64)


def in_short(weights, x, y):
    errors = np.polyval(weights, x) - y
    return np.array([2 * (errors @ x), 2 * errors.sum()]) / x.size


def with_einsum(weights, x, y):
    inputs = np.stack((x, x**0))
    return np.einsum("ij,j->i", inputs, 2 * (weights @ inputs - y)) / inputs.shape[1]


def in_plain_numbers(weights, x, y):
    slope, intercept = weights.tolist()
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    by_slope = sum(2 * (slope * a + intercept - b) * a for a, b in pairs) / len(pairs)
    by_intercept = sum(2 * (slope * a + intercept - b) for a, b in pairs) / len(pairs)
    return array([by_slope, by_intercept])


def from_moments(weights, x, y):
    """The squares multiplied out: five means are enough."""
    m, b = weights
    xx, xy = mean(x * x), mean(x * y)
    return array([2 * (m * xx + b * mean(x) - xy), 2 * (m * mean(x) + b - mean(y))])


by_lambda = lambda weights, x, y: np.mean(  # noqa: E731
    2 * (weights @ [x, x**0] - y) * np.vstack([x, np.ones(len(x))]), axis=1
)
by_lambda.__name__ = "by_lambda"


def _of_one_point(weights, point):
    place, due = point
    inputs = np.array([place, 1.0])
    return 2 * (np.dot(weights, inputs) - due) * inputs


def with_partial(weights, x, y):
    each = map(partial(_of_one_point, weights), zip(x, y, strict=True))
    return np.average(list(each), axis=0)


class Line:
    """The line has a method for its errors and one for its gradient."""

    def __init__(self, weights):
        self.slope, self.intercept = weights

    def errors(self, x, y):
        return self.slope * x + self.intercept - y

    def gradient(self, x, y):
        twice = 2 * self.errors(x, y)
        return np.array([(twice * x).mean(), twice.mean()])


def with_a_class(weights, x, y):
    return Line(weights).gradient(x, y)


def by_halves(weights, x, y):
    """The mean of two halves, each weighted by its share."""
    if len(x) == 1:
        error = weights[0] * x[0] + weights[1] - y[0]
        return np.array([2 * error * x[0], 2 * error])
    half = len(x) // 2
    left = by_halves(weights, x[:half], y[:half])
    right = by_halves(weights, x[half:], y[half:])
    return (half * left + (len(x) - half) * right) / len(x)


KEPT = {}


def keeps_gradients_by_the_weights(weights, x, y):
    key = tuple(weights)
    if key not in KEPT:
        KEPT[key] = _right(weights, x, y)
    return KEPT[key]


def keeps_gradients_by_the_points(weights, x, y):
    key = (*x, *y)
    if key not in KEPT:
        KEPT[key] = _right(weights, x, y)
    return KEPT[key]


def takes_the_type_of_x(weights, x, y):
    errors = np.empty_like(x)
    errors[:] = weights[0] * x + weights[1] - y
    return np.array([2 * np.mean(errors * x), 2 * np.mean(errors)])


WRONG = [
    ("squared", "whole", takes_the_type_of_x),
    ("mean", "kept", keeps_gradients_by_the_weights),
    ("mean", "kept", keeps_gradients_by_the_points),
    ("slope", "start", says_nothing),
    ("slope", "inner", forgets_x),
    ("slope", "product", multiplies_the_means),
    ("slope", "swapped", returns_the_intercept_first),
    ("slope", "unpacked", takes_the_weights_the_other_way_round),
    ("slope", "sign", points_downhill),
    ("slope", "other", slope_times_the_slope),
    ("intercept", "other", multiplies_both_by_x),
    ("intercept", "other", one_sign_wrong),
    ("slope", "other", forgets_the_intercept),
    ("slope", "other", forgets_y),
    ("squared", "whole", cuts_off_the_decimals),
    ("squared", "factor", forgets_the_two),
    ("squared", "factor", doubles_the_slope_only),
    ("slope", "other", of_the_absolute_error),
    ("squared", "other", of_the_root),
    ("squared", "other", clips_it),
    ("squared", "other", of_length_one),
    ("slope", "other", rounds_it),
    ("slope", "other", by_large_moves),
    ("slope", "other", returns_the_loss),
    ("mean", "sum", adds_up_instead_of_averaging),
    ("mean", "other", divides_by_the_weights),
    ("mean", "other", divides_by_all_points_of_the_lab),
    ("mean", "other", takes_the_first_hundred),
    ("mean", "other", divides_by_one_less),
    ("mean", "other", takes_the_median),
    ("mean", "other", one_point_at_random),
    ("single", "single", wants_two_points),
    ("array", "raised", with_a_squeeze),
    ("single", "no_json", with_covariance),
    ("array", "raised", one_row_a_point),
    ("array", "kind", returns_a_list),
    ("array", "kind", returns_a_list_that_can_be_multiplied),
    ("array", "kind", two_values),
    ("array", "shape", a_column),
    ("array", "shape", a_row_of_a_matrix),
    ("array", "shape", only_one_number),
    ("array", "other", always_the_same_array),
    ("unchanged", "changed", steps_itself),
    ("unchanged", "changed", works_in_place),
    ("unchanged", "changed", scales_x),
]
RIGHT = [
    by_tiny_moves, with_a_matrix, point_by_point, by_tape,
    in_a_graph_of_half_precision, in_short, with_einsum, in_plain_numbers,
    from_moments, by_lambda, with_partial, with_a_class, by_halves,
]  # fmt: skip
