"""Recorded answers to 8.2: wrong ones, and right ones in other styles."""

import copy
import functools
import math

import numpy as np


def after_change(seconds, left):
    return sum(s * left.get(name, 1) for name, s in seconds.items())


def strongest(seconds, changes):
    best = min(changes, key=lambda name: min(changes[name].values()))
    return best, 1 / (1e-9 + min(changes[best].values()))


def takes_the_largest(seconds, changes):
    largest = max(seconds, key=seconds.get)
    touching = [name for name in changes if largest in changes[name]]
    best = min(
        touching, key=lambda name: after_change(seconds, changes[name]), default=None
    )
    total = sum(seconds.values())
    if best is None or after_change(seconds, changes[best]) >= total:
        return None, 1.0
    return best, total / after_change(seconds, changes[best])


def leaves_out_small_operations(seconds, changes):
    least = 0.01 * sum(seconds.values())
    large = {
        name: {o: part for o, part in left.items() if seconds.get(o, 0) >= least}
        for name, left in changes.items()
    }
    return sorts_them(seconds, large)


def sees_only_gains(seconds, changes):
    capped = {n: {o: min(1, p) for o, p in left.items()} for n, left in changes.items()}
    return sorts_them(seconds, capped)


def saves_most_of_one_operation(seconds, changes):
    saved = {
        name: max(
            seconds.get(operation, 0) * (1 - part) for operation, part in left.items()
        )
        for name, left in changes.items()
    }
    best = max(saved, key=saved.get)
    speedup = sum(seconds.values()) / after_change(seconds, changes[best])
    return (best, speedup) if speedup > 1 else (None, 1.0)


def looks_at_one_operation(seconds, changes):
    first = {name: dict(list(left.items())[:1]) for name, left in changes.items()}
    return sorts_them(seconds, first)


def always_takes_one(seconds, changes):
    best = min(changes, key=lambda name: after_change(seconds, changes[name]))
    return best, sum(seconds.values()) / after_change(seconds, changes[best])


def takes_one_that_changes_nothing(seconds, changes):
    best = min(changes, key=lambda name: after_change(seconds, changes[name]))
    speedup = sum(seconds.values()) / after_change(seconds, changes[best])
    return (best, speedup) if speedup >= 1 else (None, 1.0)


def says_seconds(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, sum(seconds.values()) * (1 - 1 / ratio)


def says_what_is_left(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, 1 / ratio


def says_percent(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, 100 * (1 - 1 / ratio)


def forgets_the_rest(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    mine = {o: s for o, s in seconds.items() if name and o in changes[name]}
    return name, sum(mine.values()) / after_change(mine, changes[name]) if name else ratio


def squares_it(seconds, changes):
    name, ratio = sorts_them(seconds, changes)
    return name, ratio**2


def counts_what_is_not_there(seconds, changes):
    after = {
        name: after_change(seconds, left)
        + sum(part for operation, part in left.items() if operation not in seconds)
        for name, left in changes.items()
    }
    best, before = min(after, key=after.get), sum(seconds.values())
    return (best, before / after[best]) if after[best] < before else (None, 1.0)


def takes_zero_for_unnamed(seconds, changes):
    seen = {
        name: {operation: part or 1 for operation, part in left.items()}
        for name, left in changes.items()
    }
    return sorts_them(seconds, seen)


def leaves_out_little_gains(seconds, changes):
    best, times = sorts_them(seconds, changes)
    return (best, times) if times > 1.1 else (None, 1.0)


def wants_every_operation(seconds, changes):
    total = sum(seconds.values())
    after = {
        name: total - sum(seconds[o] * (1 - p) for o, p in left.items())
        for name, left in changes.items()
    }
    best = min(after, key=after.get)
    return best, total / after[best]


def takes_the_worst(seconds, changes):
    worst = max(changes, key=lambda name: after_change(seconds, changes[name]))
    return worst, sum(seconds.values()) / after_change(seconds, changes[worst])


def empties_the_profile(seconds, changes):
    found = sorts_them(seconds, changes)
    seconds.clear()
    return found


def sorts_them(seconds, changes):
    total = sum(seconds.values())
    after = sorted((after_change(seconds, left), name) for name, left in changes.items())
    shortest, name = after[0]
    return (name, total / shortest) if shortest < total else (None, 1.0)


def with_saved_time(seconds, changes):
    saved = {
        name: sum(seconds.get(o, 0) * (1 - p) for o, p in left.items())
        for name, left in changes.items()
    }
    best = max(saved, key=saved.get)
    total = sum(seconds.values())
    return (best, total / (total - saved[best])) if saved[best] > 0 else (None, 1.0)


def with_a_loop(seconds, changes):
    best, speedup = None, 1.0
    before = sum(seconds.values())
    for name in changes:
        after = 0.0
        for operation, s in seconds.items():
            if operation in changes[name]:
                s = s * changes[name][operation]
            after += s
        if before / after > speedup:
            best, speedup = name, before / after
    return best, speedup


def with_shares(seconds, changes):
    total = math.fsum(seconds.values())
    shares = {name: s / total for name, s in seconds.items()}
    speedups = {None: 1.0} | {n: 1 / after_change(shares, c) for n, c in changes.items()}
    best = max(speedups, key=speedups.get)
    return [best, speedups[best]]


def with_the_same_change(seconds, changes):
    choices = {None: {}} | changes
    best = min(choices, key=lambda name: after_change(seconds, choices[name]))
    return best, after_change(seconds, {}) / after_change(seconds, choices[best])


def with_arrays(seconds, changes):
    s = np.array(list(seconds.values()))
    left = np.array([[c.get(o, 1.0) for o in seconds] for c in changes.values()])
    after = left @ s
    i = int(after.argmin())
    return (
        (list(changes)[i], float(s.sum() / after[i])) if after[i] < s.sum() else (None, 1)
    )


def with_copies(seconds, changes):
    results = []
    for name, left in changes.items():
        new = copy.deepcopy(seconds)
        for operation in new.keys() & left.keys():
            new[operation] *= left[operation]
        results.append((sum(seconds.values()) / sum(new.values()), name))
    ratio, name = max(results)
    return (name, ratio) if ratio > 1 else (None, 1.0)


def with_amdahl(seconds, changes):
    """1 / (1 - p + p / s), with p the share and s the factor of what changes."""
    total, best = sum(seconds.values()), (None, 1.0)
    for name, left in changes.items():
        mine = [o for o in left if o in seconds]
        p = sum(seconds[o] for o in mine) / total
        rest = sum(seconds[o] * left[o] for o in mine) / total
        ratio = 1 / (1 - p + rest)
        if ratio > best[1]:
            best = name, ratio
    return best


def with_reduce(seconds, changes):
    total = sum(seconds.values())

    def better(best, name):
        ratio = total / after_change(seconds, changes[name])
        return (name, ratio) if ratio > best[1] else best

    return functools.reduce(better, changes, (None, 1.0))


def with_filter(seconds, changes):
    total = sum(seconds.values())
    gains = {n: total / after_change(seconds, c) for n, c in changes.items()}
    faster = {n: gain for n, gain in gains.items() if gain > 1}
    if not faster:
        return None, 1.0
    best = max(faster, key=faster.get)
    return best, faster[best]


def takes_the_only_one(seconds, changes):
    if len(changes) == 1:
        [(name, left)] = changes.items()
        return name, sum(seconds.values()) / after_change(seconds, left)
    return sorts_them(seconds, changes)


_found = {}


def finds_by_names(seconds, changes):
    """As if the same names always stood for the same numbers."""
    key = (*sorted(seconds), "", *changes)
    if key not in _found:
        _found[key] = sorts_them(seconds, changes)
    return _found[key]


WRONG = [
    ("none", "only_choice", takes_the_only_one),
    ("whole_step", "start", strongest),
    ("whole_step", "largest_operation", takes_the_largest),
    ("whole_step", "one_saving", saves_most_of_one_operation),
    ("whole_step", "other", takes_the_worst),
    ("whole_step", "remembers", finds_by_names),
    ("several", "first_operation", looks_at_one_operation),
    ("missing", "raised", wants_every_operation),
    ("missing", "absent", counts_what_is_not_there),
    ("whole_step", "zero_for_none", takes_zero_for_unnamed),
    ("none", "other", leaves_out_little_gains),
    ("slower", "only_gains", sees_only_gains),
    ("none", "always", always_takes_one),
    ("none", "equal", takes_one_that_changes_nothing),
    ("speedup", "saved", says_seconds),
    ("speedup", "inverted", says_what_is_left),
    ("speedup", "percent", says_percent),
    ("speedup", "touched", forgets_the_rest),
    ("speedup", "speedup", squares_it),
    ("speedup", "speedup", leaves_out_small_operations),
    ("unchanged", "changed", empties_the_profile),
]
RIGHT = [
    sorts_them, with_saved_time, with_a_loop, with_shares, with_the_same_change,
    with_arrays, with_copies, with_amdahl, with_reduce, with_filter,
]  # fmt: skip
