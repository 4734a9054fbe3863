"""Exercise 12.1: the questions, and the verdict on what the probe saw."""

import math
import statistics
from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.verdict import Wrong, wrong

COLUMNS = ("factor", "factor", "range", "range", "verdict", "place")
NEVER = math.inf
NAMES = (
    "bias", "clipping", "cutout", "dropout", "flips", "lookahead", "mixup", "momentum",
    "pooling", "warm-up", "whitening",
)  # fmt: skip
MISTAKES = (
    "start", "order", "dropped", "both_count", "full_failed", "mean", "inverted",
    "ratio_of_medians", "spread", "two_sided", "ties_count", "unanimous", "majority",
    "two_verdicts", "turned", "by_factor", "overlap", "from_below",
)  # fmt: skip


def make_cases(rng: Random) -> dict:
    """Tables of times, with runs that fail, seeds without a partner, and ties.

    Two of them differ from an earlier one in the times of the full recipe alone, or in
    those without an ingredient.
    """
    cases = [_case(rng) for _ in range(3)]
    alone = [[seed, round(rng.uniform(2, 6), 2)] for seed in range(100, 108)]
    cases[2]["without"][0][1] = alone  # it has no pair at all
    slower = [[name, _longer(runs)] for name, runs in cases[1]["without"]]
    cases.append(cases[0] | {"full": _longer(cases[0]["full"])})
    cases.append(cases[1] | {"without": slower})
    return {"cases": cases}


def _longer(runs):
    """The same runs, if each takes a quarter longer."""
    return [[seed, seconds and round(1.25 * seconds, 2)] for seed, seconds in runs]


def _case(rng):
    seeds = rng.sample(range(100), 12)
    full = {seed: round(rng.uniform(2, 6), 2) for seed in seeds[:11]}
    for seed in rng.sample(seeds[:11], 2):
        full[seed] = None
    names, without = rng.sample(NAMES, 5), []
    strengths = [rng.uniform(0.55, 0.75), 1.0, rng.uniform(1.15, 1.3), 1.5, 2.0]
    for name, strength in zip(names, strengths, strict=True):
        times = {}
        for seed in rng.sample(seeds, 11):
            base = full.get(seed) or rng.uniform(2, 6)
            times[seed] = round(base * strength * math.exp(rng.gauss(0, 0.22)), 2)
            chance = rng.random()
            if chance < 0.12 or (full.get(seed, 0) is None and chance < 0.5):
                times[seed] = None
            elif chance < 0.3 and full.get(seed):
                times[seed] = full[seed]
        without.append([name, list(map(list, times.items()))])
    rng.shuffle(without)
    alpha = rng.choice([0.02, 0.04, 0.1, 0.15])
    return {"full": list(map(list, full.items())), "without": without, "alpha": alpha}


def rows(case: dict, mistake: str) -> list:
    """Name, factor, low, high, verdict and place of each ingredient, one after another."""
    full, without = dict(case["full"]), {n: dict(runs) for n, runs in case["without"]}
    figures = {name: _figures(times, full, mistake) for name, times in without.items()}
    found = []
    for name, times in without.items():
        verdict = _verdict(times, full, case["alpha"], mistake, figures[name])
        place = 1 + sum(
            _is_before(other, name, without, figures, case["alpha"], mistake)
            for other in without
        )
        shown = [None if figure == NEVER else figure for figure in figures[name]]
        found += [name, *shown, verdict, float(place)]
    return found


def _pairs(ours, theirs, mistake):
    """Seconds of two lists of runs, seed by seed; infinite for a run that failed."""
    if mistake == "order":
        both = list(zip(ours.values(), theirs.values(), strict=False))
    else:
        both = [(ours[seed], theirs[seed]) for seed in ours if seed in theirs]
    if mistake in ("dropped", "start"):
        both = [pair for pair in both if None not in pair]
    return [tuple(NEVER if t is None else t for t in pair) for pair in both]


def _figures(times, full, mistake):
    """The middle, the smallest and the largest factor; all infinite without a pair."""
    pairs = _pairs(times, full, mistake)
    if mistake == "full_failed":
        pairs = [pair for pair in pairs if pair[1] < NEVER]
    if mistake == "inverted":
        pairs = [(b, a) for a, b in pairs]
    failed = 1 if mistake == "both_count" else None
    factors = [failed if a == b == NEVER else a / b for a, b in pairs]
    factors = sorted(factor for factor in factors if factor is not None)
    if not factors:
        return (1.0, 1.0, 1.0) if mistake == "start" else (NEVER, NEVER, NEVER)
    middle = statistics.median(factors)
    if mistake in ("mean", "start"):
        middle = statistics.fmean(factors)
    if mistake == "ratio_of_medians":
        above, below = (statistics.median(side) for side in zip(*pairs, strict=True))
        middle = NEVER if above == NEVER else above / below
    if mistake == "spread" and len(factors) > 4:
        return middle, factors[1], factors[-2]
    return middle, factors[0], factors[-1]


def _is_longer(ours, theirs, alpha, mistake):
    """Whether a sign test says that our times are longer."""
    pairs = _pairs(ours, theirs, mistake)
    kept = pairs if mistake == "ties_count" else [(a, b) for a, b in pairs if a != b]
    n, won = len(kept), sum(a > b for a, b in kept)
    if mistake == "unanimous":
        return n > 0 and won == n
    if mistake == "majority":
        return won > n / 2
    tail = sum(math.comb(n, i) for i in range(won, n + 1)) / 2**n
    return (2 * tail if mistake == "two_sided" else tail) < alpha


def _verdict(times, full, alpha, mistake, figures):
    if mistake == "start":
        return "helps" if figures[0] > 1 else "hurts"
    helps, hurts = (
        _is_longer(ours, theirs, alpha, mistake)
        for ours, theirs in ((times, full), (full, times))
    )
    if mistake == "turned":
        helps, hurts = hurts, helps
    if mistake == "two_verdicts":
        hurts = False
    return "helps" if helps else "hurts" if hurts else "cannot tell"


def _is_before(other, name, without, figures, alpha, mistake):
    """Whether another ingredient is worth more, which moves this one down a place."""
    if mistake in ("by_factor", "start"):
        return figures[other][0] > figures[name][0]
    if mistake == "overlap":
        return figures[other][1] > figures[name][2]
    if mistake == "from_below":
        other, name = name, other
    ours, theirs = without[other], without[name]
    return _is_longer(ours, theirs, alpha, mistake)


WORTH = Formula(
    rows,
    MISTAKES,
    relative=1e-6,
    absolute=0.0051,
    apart=1e-2,
    arguments=("alpha",),
)


def draw_question(rng: Random) -> dict:
    """Draw tables of which every usual mistake makes other rows."""
    return WORTH.draw(rng, make_cases)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Accept the rows, in any order, with figures rounded to two decimals or exact."""
    replies = []
    for case, reply in zip(question["cases"], observation["rows"], strict=True):
        names, given = [name for name, _ in case["without"]], {row[0]: row for row in reply}
        has_all = sorted(row[0] for row in reply) == sorted(names)
        if not has_all or any(len(row) != len(COLUMNS) for row in reply):
            return wrong("names", "names", names=sorted(given), due=sorted(names))
        replies.append([value for name in names for value in given[name]])
    found = WORTH.different(question, replies)
    if found is None:
        return None
    at = found.part // len(COLUMNS) * len(COLUMNS)
    case = question["cases"].index(found.case)
    due = rows(found.case, "")[at : at + len(COLUMNS)]
    facts = {"name": due[0], "row": replies[case][at + 1 : at + len(COLUMNS)]}
    facts["due"] = due[1:]
    if found.mistake:
        return wrong(found.mistake, "row", **facts)
    broken = COLUMNS[found.part % len(COLUMNS)]
    if broken in ("factor", "range") and found.due is None:
        broken = "none"
    return wrong("other", "row", requirement=broken, **facts)
