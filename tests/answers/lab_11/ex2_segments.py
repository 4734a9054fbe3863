"""Recorded answers to 11.2: wrong ones, and right ones in other styles."""

import math
from functools import cache
from itertools import accumulate, combinations, pairwise, product

import numpy as np


def parts(sizes, firsts):
    return [sizes[a:b] for a, b in pairwise([*firsts, len(sizes)])]


def true_peak(sizes, firsts):
    split = parts(sizes, firsts)
    return sum(part[0] for part in split) + max(sum(part[1:]) for part in split)


def every(n):
    return [[0, *rest] for k in range(n) for rest in combinations(range(1, n), k)]


def search(
    peak=true_peak,
    tried=every,
    all_fit=lambda total, budget: total <= budget,
    fits=lambda held, budget: held <= budget,
    everything=lambda sizes: [],
    form=lambda firsts, sizes: firsts,
    nothing=lambda sizes, firsts: None,
):
    """An answer to 11.2 with these parts; as they stand it is right."""

    def answer(activation_bytes, budget):
        sizes = list(activation_bytes)
        if all_fit(sum(sizes), budget):
            return everything(sizes)
        candidates = tried(len(sizes))
        for firsts in candidates:
            if fits(peak(sizes, firsts), budget):
                return form(firsts, sizes)
        return nothing(sizes, candidates)

    return answer


def with_peak(formula):
    """An answer with another peak: ``formula(checkpoints, parts)``."""

    def peak(sizes, firsts):
        split = parts(sizes, firsts)
        return formula(sum(part[0] for part in split), split)

    return search(peak=peak)


def others(split):
    return [sum(part[1:]) for part in split]


def nothing_twice(activation_bytes, budget):
    return []


def the_best(sizes, candidates):
    return min(candidates, key=lambda firsts: true_peak(sizes, firsts))


def equal_lengths(n):
    return [list(range(0, n, step)) for step in range(1, n + 1)]


def square_root(n):
    return [list(range(0, n, max(1, round(n**0.5))))]


def two_segments(n):
    return [[0], *([0, cut] for cut in range(1, n))]


def greedy(activation_bytes, budget):
    """Fills segments in order, and never looks back."""
    if sum(activation_bytes) <= budget:
        return []
    for room in range(sum(activation_bytes) + 1):
        firsts, held = [0], 0
        for i, size in enumerate(activation_bytes[1:], 1):
            if held + size > room:
                firsts.append(i)
                held = 0
            else:
                held += size
        if true_peak(activation_bytes, firsts) <= budget:
            return firsts
    return None


def never_more_than_four(n):
    return [firsts for firsts in every(n) if len(firsts) <= 3]


def pops(activation_bytes, budget):
    found = search()(activation_bytes, budget)
    activation_bytes.pop()
    return found


def sorts(activation_bytes, budget):
    found = search()(activation_bytes, budget)
    activation_bytes.sort()
    return found


def one_list(activation_bytes, budget, result=[]):  # noqa: B006
    """The default is made once: a later call changes what earlier ones returned."""
    found = search()(activation_bytes, budget)
    if found is None:
        return None
    result[:] = found
    return result


def remembers():
    """Keeps the first reply to each length."""
    replies = {}

    def answer(activation_bytes, budget):
        n = len(activation_bytes)
        if n not in replies:
            replies[n] = search()(activation_bytes, budget)
        return replies[n]

    return answer


def lengths_of(firsts, sizes):
    return [len(part) for part in parts(sizes, firsts)]


def ends_of(firsts, sizes):
    return [*firsts[1:], len(sizes)]


def takes_the_last_that_fits():
    """Tries first what it has found for as many layers."""
    right, last = search(), {}

    def segments(activation_bytes, budget):
        count, total = len(activation_bytes), sum(activation_bytes)
        if total > budget and count in last:
            parts = [activation_bytes[a:b] for a, b in pairwise((*last[count], count))]
            held = sum(part[0] for part in parts)
            if held + max(sum(part[1:]) for part in parts) <= budget:
                return list(last[count])
        found = right(activation_bytes, budget)
        if found:
            last[count] = list(found)
        return found

    return segments


@cache
def _cached(activation_bytes, budget):
    return search()(list(activation_bytes), budget)


def cached_list(activation_bytes, budget):
    """Equal arguments get the same list."""
    return _cached(tuple(activation_bytes), budget)


WRONG = [
    ("unchanged", "changed", pops),
    ("unchanged", "changed", sorts),
    ("apart", "kept", one_list),
    ("apart", "repeated", remembers()),
    ("apart", "repeated", takes_the_last_that_fits()),
    ("apart", "repeated", cached_list),
    ("fits", "start", nothing_twice),
    ("fits", "too_much", search(nothing=lambda sizes, firsts: [])),
    ("everything", "not_all", search(all_fit=lambda total, budget: False)),
    ("everything", "not_all", search(everything=lambda sizes: None)),
    ("everything", "not_all", search(everything=lambda sizes: list(range(len(sizes))))),
    ("exact", "sum_below", search(all_fit=lambda total, budget: total < budget)),
    ("exact", "peak_below", search(fits=lambda held, budget: held < budget)),
    ("none", "best_anyway", search(nothing=the_best)),
    ("again", "counts_twice", with_peak(lambda held, split: held + max(map(sum, split)))),
    ("again", "all_others", with_peak(lambda held, split: held + sum(others(split)))),
    ("checkpoints", "no_checkpoints", with_peak(lambda held, split: max(others(split)))),
    ("checkpoints", "one_segment", with_peak(lambda held, split: max(map(sum, split)))),
    (
        "checkpoints", "not_the_first",
        with_peak(lambda held, split: held - split[0][0] + max(others(split))),
    ),
    (
        "checkpoints", "keeps_the_last",
        with_peak(lambda held, split: sum(p[-1] for p in split)
                  + max(sum(p[:-1]) for p in split)),
    ),
    (
        "again", "too_few",
        with_peak(lambda held, split: held + max(others(split)[:-1], default=0)),
    ),
    ("again", "too_few", with_peak(lambda held, split: held + others(split)[-1])),
    ("again", "too_few", with_peak(lambda held, split: held + others(split)[0])),
    (
        "again", "too_few",
        with_peak(lambda held, split: held + sum(others(split)) / len(split)),
    ),
    (
        "again", "too_few",
        with_peak(lambda held, split: held + max(max(p[1:], default=0) for p in split)),
    ),
    (
        "again", "too_few",
        with_peak(lambda held, split: held + sum(max(split, key=len)[1:])),
    ),
    ("found", "square_root", search(tried=square_root)),
    ("found", "two_segments", search(tried=two_segments)),
    ("found", "equal_lengths", search(tried=equal_lengths)),
    ("found", "misses", search(tried=never_more_than_four)),
    ("found", "greedy", greedy),
    ("fits", "too_large", search(form=lambda firsts, sizes: list(range(0, len(sizes), 3)))),
    ("form", "form", search(form=lambda firsts, sizes: set(firsts))),
    ("form", "form", search(form=lambda firsts, sizes: parts(sizes, firsts))),
    ("form", "form", search(form=lambda firsts, sizes: [float(i) for i in firsts])),
    ("form", "form", search(form=lambda firsts, sizes: [i in firsts for i in range(8)])),
    ("form", "form", search(form=lambda firsts, sizes: "\ud800")),
    ("form", "form", search(form=lambda firsts, sizes: float("nan"))),
    ("form", "form", search(form=lambda firsts, sizes: [0, 10**5000])),
    ("form", "form", search(form=lambda firsts, sizes: range(10**9))),
    ("form", "form", search(nothing=lambda sizes, firsts: False)),
    ("form", "first", search(form=lambda firsts, sizes: [i + 1 for i in firsts])),
    ("form", "first", search(form=lambda firsts, sizes: firsts[1:] or [1])),
    ("form", "first", search(form=ends_of)),
    ("form", "first", search(form=lengths_of)),
    ("form", "order", search(form=lambda firsts, sizes: [0, *firsts])),
    ("form", "order", search(form=lambda firsts, sizes: [0, *firsts[:0:-1], 0])),
    ("form", "range", search(form=lambda firsts, sizes: [*firsts, len(sizes)])),
]  # fmt: skip


def with_bits(activation_bytes, budget):
    """Each layer after the first begins a segment or does not."""
    if sum(activation_bytes) <= budget:
        return []
    n = len(activation_bytes)
    for bits in range(2 ** (n - 1)):
        kept = again = most = 0
        for i, size in enumerate(activation_bytes):
            if i == 0 or bits >> (i - 1) & 1:
                kept, again = kept + size, 0
            else:
                again += size
                most = max(most, again)
        if kept + most <= budget:
            return [0] + [i for i in range(1, n) if bits >> (i - 1) & 1]
    return None


def with_product(activation_bytes, budget):
    if sum(activation_bytes) <= budget:
        return []
    for cuts in product([False, True], repeat=len(activation_bytes) - 1):
        firsts = [0, *(i for i, cut in enumerate(cuts, 1) if cut)]
        if true_peak(activation_bytes, firsts) <= budget:
            return firsts
    return None


def with_recursion(activation_bytes, budget):
    n = len(activation_bytes)
    if sum(activation_bytes) <= budget:
        return []

    def extend(firsts):
        if true_peak(activation_bytes, firsts) <= budget:
            return firsts
        for i in range(firsts[-1] + 1, n):
            if found := extend([*firsts, i]):
                return found
        return None

    return extend([0])


def by_dynamic_programming(activation_bytes, budget):
    """The fewest bytes of checkpoints for each limit of a segment's other layers."""
    if sum(activation_bytes) <= budget:
        return []
    n = len(activation_bytes)
    total = [0, *accumulate(activation_bytes)]
    limits = {total[b] - total[a] for a in range(n + 1) for b in range(a, n + 1)}
    for limit in limits:

        @cache
        def cheapest(first, limit=limit):
            if first == n:
                return 0, ()
            ways = []
            for end in range(first + 1, n + 1):
                if total[end] - total[first + 1] <= limit:
                    cost, rest = cheapest(end)
                    ways.append((activation_bytes[first] + cost, (first, *rest)))
            return min(ways)

        cost, firsts = cheapest(0)
        if cost + limit <= budget:
            return list(firsts)
    return None


def with_numpy(activation_bytes, budget):
    sizes = np.array(activation_bytes)
    if sizes.sum() <= budget:
        return np.array([], dtype=int)
    n = len(sizes)
    for bits in range(1 << (n - 1)):
        starts = np.array([True] + [bool(bits >> i & 1) for i in range(n - 1)])
        firsts = np.flatnonzero(starts)
        again = np.add.reduceat(np.where(starts, 0, sizes), firsts).max()
        if sizes[starts].sum() + again <= budget:
            return firsts
    return None


def the_lowest_peak(activation_bytes, budget):
    if sum(activation_bytes) <= budget:
        return []
    best = min(every(len(activation_bytes)), key=lambda f: true_peak(activation_bytes, f))
    return best if true_peak(activation_bytes, best) <= budget else None


def the_most_segments(activation_bytes, budget):
    if sum(activation_bytes) <= budget:
        return []
    for firsts in reversed(every(len(activation_bytes))):
        if true_peak(activation_bytes, firsts) <= budget:
            return tuple(firsts)
    return None


def the_fewest_recomputed(activation_bytes, budget):
    """Of all that fit, the segmentation that computes the fewest layers again."""
    if sum(activation_bytes) <= budget:
        return []
    n = len(activation_bytes)
    fitting = [f for f in every(n) if true_peak(activation_bytes, f) <= budget]
    return max(fitting, key=len, default=None)


def with_infinity(activation_bytes, budget):
    best, lowest = None, math.inf
    for firsts in every(len(activation_bytes)):
        held = true_peak(activation_bytes, firsts)
        if held < lowest:
            best, lowest = firsts, held
    if sum(activation_bytes) <= budget:
        best, lowest = [], 0
    return best if lowest <= budget else None


RIGHT = [
    search(), with_bits, with_product, with_recursion, by_dynamic_programming, with_numpy,
    the_lowest_peak, the_most_segments, the_fewest_recomputed, with_infinity,
    search(form=lambda firsts, sizes: [np.int64(i) for i in firsts]),
    search(everything=lambda sizes: ()),
]  # fmt: skip
