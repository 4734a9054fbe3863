"""Recorded answers to 0.3: wrong ones, and right ones in other styles."""

import bisect
import functools
import itertools
from operator import lt

import numpy as np
import tensorflow as tf


def start_crossover(sizes, slow_seconds, fast_seconds):
    return sizes[0]


def first_win(sizes, slow_seconds, fast_seconds):
    rows = zip(sizes, slow_seconds, fast_seconds, strict=True)
    return next((n for n, slow, fast in rows if fast < slow), None)


def first_win_that_lasts_one_more(sizes, slow_seconds, fast_seconds):
    wins = [f < s for s, f in zip(slow_seconds, fast_seconds, strict=True)]
    for i, win in enumerate(wins):
        if win and wins[min(i + 1, len(wins) - 1)]:
            return sizes[i]
    return None


def after_the_first_loss(sizes, slow_seconds, fast_seconds):
    """Forgets that it may win, lose, win and lose again."""
    won = False
    for n, slow, fast in zip(sizes, slow_seconds, fast_seconds, strict=True):
        if fast < slow and not won:
            winner, won = n, True
        elif fast >= slow and won:
            return first_win(
                sizes[sizes.index(n) + 1 :],
                slow_seconds[sizes.index(n) + 1 :],
                fast_seconds[sizes.index(n) + 1 :],
            )
    return winner if won else None


def by_bisection(sizes, slow_seconds, fast_seconds):
    rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True))
    at = bisect.bisect_left(rows, True, key=lambda row: row[2] < row[1])
    return sizes[at] if at < len(sizes) else None


def last_crossing(sizes, slow_seconds, fast_seconds):
    """None if fast wins everywhere: then nothing is crossed."""
    rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True))
    if fast_seconds[-1] >= slow_seconds[-1]:
        return None
    for i in range(len(rows) - 1, 0, -1):
        if rows[i - 1][2] >= rows[i - 1][1]:
            return rows[i][0]
    return None


def misses_the_smallest(sizes, slow_seconds, fast_seconds):
    winner = None
    for i in range(len(sizes) - 1, 0, -1):
        if fast_seconds[i] >= slow_seconds[i]:
            return winner
        winner = sizes[i]
    return winner


def gives_the_last_loss(sizes, slow_seconds, fast_seconds):
    for n, slow, fast in list(zip(sizes, slow_seconds, fast_seconds, strict=True))[::-1]:
        if fast >= slow:
            return n
    return None


def goes_on_after_a_loss(sizes, slow_seconds, fast_seconds):
    """`continue` in place of `break`."""
    winner = None
    for n, slow, fast in list(zip(sizes, slow_seconds, fast_seconds, strict=True))[::-1]:
        if fast >= slow:
            continue
        winner = n
    return winner


def by_sums(sizes, slow_seconds, fast_seconds):
    for i, n in enumerate(sizes):
        if sum(fast_seconds[i:]) < sum(slow_seconds[i:]):
            return n
    return None


def counts_a_tie(sizes, slow_seconds, fast_seconds):
    winner = None
    for n, slow, fast in list(zip(sizes, slow_seconds, fast_seconds, strict=True))[::-1]:
        if fast > slow:
            return winner
        winner = n
    return winner


def counts_a_tie_at_the_end(sizes, slow_seconds, fast_seconds):
    if fast_seconds[-1] > slow_seconds[-1]:
        return None
    return backwards(sizes, [*slow_seconds[:-1], slow_seconds[-1] + 1], fast_seconds)


def wants_a_clear_win(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, [0.95 * slow for slow in slow_seconds], fast_seconds)


def in_float16(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, np.float16(slow_seconds), np.float16(fast_seconds))


def takes_close_ones_for_ties(sizes, slow_seconds, fast_seconds):
    """As `numpy.isclose` does by itself."""
    slow = [
        f if np.isclose(s, f) else s
        for s, f in zip(slow_seconds, fast_seconds, strict=True)
    ]
    return backwards(sizes, slow, fast_seconds)


def rounds_to_milliseconds(sizes, slow_seconds, fast_seconds):
    slow, fast = np.round(slow_seconds, 3), np.round(fast_seconds, 3)
    return backwards(sizes, slow, fast)


def the_other_way_round(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, fast_seconds, slow_seconds)


def gives_the_place(sizes, slow_seconds, fast_seconds):
    found = backwards(sizes, slow_seconds, fast_seconds)
    return None if found is None else sizes.index(found)


def gives_text(sizes, slow_seconds, fast_seconds):
    found = backwards(sizes, slow_seconds, fast_seconds)
    return None if found is None else str(found)


def between_two_sizes(sizes, slow_seconds, fast_seconds):
    """Where the lines between the points cross."""
    found = backwards(sizes, slow_seconds, fast_seconds)
    if found is None or found == sizes[0]:
        return found
    at = sizes.index(found)
    return (sizes[at - 1] + sizes[at]) / 2


def largest_where_nobody_wins(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, slow_seconds, fast_seconds) or sizes[-1]


def zero_where_nobody_wins(sizes, slow_seconds, fast_seconds):
    return backwards(sizes, slow_seconds, fast_seconds) or 0


def index_error(sizes, slow_seconds, fast_seconds):
    i = len(sizes) - 1
    while fast_seconds[i] < slow_seconds[i]:
        i -= 1
    return sizes[i + 1]


def reverses_in_place(sizes, slow_seconds, fast_seconds):
    for times in (sizes, slow_seconds, fast_seconds):
        times.reverse()
    winner = None
    for n, slow, fast in zip(sizes, slow_seconds, fast_seconds, strict=True):
        if fast >= slow:
            break
        winner = n
    return winner


def takes_from_the_lists(sizes, slow_seconds, fast_seconds):
    winner = None
    while sizes and fast_seconds.pop() < slow_seconds.pop():
        winner = sizes.pop()
    return winner


def backwards(sizes, slow_seconds, fast_seconds):
    best = None
    for i in range(len(sizes) - 1, -1, -1):
        if fast_seconds[i] >= slow_seconds[i]:
            return best
        best = sizes[i]
    return best


def with_numpy(sizes, slow_seconds, fast_seconds):
    loses = np.flatnonzero(np.array(fast_seconds) >= np.array(slow_seconds))
    place = loses[-1] + 1 if len(loses) else 0
    return None if place == len(sizes) else np.int64(sizes[place])


def with_all(sizes, slow_seconds, fast_seconds):
    for i in range(len(sizes)):
        if all(f < s for s, f in zip(slow_seconds[i:], fast_seconds[i:], strict=True)):
            return sizes[i]


def with_takewhile(sizes, slow_seconds, fast_seconds):
    rows = zip(sizes[::-1], slow_seconds[::-1], fast_seconds[::-1], strict=True)
    won = [size for size, *_ in itertools.takewhile(lambda row: row[2] < row[1], rows)]
    return won[-1] if won else None


def forwards(sizes, slow_seconds, fast_seconds):
    winner = None
    for size, slow, fast in zip(sizes, slow_seconds, fast_seconds, strict=True):
        if fast >= slow:
            winner = None
        elif winner is None:
            winner = size
    return winner


def recursive(sizes, slow_seconds, fast_seconds):
    *sizes, size = sizes
    *slow_seconds, slow = slow_seconds
    *fast_seconds, fast = fast_seconds
    if not fast < slow:
        return None
    smaller = recursive(sizes, slow_seconds, fast_seconds) if sizes else None
    return size if smaller is None else smaller


def with_min(sizes, slow_seconds, fast_seconds):
    lost = [n for n, s, f in zip(sizes, slow_seconds, fast_seconds, strict=True) if f >= s]
    return min((n for n in sizes if n > max(lost, default=-1)), default=None)


def with_cumulative(sizes, slow_seconds, fast_seconds):
    wins = np.less(fast_seconds, slow_seconds)[::-1]
    count = int(np.logical_and.accumulate(wins).sum())
    return sizes[-count] if count else None


def with_tensorflow(sizes, slow_seconds, fast_seconds):
    ahead = tf.constant(slow_seconds, tf.float64) - tf.constant(fast_seconds, tf.float64)
    always = tf.math.cumprod(tf.cast(ahead > 0, tf.int32), reverse=True)
    found = tf.boolean_mask(tf.constant(sizes), tf.cast(always, tf.bool))
    return int(found[0]) if len(found) else None


def with_while(sizes, slow_seconds, fast_seconds):
    place = len(sizes)
    while place > 0 and slow_seconds[place - 1] > fast_seconds[place - 1]:
        place = place - 1
    return (list(sizes) + [None])[place]  # noqa: RUF005


def with_a_dict(sizes, slow_seconds, fast_seconds):
    won = dict(zip(sizes, map(lt, fast_seconds, slow_seconds), strict=True))
    candidates = [size for size in won if all(won[n] for n in won if n >= size)]
    try:
        return candidates[0]
    except IndexError:
        return None


by_reduce = lambda sizes, slow, fast: functools.reduce(  # noqa: E731
    lambda winner, row: (winner or row[0]) if row[1] > row[2] else None,
    zip(sizes, slow, fast, strict=True),
    None,
)
by_reduce.__name__ = "by_reduce"


def looks_the_size_up_by_its_time(sizes, slow_seconds, fast_seconds):
    found = None
    for slow, fast in reversed(list(zip(slow_seconds, fast_seconds, strict=True))):
        if fast >= slow:
            break
        found = sizes[slow_seconds.index(slow)]
    return found


def looks_the_size_up_by_the_fast_time(sizes, slow_seconds, fast_seconds):
    by_time = dict(zip(fast_seconds[::-1], sizes[::-1], strict=True))
    found = None
    for slow, fast in reversed(list(zip(slow_seconds, fast_seconds, strict=True))):
        if fast >= slow:
            break
        found = by_time[fast]
    return found


def gives_up_after_a_tie_anywhere(sizes, slow_seconds, fast_seconds):
    if any(s <= f for s, f in zip(slow_seconds[1:], fast_seconds[1:], strict=True)):
        return None
    return backwards(sizes, slow_seconds, fast_seconds)


def stops_above_the_smallest(sizes, slow_seconds, fast_seconds):
    found = backwards(sizes, slow_seconds, fast_seconds)
    return sizes[1] if found == sizes[0] and len(sizes) > 1 else found


def takes_the_size_below(sizes, slow_seconds, fast_seconds):
    """Where it was still slower, or as fast."""
    found = backwards(sizes, slow_seconds, fast_seconds)
    if found in (None, sizes[0]):
        return found
    return sizes[sizes.index(found) - 1]


WRONG = [
    ("every_larger", "too_late", stops_above_the_smallest),
    ("every_larger", "lost_above", takes_the_size_below),
    ("every_larger", "looked_up", looks_the_size_up_by_its_time),
    ("every_larger", "looked_up", looks_the_size_up_by_the_fast_time),
    ("every_larger", "gave_up", gives_up_after_a_tie_anywhere),
    ("every_larger", "start", start_crossover),
    ("every_larger", "first_win", first_win),
    ("every_larger", "first_win", goes_on_after_a_loss),
    ("every_larger", "first_win", first_win_that_lasts_one_more),
    ("every_larger", "first_win", after_the_first_loss),
    ("every_larger", "first_win", by_bisection),
    ("every_larger", "gave_up", last_crossing),
    ("every_larger", "gave_up", misses_the_smallest),
    ("every_larger", "last_loss", gives_the_last_loss),
    ("none", "never", by_sums),
    ("every_larger", "raised", index_error),
    ("tie", "tie", counts_a_tie),
    ("tie", "tie", counts_a_tie_at_the_end),
    ("every_larger", "gave_up", wants_a_clear_win),
    ("every_larger", "gave_up", rounds_to_milliseconds),
    ("every_larger", "close", in_float16),
    ("every_larger", "close", takes_close_ones_for_ties),
    ("slow_fast", "swapped", the_other_way_round),
    ("size", "index", gives_the_place),
    ("size", "no_size", gives_text),
    ("size", "no_size", between_two_sizes),
    ("none", "never", largest_where_nobody_wins),
    ("none", "never", zero_where_nobody_wins),
    ("unchanged", "changed", reverses_in_place),
    ("unchanged", "changed", takes_from_the_lists),
]
RIGHT = [
    backwards, with_numpy, with_all, with_takewhile, forwards, recursive, with_min,
    with_cumulative, with_tensorflow, with_while, with_a_dict, by_reduce,
]  # fmt: skip
