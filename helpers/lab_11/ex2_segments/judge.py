"""Exercise 11.2: the questions, and the verdict on what the probe saw."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, pairwise
from random import Random

from helpers.checks.judging.verdicts import draw_apart
from helpers.verdict import Wrong, phrase, wrong

ALL, NONE, SOME = "all", "none", "some"
REPEATED = 3  # chains of any kind that are asked again in the end
KINDS = (
    "best", "large", "tail", "head", "below", "below", "all", "nearly", "equal", "alone",
    "alone_below", "short", "tiny", "ample", "long", "between", "twice", "in_twos",
)  # fmt: skip


def parts_of(sizes: tuple, firsts: tuple) -> list[tuple]:
    """The sizes of the layers of each segment."""
    return [sizes[a:b] for a, b in pairwise((*firsts, len(sizes)))]


def peak(parts: list[tuple], mistake: str = "") -> float:
    """The most bytes that are held, if one makes this mistake."""
    held = sum(part[0] for part in parts)
    others = [sum(part[1:]) for part in parts]
    again = max(others)
    return {
        "counts_twice": held + max(map(sum, parts)),
        "all_others": held + sum(others),
        "no_checkpoints": again,
        "one_segment": max(map(sum, parts)),
        "not_the_first": held - parts[0][0] + again,
        "not_the_last": held + max(others[:-1], default=0),
        "only_the_last": held + others[-1],
        "only_the_first": held + others[0],
        "mean": held + sum(others) / len(parts),
        "largest_layer": held + max(max(part[1:], default=0) for part in parts),
        "keeps_the_last": sum(p[-1] for p in parts) + max(sum(p[:-1]) for p in parts),
        "longest": held + sum(max(parts, key=len)[1:]),
    }.get(mistake, held + again)


def filled(sizes: tuple, room: int) -> tuple:
    """Segments that begin only where the one before has no room for another layer."""
    firsts, held = [0], 0
    for place, size in enumerate(sizes[1:], start=1):
        held += size
        if held > room:
            firsts.append(place)
            held = 0
    return tuple(firsts)


def segmentations(sizes: tuple, mistake: str = "") -> Iterator[tuple]:
    """The segmentations that are tried by one who makes this mistake."""
    count = len(sizes)
    if mistake == "greedy":
        yield from {filled(sizes, room) for room in range(sum(sizes) + 1)}
        return
    if mistake == "equal_lengths":
        yield from {tuple(range(0, count, step)) for step in range(1, count + 1)}
        return
    if mistake == "square_root":
        yield tuple(range(0, count, max(1, round(count**0.5))))
        return
    most = 1 if mistake == "two_segments" else count - 1
    for more in range(most + 1):
        yield from ((0, *rest) for rest in combinations(range(1, count), more))


@lru_cache(maxsize=4096)
def least(sizes: tuple, mistake: str = "") -> float:
    """The lowest peak of all segmentations that are tried."""
    return min(
        peak(parts_of(sizes, firsts), mistake) for firsts in segmentations(sizes, mistake)
    )


def kind(case: list, mistake: str = "") -> str:
    """Whether everything fits, or a segmentation does, if one makes this mistake."""
    sizes, budget = tuple(case[0]), case[1]
    if mistake == "start":
        return ALL
    total, lowest = sum(sizes), least(sizes, mistake)
    if total < budget or (total == budget and mistake != "sum_below"):
        return ALL
    if lowest < budget or (lowest == budget and mistake != "peak_below"):
        return SOME
    return SOME if mistake == "best_anyway" else NONE


# Mistakes that show in the kinds of the replies: everything fits, something, or nothing.
BY_KIND = (
    "start", "sum_below", "peak_below", "best_anyway", "counts_twice", "all_others",
    "square_root", "two_segments", "equal_lengths", "greedy",
)  # fmt: skip
# Mistakes that find segmentations whose peak is too high, by the name that they are given.
BY_PEAK = {
    "no_checkpoints": "no_checkpoints", "one_segment": "one_segment",
    "not_the_first": "not_the_first", "keeps_the_last": "keeps_the_last",
    "not_the_last": "too_few", "only_the_last": "too_few", "only_the_first": "too_few",
    "mean": "too_few", "largest_layer": "too_few", "longest": "too_few",
}  # fmt: skip
NAMES = {name: name for name in BY_KIND} | BY_PEAK


def make_chains(rng: Random) -> dict:
    """Chains of layers, with budgets at which little decides."""
    cases = [make_chain(rng, name) for name in KINDS]
    rng.shuffle(cases)
    # Where nearly everything fits, so do most segmentations of other chains.
    ample = [
        place for place, (sizes, budget) in enumerate(cases) if sum(sizes) == budget + 1
    ]
    rest = [place for place in range(len(cases)) if place not in ample]
    return {"cases": cases, "again": ample + rng.sample(rest, REPEATED)}


def make_chain(rng: Random, name: str) -> list:
    """The bytes of each layer's input, and a budget."""
    if name == "alone" or name == "alone_below":
        size = rng.randint(5, 99)
        return [[size], size - (name == "alone_below")]
    count = {"short": rng.randint(2, 3), "long": 11, "equal": 9}.get(name, 8)
    sizes = [rng.randint(10, 60) for _ in range(count)]
    if name == "equal":
        return [sizes[:1] * count, 5 * sizes[0]]
    if name == "large":  # where segments of equal lengths begin
        for place in (0, 3, 4, 6):
            sizes[place] = rng.randint(100, 160)
    if name == "tail":
        sizes[-2:] = rng.randint(60, 90), rng.randint(90, 150)
    if name == "head":
        sizes[:3] = rng.randint(10, 30), rng.randint(60, 90), rng.randint(90, 150)
    if name == "in_twos":
        sizes = [rng.randint(2, 9), rng.randint(90, 150)] * 4
    total, lowest = sum(sizes), least(tuple(sizes))
    if name == "between":
        return [sizes, (lowest + least(tuple(sizes), "equal_lengths")) // 2]
    if name == "twice":
        return [sizes, (lowest + least(tuple(sizes), "counts_twice")) // 2]
    if name == "long":
        return [sizes, (3 * lowest + total) // 4]
    budget = {
        "below": lowest - 1, "all": total, "nearly": total - 1, "short": total - 1,
        "tiny": rng.randint(1, 9), "ample": 2 * total,
    }.get(name, lowest)  # fmt: skip
    return [sizes, int(budget)]


def ways(question: dict) -> dict[str, list]:
    """For the right way and each mistake, what tells it from the others."""
    cases = question["cases"]
    right = [kind(case) for case in cases]
    by_kind = {name: [kind(case, name) for case in cases] for name in BY_KIND}
    by_peak = {name: [kind(case, name) for case in cases] for name in BY_PEAK}
    named = {name: right if own == right else [name] for name, own in by_peak.items()}
    return {"right": right} | by_kind | named


def draw_question(rng: Random) -> dict:
    """Chains for which every usual mistake gives other replies."""
    return draw_apart(rng, make_chains, ways, lambda one, other: one != other)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Whether each reply is a segmentation that fits, or there is none."""
    cases, said = question["cases"], observation["said"]
    if len(said) != len(cases):
        raise ValueError(f"{len(said)} replies to {len(cases)} chains")
    if observation["later"] != said:
        return wrong("kept", "kept")
    verdicts = [one_case(case, reply) for case, reply in zip(cases, said, strict=True)]
    first = next((i for i, verdict in enumerate(verdicts) if verdict), None)
    if first is None:
        return changed_reply(question, observation)
    if badly_formed := next((v for v in verdicts if v and v.mistake in FORMS), None):
        return badly_formed
    for mistake, name in NAMES.items():
        if all(explains(mistake, c, r) for c, r in zip(cases, said, strict=True)):
            return verdicts[first]._replace(mistake=name)
    if repeated(cases, said):
        return verdicts[first]._replace(mistake="repeated")
    return verdicts[first]


def changed_reply(question: dict, observation: dict) -> Wrong | None:
    """Whether a chain that is asked again gets another reply."""
    for place, reply in zip(question["again"], observation["again"], strict=True):
        if reply != observation["said"][place]:
            sizes, budget = question["cases"][place]
            return wrong("repeated", "again", sizes=sizes, budget=budget)
    return None


OTHER_REPLIES = {
    "other": phrase("other"), "entries": phrase("entries"), "long": phrase("long"),
    "truth": phrase("truth"), "fraction": phrase("fraction"), "large": phrase("large"),
}  # fmt: skip
FORMS = ("form", "first", "order", "range")


def malformed(sizes: list, reply: object) -> Wrong | None:
    """What is wrong with the form of a reply that should be a segmentation."""
    if isinstance(reply, str):
        return wrong("form", "form", what=OTHER_REPLIES[reply])
    facts = {"sizes": sizes, "value": reply}
    if reply[0] != 0:
        return wrong("first", "not_zero", **facts)
    if not all(a < b for a, b in pairwise(reply)):
        return wrong("order", "order", **facts)
    if reply[-1] >= len(sizes):
        return wrong("range", "range", **facts, count=len(sizes))
    return None


def one_case(case: list, reply: object) -> Wrong | None:
    """The verdict on one reply."""
    sizes, budget = case
    if reply not in (None, []) and (verdict := malformed(sizes, reply)):
        return verdict
    due, total = kind(case), sum(sizes)
    facts = {"sizes": sizes, "budget": budget, "total": total, "value": reply}
    if due == ALL:
        if reply == []:
            return None
        return wrong("not_all", "not_all", **facts)
    if reply == []:
        return wrong("too_much", "all", **facts)
    if reply is None:
        return None if due == NONE else wrong("misses", "misses", **facts)
    found = peak(parts_of(tuple(sizes), tuple(reply)))
    if found <= budget:
        return None
    return wrong("too_large", "too_large", **facts, peak=found)


def explains(mistake: str, case: list, reply: object) -> bool:
    """Whether one who makes this mistake may reply this."""
    given = ALL if reply == [] else NONE if reply is None else SOME
    if given != kind(case, mistake):
        return False
    if given != SOME:
        return True
    sizes = tuple(case[0])
    most = max(case[1], least(sizes)) if mistake == "best_anyway" else case[1]
    return peak(parts_of(sizes, tuple(reply)), mistake) <= most


def repeated(cases: list, said: list) -> bool:
    """Whether all chains of the same length got the same reply."""
    by_length: dict[int, object] = {}
    return all(
        by_length.setdefault(len(sizes), reply) == reply
        for (sizes, _), reply in zip(cases, said, strict=True)
    )
