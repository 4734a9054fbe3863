"""Answers to lab 01: wrong ones with the sentence they break and their hint, right ones."""

import copy
import functools
import itertools
import math
import random
import statistics
from functools import partial
from itertools import islice, pairwise
from statistics import pvariance

import keras
import numpy as np
import tensorflow as tf
from numpy import array, log, mean, var


def _right(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([np.mean(errors * x), np.mean(errors)])


def says_nothing(weights, x, y):
    return np.zeros_like(weights)


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


def _slices(order, batch_size):
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def all_points_at_once(points, batch_size, rng):
    return [np.arange(points)]


def in_the_order_they_have(points, batch_size, rng):
    return _slices(np.arange(points), batch_size)


def drops_the_last(points, batch_size, rng):
    order = rng.permutation(points)
    return [b for b in _slices(order, batch_size) if len(b) == min(batch_size, points)]


def drops_where_all_fit_in_one(points, batch_size, rng):
    order = rng.permutation(points)
    steps = max(points // batch_size, 1)
    return [order[i * batch_size : (i + 1) * batch_size] for i in range(steps)]


def draws_again(points, batch_size, rng):
    steps = -(-points // batch_size)
    return [rng.integers(points, size=batch_size) for _ in range(steps)]


def each_batch_without_repeats(points, batch_size, rng):
    sizes = [min(batch_size, points - i) for i in range(0, points, batch_size)]
    return [rng.choice(points, size, replace=False) for size in sizes]


def fills_the_last_batch_up(points, batch_size, rng):
    order = rng.permutation(points)
    missing = -points % batch_size
    return _slices(np.concatenate([order, order[:missing]]), batch_size)


def shuffles_the_batches_only(points, batch_size, rng):
    batches = _slices(np.arange(points), batch_size)
    return [batches[i] for i in rng.permutation(len(batches))]


def shuffles_full_batches_only(points, batch_size, rng):
    *batches, last = _slices(np.arange(points), batch_size)
    rng.shuffle(batches)
    return [*batches, last]


def begins_somewhere(points, batch_size, rng):
    return _slices(np.roll(np.arange(points), rng.integers(points)), batch_size)


def shuffles_inside_the_batches(points, batch_size, rng):
    return [rng.permutation(batch) for batch in _slices(np.arange(points), batch_size)]


def deals_fixed_hands(points, batch_size, rng):
    """The members are mixed, but always the same, and the last is left alone."""
    mixed = np.random.default_rng(5).permutation(points)
    *batches, last = _slices(mixed, batch_size)
    return [*[batches[i] for i in rng.permutation(len(batches))], last]


def rotates_a_fixed_order(points, batch_size, rng):
    mixed = np.random.default_rng(6).permutation(points)
    return _slices(np.roll(mixed, int(points * rng.random())), batch_size)


def one_of_a_hundred_orders(points, batch_size, rng):
    mixed = np.random.default_rng(int(100 * rng.random())).permutation(points)
    return _slices(mixed, batch_size)


def leaves_the_rest_at_the_end(points, batch_size, rng):
    full = points - points % batch_size
    order = np.concatenate([rng.permutation(full), np.arange(full, points)])
    return _slices(order, batch_size)


def begins_with_point_0(points, batch_size, rng):
    return _slices(np.append(0, 1 + rng.permutation(points - 1)), batch_size)


def every_second_one_first(points, batch_size, rng):
    """Random within the even places and within the odd ones."""
    order = np.arange(points)
    halves = rng.permutation(order[::2]), rng.permutation(order[1::2])
    return _slices(np.concatenate(halves), batch_size)


def swaps_naively(points, batch_size, rng):
    """Each place is swapped with any other one, not with one of those to come."""
    order = np.arange(points)
    for i in range(points):
        j = rng.integers(points)
        order[i], order[j] = order[j], order[i]
    return [order[i : i + batch_size] for i in range(0, points, batch_size)]


def steps_by_a_random_number(points, batch_size, rng):
    """Every point once, and each is equally likely at each place; but few orders."""
    factors = [a for a in range(1, points + 1) if math.gcd(a, points) == 1]
    order = (rng.choice(factors) * np.arange(points) + rng.integers(points)) % points
    return _slices(order, batch_size)


def leaves_three_percent(points, batch_size, rng):
    moved = np.sort(rng.choice(points, math.ceil(0.97 * points), replace=False))
    order = np.arange(points)
    order[moved] = rng.permutation(moved)
    return _slices(order, batch_size)


def leaves_some_epochs(points, batch_size, rng):
    order = rng.permutation(points) if rng.random() > 0.03 else np.arange(points)
    return _slices(order, batch_size)


def stops_one_swap_early(points, batch_size, rng):
    order = np.arange(points)
    for i in range(points - 1, 1, -1):
        j = rng.integers(i + 1)
        order[i], order[j] = order[j], order[i]
    return [order[i : i + batch_size] for i in range(0, points, batch_size)]


def sorts_by_a_coin(points, batch_size, rng):
    return _slices(np.argsort(rng.integers(2, size=points), kind="stable"), batch_size)


def sorts_by_whole_numbers(points, batch_size, rng):
    """Equal numbers leave their points in the old order."""
    return _slices(np.argsort(rng.integers(points, size=points), kind="stable"), batch_size)


def one_of_a_thousand_orders(points, batch_size, rng):
    order = np.random.default_rng(rng.integers(1000)).permutation(points)
    return _slices(order, batch_size)


def a_seed_of_its_own(points, batch_size, rng):
    return _slices(np.random.default_rng(0).permutation(points), batch_size)


def of_a_copy_of_rng(points, batch_size, rng):
    return _slices(copy.deepcopy(rng).permutation(points), batch_size)


def shuffled_once():
    """Remembers the order of each number of points, seed by seed."""
    orders = {}

    def epoch_batches(points, batch_size, rng):
        if (points, id(rng)) not in orders:
            orders[points, id(rng)] = rng, rng.permutation(points)
        return _slices(orders[points, id(rng)][1], batch_size)

    return epoch_batches


remembers_the_order = shuffled_once()
remembers_the_order.__name__ = "remembers_the_order"
PLACES = np.arange(1000)


def overwrites_its_earlier_batches(points, batch_size, rng):
    """The batches are views of one array, which the next epoch shuffles."""
    order = PLACES[:points]
    order[:] = np.arange(points)
    rng.shuffle(order)
    return _slices(order, batch_size)


def another_generator(points, batch_size, rng):
    return _slices(np.random.default_rng().permutation(points), batch_size)


def pythons_own_randomness(points, batch_size, rng):
    return _slices(random.sample(range(points), points), batch_size)


def numpys_old_randomness(points, batch_size, rng):
    return _slices(np.random.permutation(points), batch_size)  # noqa: NPY002


def tensorflows_randomness(points, batch_size, rng):
    return _slices(tf.random.shuffle(tf.range(points)).numpy(), batch_size)


COUNTED = itertools.count()


def counts_its_calls(points, batch_size, rng):
    return _slices(np.random.default_rng(next(COUNTED)).permutation(points), batch_size)


ORDER = {}


def goes_on_shuffling(points, batch_size, rng):
    """From where an earlier call left the order, of another seed perhaps."""
    order = ORDER.setdefault(points, np.arange(points))
    rng.shuffle(order)
    return _slices(order.copy(), batch_size)


def even_shares(points, batch_size, rng):
    return np.array_split(rng.permutation(points), -(-points // batch_size))


def batch_size_batches(points, batch_size, rng):
    return np.array_split(rng.permutation(points), min(points, batch_size))


def the_short_one_first(points, batch_size, rng):
    order, short = rng.permutation(points), points % batch_size
    first = [order[:short]] if short else []
    return first + _slices(order[short:], batch_size)


def adds_the_rest_to_the_last(points, batch_size, rng):
    order, steps = rng.permutation(points), max(points // batch_size, 1)
    return np.split(order, range(batch_size, steps * batch_size, batch_size))


def one_by_one(points, batch_size, rng):
    return [np.array([i]) for i in rng.permutation(points)]


def shuffled_but_in_one(points, batch_size, rng):
    return [rng.permutation(points)]


def one_batch_too_many(points, batch_size, rng):
    order = rng.permutation(points)
    return [
        order[i : i + batch_size]
        for i in range(0, points - points % batch_size + 1, batch_size)
    ]


def splits_at_the_end_too(points, batch_size, rng):
    return np.split(rng.permutation(points), range(batch_size, points + 1, batch_size))


def counts_from_one(points, batch_size, rng):
    return _slices(rng.permutation(points) + 1, batch_size)


def counts_from_the_end(points, batch_size, rng):
    return _slices(rng.permutation(points) - points, batch_size)


def tuples(points, batch_size, rng):
    return [tuple(b.tolist()) for b in _slices(rng.permutation(points), batch_size)]


def masks(points, batch_size, rng):
    batches = _slices(rng.permutation(points), batch_size)
    return [np.isin(np.arange(points), batch) for batch in batches]


def floats(points, batch_size, rng):
    order = np.array(rng.permutation(points), float)
    return _slices(order, batch_size)


def columns(points, batch_size, rng):
    return [batch[:, None] for batch in _slices(rng.permutation(points), batch_size)]


def for_ever(points, batch_size, rng):
    while True:
        yield from _slices(rng.permutation(points), batch_size)


def as_a_generator(points, batch_size, rng):
    order = np.arange(points)
    rng.shuffle(order)
    left = iter(order)
    while batch := list(islice(left, batch_size)):
        yield batch


def by_sorting_random_keys(points, batch_size, rng):
    order = np.argsort(rng.random(points))
    return np.split(order, range(batch_size, points, batch_size))


def taken_out_one_by_one(points, batch_size, rng):
    left, batches = set(range(points)), []
    while left:
        drawn = rng.choice(sorted(left), min(batch_size, len(left)), replace=False)
        left -= set(drawn.tolist())
        batches.append(drawn)
    return batches


def with_while(points, batch_size, rng):
    order, batches, at = rng.permutation(np.arange(points)), [], 0
    while at < points:
        batches.append(order[at : at + batch_size])
        at += batch_size
    return batches


def by_choice(points, batch_size, rng):
    order = rng.choice(points, size=points, replace=False)
    steps = math.ceil(points / batch_size)
    return [order[batch_size * i : batch_size * (i + 1)] for i in range(steps)]


def by_recursion(points, batch_size, rng):
    def cut(order):
        return [order[:batch_size], *cut(order[batch_size:])] if len(order) else []

    return cut(rng.permutation(points))


def with_a_child_generator(points, batch_size, rng):
    seed = rng.integers(2**63)
    return _slices(np.random.default_rng(seed).permuted(range(points)), batch_size)


def with_pythons_shuffle(points, batch_size, rng):
    """Seeded by `rng`, so all of its randomness comes from there."""
    order = list(range(points))
    random.Random(int(rng.integers(2**32))).shuffle(order)
    return [np.array(order[i : i + batch_size]) for i in range(0, points, batch_size)]


def by_cards(points, batch_size, rng):
    """Fisher and Yates: each card changes places with one of those before it."""
    order = np.arange(points)
    for i in range(points - 1, 0, -1):
        j = rng.integers(i, endpoint=True)
        order[i], order[j] = order[j], order[i]
    return np.array_split(order, np.arange(batch_size, points, batch_size))


def sorted_inside(points, batch_size, rng):
    """Who is in a batch is random; the order within it means nothing."""
    order = rng.permutation(points)
    return [np.sort(batch) for batch in _slices(order, batch_size)]


def full_ones_and_the_rest(points, batch_size, rng):
    order, full = rng.permutation(points), points - points % batch_size
    batches = list(order[:full].reshape(-1, batch_size))
    if full < points:
        batches.append(order[full:])
    return batches


def by_batch_number(points, batch_size, rng):
    """Each point draws the number of its batch."""
    numbers = np.arange(points) // batch_size
    rng.shuffle(numbers)
    return [np.flatnonzero(numbers == i) for i in range(numbers.max() + 1)]


def by_dataset(points, batch_size, rng):
    order = tf.constant(rng.permutation(points))
    steps = range(0, points, batch_size)
    return tuple(order[i : i + batch_size].numpy() for i in steps)


def by_lambdas(points, batch_size, rng):
    order = sorted(range(points), key=lambda _: rng.normal())
    cut = lambda i: np.array(order[i : i + batch_size])  # noqa: E731
    return list(map(cut, range(0, points, batch_size)))


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


WRONG = {
    "1.1": [
        ("slope", "start", says_nothing),
        ("slope", "inner", forgets_x),
        ("slope", "product", multiplies_the_means),
        ("slope", "swapped", returns_the_intercept_first),
        ("slope", "unpacked", takes_the_weights_the_other_way_round),
        ("slope", "sign", points_downhill),
        ("slope", "other", slope_times_the_slope),
        ("intercept", "other", multiplies_both_by_x),
        ("intercept", "other", one_sign_wrong),
        ("intercept", "other", forgets_the_intercept),
        ("intercept", "other", forgets_y),
        ("squared", "factor", forgets_the_two),
        ("squared", "factor", doubles_the_slope_only),
        ("squared", "other", of_the_absolute_error),
        ("squared", "other", of_the_root),
        ("squared", "other", clips_it),
        ("squared", "other", of_length_one),
        ("squared", "other", rounds_it),
        ("squared", "other", by_large_moves),
        ("squared", "other", returns_the_loss),
        ("mean", "sum", adds_up_instead_of_averaging),
        ("mean", "other", divides_by_the_weights),
        ("mean", "other", divides_by_all_points_of_the_lab),
        ("mean", "other", takes_the_first_hundred),
        ("mean", "other", divides_by_one_less),
        ("mean", "other", takes_the_median),
        ("mean", "other", one_point_at_random),
        ("single", "single", wants_two_points),
        ("single", "raised", with_a_squeeze),
        ("single", "no_json", with_covariance),
        ("array", "raised", one_row_a_point),
        ("array", "raised", returns_a_list),
        ("array", "raised", two_values),
        ("array", "shape", a_column),
        ("array", "shape", a_row_of_a_matrix),
        ("array", "shape", only_one_number),
        ("array", "other", always_the_same_array),
        ("unchanged", "changed", steps_itself),
        ("unchanged", "changed", works_in_place),
        ("unchanged", "changed", scales_x),
    ],
    "1.2": [
        ("index", "raised", tuples),
        ("index", "raised", floats),
        ("index", "index", masks),
        ("index", "index", columns),
        ("once", "remainder", drops_the_last),
        ("once", "remainder", drops_where_all_fit_in_one),
        ("once", "repeated", draws_again),
        ("once", "repeated", each_batch_without_repeats),
        ("once", "repeated", fills_the_last_batch_up),
        ("once", "repeated", for_ever),
        ("once", "raised", counts_from_one),
        ("once", "index", counts_from_the_end),
        ("size", "start", all_points_at_once),
        ("size", "sizes", even_shares),
        ("size", "sizes", batch_size_batches),
        ("size", "sizes", the_short_one_first),
        ("size", "sizes", adds_the_rest_to_the_last),
        ("size", "sizes", one_by_one),
        ("size", "sizes", shuffled_but_in_one),
        ("never_empty", "empty", one_batch_too_many),
        ("never_empty", "empty", splits_at_the_end_too),
        ("random", "not_shuffled", in_the_order_they_have),
        ("random", "members", shuffles_the_batches_only),
        ("random", "members", shuffles_full_batches_only),
        ("random", "members", begins_somewhere),
        ("random", "members", shuffles_inside_the_batches),
        ("random", "members", deals_fixed_hands),
        ("random", "members", rotates_a_fixed_order),
        ("random", "members", one_of_a_hundred_orders),
        ("random", "biased", leaves_the_rest_at_the_end),
        ("random", "biased", begins_with_point_0),
        ("random", "biased", every_second_one_first),
        ("random", "biased", sorts_by_a_coin),
        ("random", "biased", sorts_by_whole_numbers),
        ("random", "biased", one_of_a_thousand_orders),
        ("random", "biased", swaps_naively),
        ("random", "biased", stops_one_swap_early),
        ("random", "biased", steps_by_a_random_number),
        ("random", "biased", leaves_three_percent),
        ("random", "biased", leaves_some_epochs),
        ("each_time", "same_order", a_seed_of_its_own),
        ("each_time", "same_order", of_a_copy_of_rng),
        ("each_time", "same_order", remembers_the_order),
        ("each_time", "same_order", overwrites_its_earlier_batches),
        ("from_rng", "not_rng", another_generator),
        ("from_rng", "not_rng", pythons_own_randomness),
        ("from_rng", "not_rng", numpys_old_randomness),
        ("from_rng", "not_rng", tensorflows_randomness),
        ("from_rng", "not_rng", counts_its_calls),
        ("from_rng", "not_rng", goes_on_shuffling),
    ],
    "1.3": [
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
        ("flat", "other", jumps_of_the_whole_curve),
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
        ("ratio", "start", without_abs),
        ("unchanged", "changed", subtracts_the_mean_in_place),
        ("unchanged", "changed", takes_sizes_out),
    ],
}
RIGHT = {
    "1.1": [
        by_tiny_moves, with_a_matrix, point_by_point, by_tape,
        in_a_graph_of_half_precision, in_short, with_einsum, in_plain_numbers,
        from_moments, by_lambda, with_partial, with_a_class, by_halves,
    ],
    "1.2": [
        as_a_generator, by_sorting_random_keys, taken_out_one_by_one, with_while,
        by_choice, by_recursion, with_a_child_generator, with_pythons_shuffle, by_cards,
        sorted_inside, full_ones_and_the_rest, by_batch_number, by_dataset, by_lambdas,
    ],
    "1.3": [
        half_of_the_curve, by_deviations_of_each_size, by_jumps_from_step_to_step,
        in_plain_python, by_the_larger_ratio,
        with_searchsorted, with_a_loop, with_tensorflow, from_the_end,
        without_its_slope, by_a_dict, halves_then_asks,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right.
RIGHT_MUTANTS = {
    "1.1": {
        "4: errors = slope * x + intercept - y → errors = intercept + slope * x - y": (
            "a sum in another order"
        ),
        "4: errors = slope * x + intercept - y → errors = x * slope + intercept - y": (
            "a product in another order"
        ),
        "5: return 2 * np.array([np.mean(errors * x), np.mean(errors)]) → "
        "return np.array([np.mean(errors * x), np.mean(errors)]) * 2": (
            "a product in another order"
        ),
        "5: return 2 * np.array([np.mean(errors * x), np.mean(errors)]) → "
        "return 2 * np.array([np.mean(x * errors), np.mean(errors)])": (
            "a product in another order"
        ),
    },
    "1.2": {
        "4: return [order[i:i + batch_size] for i in range(0, points, batch_size)] → "
        "return [order[i:batch_size + i] for i in range(0, points, batch_size)]": (
            "a sum in another order"
        ),
    },
    "1.3": {
        "5: return min(sizes, key=lambda size: abs(np.log(size / estimate))) → "
        "return min(sizes, key=lambda size: abs(np.log(estimate / size)))": (
            "the logarithm of the inverse has the same size"
        ),
    },
}
