"""Exercise 8.2: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.formulas import Formula
from helpers.verdict import Wrong, phrase, wrong

OPERATIONS = [
    "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "MatMul", "Mean", "Mul",
    "Relu", "ReluGrad", "AddV2", "Cast", "FusedBatchNormV3", "MaxPool", "Rsqrt",
]  # fmt: skip
NAMES = [
    "fuse the layers", "fewer bits", "no dropout", "larger batch", "channels first",
    "another kernel", "another shortcut", "cast once",
]  # fmt: skip
ALL_GONE = 1e9  # the speed-up of operations that a change takes away altogether


def make_changes(rng: Random) -> dict:
    """Profiles with changes that help much of little, and little of much."""

    def case(kind):
        names = rng.sample(OPERATIONS, rng.randint(6, 9))
        parts = sorted((rng.uniform(0.05, 1) for _ in names), reverse=True)
        seconds = {name: 0.01 * part for name, part in zip(names, parts, strict=True)}
        # The last one takes less than 1% of the step, but counts.
        seconds |= {names[0]: rng.uniform(0.012, 0.016), names[-1]: rng.uniform(1e-4, 3e-4)}
        elsewhere = [name for name in OPERATIONS if name not in names]
        strong, one, two, side = names[-1], *rng.sample(names[1:-2], 2), names[-2]
        changes = [
            {strong: 0.0, rng.choice(elsewhere): 0.5},  # all of very little
            {names[0]: rng.uniform(0.9, 0.97)},  # little of the largest
            # Two at once, and what is not there costs nothing.
            {
                one: rng.uniform(0.4, 0.6),
                two: rng.uniform(0.4, 0.6),
                rng.choice(elsewhere): rng.uniform(0.4, 0.6),
            },
            {side: rng.uniform(0.1, 0.2), names[0]: rng.uniform(1.3, 2.0)},  # it costs more
            {rng.choice(elsewhere): 0.1},
        ]
        if kind == "little":  # all of a little
            changes = [
                {strong: 0.0, side: 0.98},
                {names[0]: rng.uniform(1.05, 1.2)},
                {one: rng.uniform(1.5, 2.0), rng.choice(elsewhere): 0.0},
            ]
        if kind == "none":
            changes = [
                {strong: 0.0, names[0]: rng.uniform(1.2, 1.5)},
                {one: rng.uniform(1.05, 1.2), rng.choice(elsewhere): 0.1},
            ]
        if kind == "single":
            changes = [{one: rng.uniform(1.3, 1.6)}]
        if kind == "equal":  # one that leaves the step as long as it was, to the last digit
            changes = [
                {strong: 0.0, names[0]: rng.uniform(1.2, 1.5)},
                {rng.choice(elsewhere): rng.uniform(0.1, 0.6)},
            ]
            seconds = _without_rounding(seconds)
        rng.shuffle(changes)
        named = dict(zip(rng.sample(NAMES, len(changes)), changes, strict=True))
        order = rng.sample(names, len(names))
        return {"seconds": {name: seconds[name] for name in order}, "changes": named}

    # The first ones have a change that helps: a wrong choice there does not break `none`.
    kinds = ["usual", "usual", "usual", "little", "none", "equal", "single"]
    cases = [case(kind) for kind in kinds]
    return {"cases": [*cases, *_with_the_same_names(rng, cases[0])]}


def _with_the_same_names(rng, case):
    """The case twice: with its seconds shuffled among their names, then its changes."""
    while True:
        seconds, changes = (
            dict(zip(case[part], rng.sample([*case[part].values()], len(case[part])),
                     strict=True))
            for part in ("seconds", "changes")
        )  # fmt: skip
        found = [case | {"seconds": seconds}, case | {"changes": changes}]
        if all(map(_is_clear, found)) and not any(
            chosen(one) == chosen(case) for one in found
        ):
            return found


def _without_rounding(seconds):
    """Nearly the same seconds, of which every sum and every share is exact in binary."""
    total = sum(seconds.values())
    parts = {name: round(2**20 * s / total) for name, s in seconds.items()}
    longest = max(parts, key=parts.get)
    parts[longest] += 2**20 - sum(parts.values())  # the whole is 1/32 of a second
    return {name: part / 2**25 for name, part in parts.items()}


def changed_seconds(
    seconds: dict[str, float], left: dict[str, float], mistake: str = ""
) -> float:
    """The seconds of a step after a change, if one makes this mistake."""
    if mistake == "only_gains":
        left = {name: min(1, part) for name, part in left.items()}
    if mistake == "first_operation":
        left = dict(list(left.items())[:1])
    if mistake == "zero_for_none":
        left = {name: part or 1 for name, part in left.items()}
    if mistake == "absent":
        seconds = seconds | {name: 1.0 for name in left if name not in seconds}
    return sum(s * left.get(name, 1) for name, s in seconds.items())


def chosen(case: dict, mistake: str = "") -> list:
    """The change that is taken first, and by what it speeds the step up."""
    seconds, changes = case["seconds"], case["changes"]
    before = sum(seconds.values())
    after = {
        name: changed_seconds(seconds, left, mistake) for name, left in changes.items()
    }
    if mistake == "start":  # what changes one operation most
        best = min(changes, key=lambda name: min(changes[name].values()))
        return [best, 1 / (1e-9 + min(changes[best].values()))]
    if mistake == "largest_operation":
        largest = max(seconds, key=seconds.get)
        touching = [n for n in changes if largest in changes[n]]
        best = min(touching, key=after.get) if touching else None
    elif mistake == "one_saving":  # what saves most of a single operation
        saved = {
            n: max(seconds.get(o, 0) * (1 - part) for o, part in left.items())
            for n, left in changes.items()
        }
        best = max(saved, key=saved.get)
    else:
        best = min(after, key=after.get)
    as_long = after.get(best) == before and mistake == "equal"
    as_long = as_long or (len(changes) == 1 and mistake == "only_choice")
    if best is None or (after[best] >= before and mistake != "always" and not as_long):
        return [None, {"saved": 0.0, "percent": 0.0}.get(mistake, 1.0)]
    ratio = before / after[best]
    values = {
        "saved": before - after[best],
        "inverted": 1 / ratio,
        "percent": 100 * (1 - 1 / ratio),
        "touched": _touched(seconds, changes[best]),
    }
    return [best, values.get(mistake, ratio)]


def _touched(seconds, left):
    """By what the changed operations alone become faster."""
    mine = {name: s for name, s in seconds.items() if name in left}
    after = sum(s * left[name] for name, s in mine.items())
    return sum(mine.values()) / after if after else ALL_GONE


def _is_clear(case):
    """Whether a change helps by more than rounding, and leaves some of what it changes."""
    name, speedup = chosen(case)
    return speedup > 1.01 and _touched(case["seconds"], case["changes"][name]) < ALL_GONE


CHANGES = Formula(
    chosen,
    (
        "start", "largest_operation", "one_saving", "only_gains", "first_operation",
        "zero_for_none", "absent", "always", "only_choice", "equal",
        "saved", "inverted", "percent", "touched",
    ),
    relative=1e-3,
    absolute=1e-12,
    apart=1e-3,
    arguments=("seconds", "changes"),
    sound=_is_clear,
)  # fmt: skip


def draw_question(rng: Random) -> dict:
    """Profiles in which every usual mistake chooses or says something else."""
    return CHANGES.draw(rng, make_changes)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The change after which the whole step is shortest, and by how much."""
    different = CHANGES.different(question, observation["changes"])
    if different is None:
        return None
    case, part, said, due, mistake = different
    if part == 0:
        broken = "none" if None in (said, due) else "whole_step"
        return wrong(
            mistake or "other", "chose", requirement="" if mistake else broken,
            chosen=_change(said), right=_change(due),
        )  # fmt: skip
    change, _ = chosen(case)
    return wrong(
        mistake or "speedup", "speedup", change=_change(change), speedup=said, right=due
    )


def _change(name):
    return phrase("none") if name is None else phrase("change", name=name)
