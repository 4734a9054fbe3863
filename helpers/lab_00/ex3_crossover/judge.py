"""Exercise 0.3: the questions, and the verdict on what the probe saw."""

import functools
from random import Random

from helpers.checks.judging.verdicts import draw_apart, which
from helpers.verdict import Wrong, wrong

NEAR = 3e-6  # the relative difference of the times at a close win


def make_crossover(rng: Random) -> dict:
    """Curves of any length that cross anywhere, touch, or never meet."""

    def case(signs, part=None):
        sizes = sorted(rng.sample(range(1, 20_000), len(signs)))
        slow = [10 ** rng.uniform(-5, 0) for _ in signs]
        parts = [sign * (part or 10 ** rng.uniform(-1.5, -0.3)) for sign in signs]
        return [sizes, slow, [s * (1 - part) for s, part in zip(slow, parts, strict=True)]]

    def some(least=0):
        return rng.randint(least, 4)

    def mixed():
        return [rng.choice([-1, 0, 1]) for _ in range(some())]

    # 1: fast wins there; 0: a tie.
    signs = [[1], [-1], [0], [1] * 6, [1] * some(1) + [0], [1] * some(1) + [-1]]
    signs += [[*mixed(), 1, loss, *[1] * some(1)] for loss in (-1, 0) for _ in range(3)]
    cases = [case(pattern) for pattern in signs]
    # So close that rounding to float16 makes it a tie; float32 is precise enough.
    cases += [case([1] * some(1), part=NEAR), case([1, -1], part=NEAR)]
    # Equal times at several sizes: looking up a size by its time finds the wrong one.
    sizes, [seconds, *_], _ = case([-1, 1, -1, 1, 1])
    won, lost = 0.7 * seconds, 1.3 * seconds
    cases.append([sizes, [seconds] * 5, [lost, won, lost, won, won]])
    # The last three differ in one list from the first of these four: what an answer has
    # found for that one is wrong for them.
    sizes, slow, fast = case([-1, 1, 1])
    cases += [
        [sizes, slow, fast], [[n + 1 for n in sizes], slow, fast],
        [sizes, [0.01 * s for s in slow], fast], [sizes, slow, [0.01 * s for s in fast]],
    ]  # fmt: skip
    rng.shuffle(cases)
    return {"cases": cases}


def always_faster_from(
    sizes: list, slow: list, fast: list, ties: bool = False
) -> int | None:
    """The first size from which fast is always below slow, or None."""
    winner = None
    for size, s, f in reversed(list(zip(sizes, slow, fast, strict=True))):
        if f > s or (f == s and not ties):
            break
        winner = size
    return winner


def clearly_faster_from(sizes: list, slow: list, fast: list) -> int | None:
    """Like `always_faster_from`, but times that differ by 1% count as equal."""
    return always_faster_from(sizes, [0.99 * s for s in slow], fast)


def won(sizes: list, slow: list, fast: list) -> list[int]:
    """The sizes at which fast wins, wherever else it loses."""
    return [n for n, s, f in zip(sizes, slow, fast, strict=True) if f < s]


def crossover_ways(question: dict) -> dict:
    """The results of each way of looking for the crossover, in all cases."""
    right = always_faster_from

    def last_loss(*case):
        return max(set(case[0]) - set(won(*case)), default=None)

    def place(*case):
        size = right(*case)
        return None if size is None else case[0].index(size)

    def looked_up(times):
        """The size that is found if its time is looked up in the list of all times."""

        def look(*case):
            at = place(*case)
            return None if at is None else case[0][case[times].index(case[times][at])]

        return look

    ways = {
        "right": right,
        "start": lambda *case: case[0][0],
        "first_win": lambda *case: min(won(*case), default=None),
        "tie": functools.partial(right, ties=True),
        "close": clearly_faster_from,
        "swapped": lambda sizes, slow, fast: right(sizes, fast, slow),
        "index": place,
        "never": lambda *case: right(*case) or case[0][-1],
        "last_loss": last_loss,
        "looked_up slow": looked_up(1),
        "looked_up fast": looked_up(2),
    }
    return {name: [way(*case) for case in question["cases"]] for name, way in ways.items()}


def draw_question(rng: Random) -> dict:
    """Cases in which every usual mistake gives a different result."""
    return draw_apart(rng, make_crossover, crossover_ways, lambda a, b: a != b)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Every case must give the first size from which fast is always faster."""
    said, ways = observation["sizes"], crossover_ways(question)
    cases = zip(question["cases"], said, ways["right"], strict=True)
    failed = [(case, one, right) for case, one, right in cases if one != right]
    if not failed:
        return None
    mistake = which(said, ways, lambda one, other: one == other).split()[0]
    (sizes, slow, fast), one, right = min(failed, key=lambda case: len(case[0][0]))
    if mistake == "other":
        mistake = _explains(failed) or _what_is_wrong(sizes, one, right)
    return wrong(
        mistake, "crossover", sizes=sizes,
        slow=_short(slow), fast=_short(fast), said=repr(one), due=right,
    )  # fmt: skip


def _explains(failed):
    """Find one mistake that explains all wrong cases, if no mistake explains all cases."""
    if all(one == always_faster_from(*case, ties=True) for case, one, _ in failed):
        return "tie"
    if all(one in won(*case) and _too_small(one, due) for case, one, due in failed):
        return "first_win"
    return ""


def _too_small(said, due):
    return due is None or said < due


def _what_is_wrong(sizes, said, right):
    """The mistake that one wrong answer shows by itself."""
    if right is None:
        return "never"
    if said is None:
        return "gave_up"
    if said not in sizes:
        return "no_size"
    return "lost_above" if said < right else "too_late"


def _short(times):
    return [float(f"{seconds:.4g}") for seconds in times]
