"""Exercise 2.2: the questions, and the verdict on what the probe saw."""

from itertools import combinations, pairwise
from random import Random

from helpers.checks.judging.verdicts import draw_apart, first_wrong, which
from helpers.verdict import Phrase, Wrong, phrase, wrong

LARGER = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]


def make_sweep(rng: Random) -> dict:
    """Sweeps with known and unknown sizes, of which all, some or none fit."""

    def case(known, too_large=None, none_known=False, other="", sizes=()):
        sizes = sizes or sorted(rng.sample(LARGER, 8))
        errors = {sizes[too_large]: "MemoryError"} if too_large is not None else {}
        if other:
            errors[sizes[4]] = other
        small = sizes[: 4 if other else too_large]
        if not errors:  # then no answer may rely on their order
            rng.shuffle(sizes)
        done = {size: _speed(rng) for size in rng.sample(small, min(known, len(small)))}
        if none_known:
            done[sizes[too_large]] = None
        return {
            "batch_sizes": sizes,
            "errors": {str(size): error for size, error in errors.items()},
            "images_per_second": {str(size): _speed(rng) for size in sizes},
            "done": {str(size): speed for size, speed in done.items()},
        }

    # Only its points tell one of these cases from another.
    same = sorted(rng.sample(LARGER, 8))
    cases = [
        case(2, too_large=6, sizes=same),
        case(3, too_large=6, none_known=True, sizes=same),
        case(6, too_large=6, none_known=True),
        case(0, too_large=0),
        case(1, too_large=0, none_known=True),
        case(rng.randint(0, 3)),
        *[case(1, too_large=6, other=name) for name in OTHER_ERRORS],
    ]
    # All sizes of this one fit. One is listed twice, and then it has a point.
    cases[5]["batch_sizes"].append(cases[5]["batch_sizes"][0])
    return {"cases": cases}


def _speed(rng):
    return round(rng.uniform(1000, 3000), 4)


# Exceptions that a mistake in `measure` may raise.
OTHER_ERRORS = [
    "OSError",
    "ValueError",
    "TypeError",
    "RuntimeError",
    "KeyError",
    "NameError",
    "KeyboardInterrupt",  # the stop button
]
# Its message speaks of memory, but it is a different error all the same.
SPEAKS_OF_MEMORY = "RuntimeError"
CAUGHT = {
    "caught_all": [name for name in OTHER_ERRORS if name != "KeyboardInterrupt"],
    "caught_stop": ["KeyboardInterrupt"],
    "caught_message": [SPEAKS_OF_MEMORY],
}


def sweep_events(case: dict, mistakes: tuple[str, ...] = ()) -> list:
    """The events of a sweep that makes these mistakes, in order."""
    done = {int(size): speed for size, speed in case["done"].items()}
    if "gave_up" in mistakes and None in done.values():
        return []
    events, late = [], []
    for size in case["batch_sizes"]:
        known = size in done
        if not known or "measured_again" in mistakes:
            events.append(["measure", size])
            error = case["errors"].get(str(size))
            speed = None if error else case["images_per_second"][str(size)]
            caught = {name for mistake in mistakes for name in CAUGHT.get(mistake, ())}
            if error in OTHER_ERRORS and error not in caught:
                return [*events, *late, ["raise", error]]
            if error == "MemoryError" and "crashed" in mistakes:
                return [*events, *late, ["raise", "MemoryError"]]
            if not (error and "not_recorded" in mistakes):
                key = str(size) if "text_keys" in mistakes else size
                (late if "late" in mistakes else events).append(["store", key, speed])
                done[key] = speed
            if error and "went_on" not in mistakes:
                break
        elif "stopped_early" in mistakes or (
            done[size] is None and "went_on_later" not in mistakes
        ):
            break
    return events + late


SWEEP_MISTAKES = [
    "measured_again", "crashed", "not_recorded", "went_on", "went_on_later",
    "gave_up", "stopped_early", "late", "caught_all", "caught_stop", "caught_message",
    "text_keys",
]  # fmt: skip


def sweep_ways(question: dict) -> dict:
    """The events of each way of writing the sweep, in all cases."""
    ways = {"right": ()} | {name: (name,) for name in SWEEP_MISTAKES}
    ways["start"] = ("measured_again", "crashed")
    return {
        name: [sweep_events(case, mistakes) for case in question["cases"]]
        for name, mistakes in ways.items()
    }


def draw_question(rng: Random) -> dict:
    """Cases in which every usual mistake does something different."""
    return draw_apart(rng, make_sweep, sweep_ways, lambda a, b: a != b)


def judge(question: dict, observation: dict) -> Wrong | None:
    """Every case must measure each open size once, in order, until one does not fit."""
    seen, right = observation["cases"], sweep_ways(question)["right"]
    if seen == right:
        return None
    mistake = _mistake(question, seen)

    def different(due, said):
        if said == due:
            return None
        pairs = enumerate(zip([*said, END], [*due, END], strict=False))
        i = next(i for i, (one, other) in pairs if one != other)
        came, expected = ([*events, END][i] for events in (said, due))
        return wrong(
            mistake, "event",
            requirement=_broken(expected) if mistake == "other" else "",
            when=phrase("after", before=_event(due[i - 1])) if i else phrase("first"),
            came=_event(came), due=_event(expected),
        )  # fmt: skip

    return first_wrong(right, seen, different)


def _broken(due):
    """The sentence that is broken if this does not happen."""
    if due[0] == "raise":
        return "other_errors"
    return "none" if due[0] == "store" and due[-1] is None else "every_size"


def _mistake(question, seen):
    """The first of up to three mistakes that together explain the events."""
    ways = {("start",): sweep_ways(question)["start"]}
    ways |= {
        mistakes: [sweep_events(case, mistakes) for case in question["cases"]]
        for number in (1, 2, 3)
        for mistakes in combinations(SWEEP_MISTAKES, number)
    }
    if mistakes := which(seen, ways, lambda said, way: said == way, ""):
        return mistakes[0]
    for case, events in zip(question["cases"], seen, strict=True):
        for (kind, size, *_), (then, key, *value) in pairwise([*events, (*END, None)]):
            error = kind == "measure" and case["errors"].get(str(size))
            if error in OTHER_ERRORS and [then, key, *value] == ["store", size, None]:
                return "caught_all"
            if kind == "measure" and not error:
                if then != "store" or key != size:
                    return "late"
                if value != [case["images_per_second"].get(str(size))]:
                    return "value"
    return "other"


END = ["end"]


def _event(event) -> Phrase:
    """One event of a sweep, as code."""
    if event == END:
        return phrase("end")
    kind, what, *value = event
    if kind == "measure":
        return phrase("code", code=f"measure({what!r})")
    if kind == "store":
        return phrase("code", code=f"points[{what!r}] = {value[0]}")
    if kind == "delete":
        return phrase("code", code=f"del points[{what!r}]")
    return phrase("code", code=f"{kind} {what}")
