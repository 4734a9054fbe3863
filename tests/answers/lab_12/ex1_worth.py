"""Recorded answers to 12.1: wrong ones, and right ones in other styles."""

import math
import statistics
from fractions import Fraction
from functools import cache
from itertools import accumulate
from statistics import median

import numpy as np

NEVER = math.inf


def pairs_by_seed(ours, theirs):
    seeds = [seed for seed in ours if seed in theirs]
    return [tuple(NEVER if t[s] is None else t[s] for t in (ours, theirs)) for s in seeds]


def quotients(pairs):
    return sorted(a / b for a, b in pairs if a < NEVER or b < NEVER)


def tail(n, k):
    return sum(math.comb(n, i) for i in range(k, n + 1)) / 2**n


def differing(pairs):
    return [(a, b) for a, b in pairs if a != b]


def chance(pairs):
    kept = differing(pairs)
    return tail(len(kept), sum(a > b for a, b in kept))


def finite(value):
    return None if value == NEVER else value


def three_verdicts(helps, hurts):
    return "helps" if helps else "hurts" if hurts else "cannot tell"


def answer_of(
    pair=pairs_by_seed,
    factors=quotients,
    middle=median,
    ends=lambda found: (found[0], found[-1]),
    form=finite,
    probability=chance,
    says=three_verdicts,
    before=None,
    rows=lambda result: result,
):
    """An answer to 12.1 with these parts; as they stand it is right."""

    def longer(ours, theirs, alpha):
        return probability(pair(ours, theirs)) < alpha

    def worth(full, without, alpha):
        found = {name: factors(pair(times, full)) for name, times in without.items()}
        compare = before or (
            lambda other, name: longer(without[other], without[name], alpha)
        )
        result = {}
        for name, times in without.items():
            low, high = ends(found[name]) if found[name] else (NEVER, NEVER)
            result[name] = {
                "factor": form(middle(found[name]) if found[name] else NEVER),
                "low": form(low),
                "high": form(high),
                "verdict": says(longer(times, full, alpha), longer(full, times, alpha)),
                "place": 1
                + sum(compare(other, name) for other in without if other != name),
            }
        return rows(result)

    return worth


def start_code(full, without, alpha):
    factors = {}
    for name, times in without.items():
        shared = [s for s in times if full.get(s) is not None and times[s] is not None]
        factors[name] = [times[s] / full[s] for s in shared] or [1.0]
    middles = {name: statistics.fmean(found) for name, found in factors.items()}
    return {
        name: {
            "factor": middles[name],
            "low": min(found),
            "high": max(found),
            "verdict": "helps" if middles[name] > 1 else "hurts",
            "place": 1 + sum(other > middles[name] for other in middles.values()),
        }
        for name, found in factors.items()
    }


def named(name, answer):
    answer.__name__ = name
    return answer


def by_position(ours, theirs):
    both = zip(ours.values(), theirs.values(), strict=False)
    return [tuple(NEVER if t is None else t for t in pair) for pair in both]


def only_finite(ours, theirs):
    return [pair for pair in pairs_by_seed(ours, theirs) if max(pair) < NEVER]


def of_medians(full, without, alpha):
    result = answer_of()(full, without, alpha)
    for name, times in without.items():
        pairs = pairs_by_seed(times, full) or [(NEVER, 1)]
        above, below = (median(side) for side in zip(*pairs, strict=True))
        result[name]["factor"] = finite(above / below if above < NEVER else NEVER)
    return result


def ranked(key):
    """Places from a comparison of two rows instead of the runs."""

    def worth(full, without, alpha):
        result = answer_of()(full, without, alpha)
        for row in result.values():
            row["place"] = 1 + sum(key(other, row) for other in result.values())
        return result

    return worth


def large(value):
    return NEVER if value is None else value


def upside_down(full, without, alpha):
    result = answer_of()(full, without, alpha)
    for name, times in without.items():
        shorter = (chance(pairs_by_seed(times, t)) < alpha for t in without.values())
        result[name]["place"] = 1 + sum(shorter)
    return result


def counts_places_without_gaps(full, without, alpha):
    result = answer_of()(full, without, alpha)
    places = sorted({row["place"] for row in result.values()})
    for row in result.values():
        row["place"] = places.index(row["place"])
    return result


def sorts_the_runs(full, without, alpha):
    for name in without:
        without[name] = dict(sorted(without[name].items()))
    for seed in sorted(full):
        full[seed] = full.pop(seed)
    full.setdefault(-1, None)
    return answer_of()(full, without, alpha)


def replaces_none(full, without, alpha):
    for times in (full, *without.values()):
        for seed, seconds in times.items():
            times[seed] = NEVER if seconds is None else seconds
    return answer_of()(full, without, alpha)


def divides_none(full, without, alpha):
    return {
        name: {"factor": median(times[s] / full[s] for s in times if s in full)}
        for name, times in without.items()
    }


def leaves_out_the_useless(full, without, alpha):
    result = answer_of()(full, without, alpha)
    return {n: row for n, row in result.items() if row["verdict"] == "helps"}


def says_never_slower(helps, hurts):
    return "helps" if helps else "cannot tell"


def with_ties(pairs):
    return tail(len(pairs), sum(a > b for a, b in pairs))


def all_or_nothing(pairs):
    return 0.0 if (kept := differing(pairs)) and all(a > b for a, b in kept) else 1.0


def more_than_half(pairs):
    kept = differing(pairs)
    return 0.0 if sum(a > b for a, b in kept) > len(kept) / 2 else 1.0


def quartiles(found):
    return (found[1], found[-2]) if len(found) > 4 else (found[0], found[-1])


def deviations(found):
    known = [f for f in found if f < NEVER]
    spread = statistics.pstdev(known)
    return median(known) - spread, median(known) + spread


# Right answers.


def with_numpy(full, without, alpha):
    """Arrays with infinity for None."""

    def arrays(ours, theirs):
        seeds = sorted(ours.keys() & theirs.keys())
        return (
            np.array([t[s] if t[s] is not None else np.inf for s in seeds], float)
            for t in (ours, theirs)
        )

    def longer(ours, theirs):
        a, b = arrays(ours, theirs)
        n, won = int((a != b).sum()), int((a > b).sum())
        return sum(math.comb(n, i) for i in range(won, n + 1)) < alpha * 2**n

    result = {}
    for name, times in without.items():
        a, b = arrays(times, full)
        with np.errstate(invalid="ignore"):
            factors = a / b
        factors = factors[~np.isnan(factors)] if len(factors) else np.array([np.inf])
        figures = (np.median(factors), factors.min(), factors.max())
        factor, low, high = (float(f) if np.isfinite(f) else None for f in figures)
        verdict = "helps" if longer(times, full) else "cannot tell"
        result[name] = {
            "place": np.int64(1) + sum(longer(t, times) for t in without.values()),
            "verdict": "hurts" if longer(full, times) else verdict,
            "high": high,
            "low": low,
            "factor": factor,
            "extra": "odd but right",
        }
    return result


def with_loops(full, without, alpha):
    def compare(ours, theirs):
        longer = shorter = 0
        for seed in ours:
            if seed not in theirs:
                continue
            a, b = ours[seed], theirs[seed]
            if a == b:
                continue
            if b is None or (a is not None and a < b):
                shorter += 1
            else:
                longer += 1
        n, total = longer + shorter, 0
        for k in range(longer, n + 1):
            total += math.comb(n, k)
        return total / 2**n < alpha

    result = {}
    for name in without:
        factors = []
        for seed in without[name]:
            if seed not in full:
                continue
            a, b = without[name][seed], full[seed]
            if a is None and b is None:
                continue
            factors.append(NEVER if a is None else 0.0 if b is None else a / b)
        factors.sort()
        if not factors:
            factors = [NEVER]
        middle = len(factors) // 2
        factor = (factors[middle] + factors[-middle - 1]) / 2
        row = {"factor": factor, "low": factors[0], "high": factors[-1]}
        for key in row:
            if math.isinf(row[key]):
                row[key] = None
        row["verdict"] = "cannot tell"
        if compare(without[name], full):
            row["verdict"] = "helps"
        elif compare(full, without[name]):
            row["verdict"] = "hurts"
        row["place"] = 1
        for other in without:
            if compare(without[other], without[name]):
                row["place"] += 1
        result[name] = row
    return result


def exact_tail(pairs):
    kept = differing(pairs)
    n, k = len(kept), sum(a > b for a, b in kept)
    return float(sum(Fraction(math.comb(n, i), 2**n) for i in range(k, n + 1)))


def tossed(pairs):
    """The distribution of heads, toss by toss."""
    kept = differing(pairs)
    ways = np.array([1.0])
    for _ in kept:
        ways = np.convolve(ways, [0.5, 0.5])
    return ways[sum(a > b for a, b in kept) :].sum()


def from_above(pairs):
    kept = differing(pairs)
    n, k = len(kept), sum(a > b for a, b in kept)
    return 1 - sum(math.comb(n, i) for i in range(k)) / 2**n


@cache
def heads(n, k):
    """The probability of k heads or more in n tosses."""
    if k <= 0:
        return 1.0
    return 0.0 if k > n else (heads(n - 1, k - 1) + heads(n - 1, k)) / 2


def by_recursion(pairs):
    kept = differing(pairs)
    return heads(len(kept), sum(a > b for a, b in kept))


def with_accumulate(pairs):
    kept = differing(pairs)
    n, k = len(kept), sum(a > b for a, b in kept)
    tails = list(accumulate(math.comb(n, i) for i in range(n, -1, -1)))
    return tails[n - k] / 2**n


def large_numbers(ours, theirs):
    """1e300 for a failed run, whose factors are told by their size."""
    seeds = sorted(set(ours) & set(theirs))
    return [tuple(1e300 if t[s] is None else t[s] for t in (ours, theirs)) for s in seeds]


def huge_is_none(value):
    return None if value > 1e200 else round(value, 2)


def sorted_rows(result):
    return dict(sorted(result.items(), key=lambda item: item[1]["place"]))


def nested_places(full, without, alpha):
    result = answer_of()(full, without, alpha)
    beaten = {
        name: {o for o in without if chance(pairs_by_seed(without[o], times)) < alpha}
        for name, times in without.items()
    }
    return {n: {**row, "place": float(len(beaten[n]) + 1)} for n, row in result.items()}


class Runs(dict):
    """Runs of a recipe that can be compared with others."""

    def __gt__(self, other):
        return pairs_by_seed(self, other)


def with_a_class(full, without, alpha):
    runs = {name: Runs(times) for name, times in without.items()}
    everything = Runs(full)
    result = {}
    for name, own in runs.items():
        found = quotients(own > everything) or [NEVER]
        helps, hurts = chance(own > everything) < alpha, chance(everything > own) < alpha
        place = 1 + sum(chance(other > own) < alpha for other in runs.values())
        keys = ("factor", "low", "high")
        figures = map(finite, (median(found), min(found), max(found)))
        result[name] = dict(zip(keys, figures, strict=True))
        result[name] |= {"verdict": three_verdicts(helps, hurts), "place": place}
    return result


def rounded(full, without, alpha):
    result = answer_of()(full, without, alpha)
    for row in result.values():
        row.update((k, round(v, 2)) for k, v in row.items() if isinstance(v, float))
    return result


WRONG = [
    ("never", "start", start_code),
    ("never", "dropped", named("drops_failures", answer_of(pair=only_finite))),
    ("never", "full_failed", named("drops_failures_of_the_full_recipe", answer_of(
        factors=lambda pairs: quotients([p for p in pairs if p[1] < NEVER])))),
    ("never", "raised", divides_none),
    ("pairs", "order", named("pairs_by_position", answer_of(pair=by_position))),
    ("both", "both_count", named("counts_two_failures_as_one", answer_of(
        factors=lambda pairs: sorted(1 if a == b == NEVER else a / b for a, b in pairs)))),
    ("factor", "mean", named("takes_the_mean", answer_of(middle=statistics.fmean))),
    ("factor", "inverted", named("divides_the_other_way", answer_of(
        factors=lambda pairs: quotients([(b, a) for a, b in pairs])))),
    ("factor", "ratio_of_medians", of_medians),
    ("factor", "other", named("takes_the_lower_middle", answer_of(
        middle=lambda found: found[(len(found) - 1) // 3]))),
    ("range", "spread", named("leaves_out_the_ends", answer_of(ends=quartiles))),
    ("range", "other", named("one_standard_deviation", answer_of(ends=deviations))),
    ("none", "no_json", named("gives_infinity", answer_of(form=lambda value: value))),
    ("none", "other", named("gives_zero_for_infinity", answer_of(
        form=lambda value: 0.0 if value == NEVER else value))),
    ("clear", "two_sided", named("doubles_the_tail", answer_of(
        probability=lambda pairs: 2 * chance(pairs)))),
    ("clear", "ties_count", named("counts_ties", answer_of(probability=with_ties))),
    ("clear", "unanimous", named("asks_for_all_pairs", answer_of(
        probability=all_or_nothing))),
    ("clear", "majority", named("asks_for_a_majority", answer_of(
        probability=more_than_half))),
    ("verdict", "two_verdicts", named("never_says_hurts", answer_of(
        says=says_never_slower))),
    ("verdict", "turned", named("mixes_up_the_verdicts", answer_of(
        says=lambda helps, hurts: three_verdicts(hurts, helps)))),
    ("verdict", "other", named("says_perhaps", answer_of(
        says=lambda helps, hurts: "helps" if helps else "hurts" if hurts else "perhaps"))),
    ("place", "by_factor", named("ranks_by_factor", ranked(
        lambda other, row: large(other["factor"]) > large(row["factor"])))),
    ("place", "overlap", named("ranks_by_ranges", ranked(
        lambda other, row: large(other["low"]) > large(row["high"])))),
    ("place", "from_below", upside_down),
    ("place", "other", counts_places_without_gaps),
    ("rows", "names", leaves_out_the_useless),
    ("unchanged", "changed", sorts_the_runs),
    ("unchanged", "changed", replaces_none),
]  # fmt: skip
RIGHT = [
    with_numpy,
    with_loops,
    named("with_fractions", answer_of(probability=exact_tail)),
    named("toss_by_toss", answer_of(probability=tossed)),
    named("from_the_other_tail", answer_of(probability=from_above)),
    named("recursive_tail", answer_of(probability=by_recursion)),
    named("accumulated_tail", answer_of(probability=with_accumulate)),
    named("large_numbers_for_none", answer_of(
        pair=large_numbers, form=huge_is_none,
        factors=lambda pairs: sorted(a / b for a, b in pairs if min(a, b) < 1e300))),
    named("sorted_by_place", answer_of(rows=sorted_rows)),
    nested_places,
    with_a_class,
    rounded,
]  # fmt: skip
