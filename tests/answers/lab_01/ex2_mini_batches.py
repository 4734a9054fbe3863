"""Recorded answers to 1.2: wrong ones, and right ones in other styles."""

import copy
import itertools
import math
import random
from itertools import islice

import numpy as np
import tensorflow as tf


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


WRONG = [
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
    ("index", "raised", counts_from_one),
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
]
RIGHT = [
    as_a_generator, by_sorting_random_keys, taken_out_one_by_one, with_while,
    by_choice, by_recursion, with_a_child_generator, with_pythons_shuffle, by_cards,
    sorted_inside, full_ones_and_the_rest, by_batch_number, by_dataset, by_lambdas,
]  # fmt: skip
