"""Answers to lab 01 that must fail, each with its hint, and odd ones that must pass."""

import itertools
import random
from statistics import pvariance

import numpy as np


def _right(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([np.mean(errors * x), np.mean(errors)])


def forgets_the_two(weights, x, y):
    return _right(weights, x, y) / 2


def adds_up_instead_of_averaging(weights, x, y):
    return len(x) * _right(weights, x, y)


def points_downhill(weights, x, y):
    return -_right(weights, x, y)


def returns_the_intercept_first(weights, x, y):
    return _right(weights, x, y)[::-1]


def forgets_x(weights, x, y):
    return np.full(2, _right(weights, x, y)[1])


def one_row_a_point(weights, x, y):
    errors = weights[0] * x + weights[1] - y
    return 2 * np.array([errors * x, errors])


def a_column(weights, x, y):
    return _right(weights, x, y)[:, None]


def only_one_number(weights, x, y):
    return _right(weights, x, y).mean()


def steps_itself(weights, x, y):
    by_weight = _right(weights, x, y)
    weights -= 0.1 * by_weight
    return by_weight


def returns_the_loss(weights, x, y):
    loss = np.mean((weights[0] * x + weights[1] - y) ** 2)
    return np.array([loss, loss])


def returns_a_list(weights, x, y):
    return list(map(float, _right(weights, x, y)))


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


def _slices(order, batch_size):
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def in_the_order_they_have(points, batch_size, rng):
    return _slices(np.arange(points), batch_size)


def drops_the_last(points, batch_size, rng):
    order = rng.permutation(points)
    return [b for b in _slices(order, batch_size) if len(b) == min(batch_size, points)]


def draws_again(points, batch_size, rng):
    steps = -(-points // batch_size)
    return [rng.integers(points, size=batch_size) for _ in range(steps)]


def shuffles_the_batches_only(points, batch_size, rng):
    batches = _slices(np.arange(points), batch_size)
    return [batches[i] for i in rng.permutation(len(batches))]


def a_seed_of_its_own(points, batch_size, rng):
    return _slices(np.random.default_rng(0).permutation(points), batch_size)


def another_generator(points, batch_size, rng):
    return _slices(np.random.default_rng().permutation(points), batch_size)


def pythons_own_randomness(points, batch_size, rng):
    return _slices(random.sample(range(points), points), batch_size)


def even_shares(points, batch_size, rng):
    return np.array_split(rng.permutation(points), -(-points // batch_size))


def batch_size_batches(points, batch_size, rng):
    return np.array_split(rng.permutation(points), min(points, batch_size))


def one_batch_too_many(points, batch_size, rng):
    order = rng.permutation(points)
    return [
        order[i : i + batch_size]
        for i in range(0, points - points % batch_size + 1, batch_size)
    ]


def counts_from_one(points, batch_size, rng):
    return _slices(rng.permutation(points) + 1, batch_size)


def for_ever(points, batch_size, rng):
    while True:
        yield from _slices(rng.permutation(points), batch_size)


def as_a_generator(points, batch_size, rng):
    order = np.arange(points)
    rng.shuffle(order)
    left = iter(order)
    while batch := list(itertools.islice(left, batch_size)):
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


def _nearest(sizes, estimate):
    return min(sizes, key=lambda size: abs(np.log(size / estimate)))


def takes_the_whole_curve(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses))


def divides_deviations(losses, example_variance, sizes):
    return _nearest(sizes, np.sqrt(example_variance) / np.std(losses[len(losses) // 2 :]))


def the_other_way_round(losses, example_variance, sizes):
    return _nearest(sizes, np.var(losses[len(losses) // 2 :]) / example_variance)


def gives_the_estimate(losses, example_variance, sizes):
    return example_variance / np.var(losses[len(losses) // 2 :])


def gives_the_place(losses, example_variance, sizes):
    return sizes.index(half_of_the_curve(losses, example_variance, sizes)) - 99


def always_the_largest(losses, example_variance, sizes):
    return max(sizes)


def returns_nothing(losses, example_variance, sizes):
    half_of_the_curve(losses, example_variance, sizes)


def half_of_the_curve(losses, example_variance, sizes):
    return _nearest(sizes, example_variance / np.var(losses[len(losses) // 2 :], ddof=1))


def by_deviations_of_each_size(losses, example_variance, sizes):
    seen = np.std(losses[-250:])
    expected = np.sqrt(example_variance / np.array(sizes))
    return sizes[np.argmin(np.abs(np.log(expected) - np.log(seen)))]


def by_jumps_from_step_to_step(losses, example_variance, sizes):
    """Differences of neighbours have twice the variance, and no fall in them."""
    late = np.diff(losses)[len(losses) // 3 :]
    return np.int64(_nearest(sizes, 2 * example_variance / np.mean(late**2)))


def in_plain_python(losses, example_variance, sizes):
    flat = [float(loss) for loss in losses][200:]
    estimate = example_variance / pvariance(flat)
    bounds = [(a * b) ** 0.5 for a, b in itertools.pairwise(sizes)]
    return sizes[sum(estimate > bound for bound in bounds)]


WRONG = {
    "1.1": [
        ("factor", forgets_the_two),
        ("sum", adds_up_instead_of_averaging),
        ("sign", points_downhill),
        ("swapped", returns_the_intercept_first),
        ("inner", forgets_x),
        ("raised", one_row_a_point),
        ("shape", a_column),
        ("shape", only_one_number),
        ("changed", steps_itself),
        ("other", returns_the_loss),
        ("raised", returns_a_list),
    ],
    "1.2": [
        ("not_shuffled", in_the_order_they_have),
        ("remainder", drops_the_last),
        ("repeated", draws_again),
        ("neighbours", shuffles_the_batches_only),
        ("same_order", a_seed_of_its_own),
        ("not_rng", another_generator),
        ("not_rng", pythons_own_randomness),
        ("sizes", even_shares),
        ("sizes", batch_size_batches),
        ("empty", one_batch_too_many),
        ("raised", counts_from_one),
        ("repeated", for_ever),
    ],
    "1.3": [
        ("descent", takes_the_whole_curve),
        ("root", divides_deviations),
        ("inverse", the_other_way_round),
        ("not_listed", gives_the_estimate),
        ("not_listed", gives_the_place),
        ("other", always_the_largest),
        ("raised", returns_nothing),
    ],
}
UNUSUAL = {
    "1.1": [by_tiny_moves, with_a_matrix, point_by_point],
    "1.2": [as_a_generator, by_sorting_random_keys, taken_out_one_by_one],
    "1.3": [
        half_of_the_curve,
        by_deviations_of_each_size,
        by_jumps_from_step_to_step,
        in_plain_python,
    ],
}
