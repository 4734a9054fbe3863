"""What a class has found out, topic by topic, as plain data without names of files.

Numbers are computed again from what was measured: what a card says that it has fitted or
scored is not used.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from helpers.run_card import predictions
from helpers.run_card.prediction_kinds import FORECAST, kind_of
from kit.pool.cards import RING, Card
from kit.pool.middle import median

EXERCISE = re.compile(r"\d{1,2}\.\d{1,2}")
NUMBER = re.compile(r"\d[\d.,]*")
FEWEST_POINTS, FEWEST_WITH_A_MISTAKE = 3, 2
LONGEST_REASON = 200
MOST_SECONDS = 1e7


class Unusable(Exception):  # noqa: N818 - it is no error
    """Why a topic cannot use a card."""


def newest(cards: Iterable[Card], lab: str, measurement: str) -> Iterator[Card]:
    """Of each student and device the newest run of a lab that has a measurement."""
    found = {}
    for card in cards:
        content = card.content
        if content["lab"].startswith(lab) and measurement in content["measurements"]:
            found[card.person, content["environment"]["device"]["name"]] = card
    yield from found.values()


def throughput(cards: list[Card]) -> tuple[list[dict], list[tuple[str, str]]]:
    """The throughput law of lab 02 by machine, fitted to each student's sweep.

    Returns
    -------
    machines : list of dict
        `machine`; `fits`, for each student `t0_seconds`, `peak_images_per_second`,
        `worst` (the largest relative residual) and `points`.
    unusable : list of (person, reason)
    """
    machines, unusable = defaultdict(list), []
    for card in newest(cards, "02", "sweep_images_per_second"):
        try:
            points = _rates(card.content["measurements"]["sweep_images_per_second"])
            fit = _fit(points) | {"person": card.person, "points": points}
            machines[_setting(card, "scale", "depth", "width")].append(fit)
        except Unusable as reason:
            unusable.append((card.person, f"throughput law: {reason}"))
    found = [{"machine": name, "fits": fits} for name, fits in sorted(machines.items())]
    return found, unusable


def _rates(sweep):
    """Images per second by batch size; out of memory is left out."""
    if not isinstance(sweep, dict):
        raise Unusable("the sweep is no table")
    points = []
    for size, rate in sweep.items():
        if rate is not None:
            number = int(size) if size.isdecimal() and len(size) < 8 else 0
            points.append([_positive(number, 1e7), _positive(rate, 1e12)])
    if len(points) < FEWEST_POINTS:
        sizes = f"{len(points)} batch size{'s' * (len(points) != 1)}"
        raise Unusable(f"{sizes}, and a fit needs {FEWEST_POINTS}")
    return sorted(points)


def _fit(points):
    sizes, rates = np.array(points, float).T
    seconds = sizes / rates
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    if slope <= 0 or t0 <= 0:
        raise Unusable("its points lie on no line with a fixed cost")
    worst = np.max(np.abs((t0 + slope * sizes) / seconds - 1))
    return {
        "t0_seconds": float(t0), "peak_images_per_second": float(1 / slope),
        "worst": float(worst),
    }  # fmt: skip


def time_to_accuracy(cards: list[Card]) -> tuple[list[dict], list[tuple[str, str]]]:
    """The seconds to the target of lab 03, by batch size, over students and machines.

    Returns
    -------
    targets : list of dict
        The one that most students had first: `target`, `scale`, and `sizes`, a list of
        `batch_size` and `students`, which have `person`, `machine`, `median`, `fastest`,
        `slowest` in seconds, `reached` and `runs`.
    unusable : list of (person, reason)
    """
    groups: dict[tuple, Any] = defaultdict(lambda: defaultdict(list))
    unusable = []
    for card in newest(cards, "03", "time_to_accuracy"):
        try:
            target = _positive(card.content["parameters"].get("target_accuracy"), 1)
            scale = _text(card.content["parameters"].get("scale"))
            for size, one in _times(card).items():
                groups[target, scale][size].append(one)
        except Unusable as reason:
            unusable.append((card.person, f"time to accuracy: {reason}"))
    found = [
        {
            "target": target, "scale": scale,
            "sizes": [{"batch_size": n, "students": s} for n, s in sorted(sizes.items())],
        }
        for (target, scale), sizes in groups.items()
    ]  # fmt: skip
    found.sort(key=lambda one: -max(len(size["students"]) for size in one["sizes"]))
    return found, unusable


def _times(card):
    stored = card.content["measurements"]["time_to_accuracy"]
    if not isinstance(stored, dict) or not stored:
        raise Unusable("no batch size has a time")
    machine, found = _setting(card), {}
    for size, one in stored.items():
        if not isinstance(one, dict) or not size.isdecimal() or len(size) > 7:
            raise Unusable("its batch sizes are no numbers")
        reached, runs = one.get("reached"), one.get("runs")
        if type(reached) is not int or type(runs) is not int or not 0 <= reached <= runs:
            raise Unusable("it does not say how many runs reached the target")
        times = {"median": None, "fastest": None, "slowest": None}
        if one.get("median_seconds") is not None:
            times = {n: _positive(one.get(f"{n}_seconds"), MOST_SECONDS) for n in times}
            if not times["fastest"] <= times["median"] <= times["slowest"]:
                raise Unusable("its fastest run is slower than its slowest")
        found[int(size)] = times | {
            "person": card.person, "machine": machine, "reached": reached, "runs": runs,
        }  # fmt: skip
    return found


def calibration(cards: list[Card]) -> tuple[list[dict], list[tuple[str, str]]]:
    """The first locked prediction of each student on each question, against its outcome.

    Only the first run counts, because a later one knows the outcome.

    Returns
    -------
    questions : list of dict
        `lab`, `name`; `ratios`, of each student the predicted over the measured number
        (of several the median); `right` and `of`, of what is chosen.
    unusable : list of (person, reason)
    """
    questions: dict[tuple, dict] = {}
    unusable, seen = [], set()
    for person, lab, name, entry in _predictions(cards):
        if (person, lab, name) in seen:
            continue
        try:
            ratios, right, of = _scored(entry)
        except Unusable as reason:
            unusable.append((person, f"prediction {name!r} of lab {lab[:2]}: {reason}"))
            continue
        seen.add((person, lab, name))
        one = {"lab": lab[:2], "name": name, "ratios": [], "right": 0, "of": 0}
        question = questions.setdefault((lab, name), one)
        question["ratios"] += [median(ratios)] if ratios else []
        question["right"] += right
        question["of"] += of
    return [questions[key] for key in sorted(questions)], unusable


def _predictions(cards):
    for card in cards:
        lab = card.content["lab"]
        for name, entry in card.content["predictions"].items():
            # A name that the lab does not have may be anything.
            if lab == RING or kind_of(lab, name) in (None, FORECAST):
                continue
            if not predictions.is_entry(entry):
                continue
            if entry["value"] is not None and entry["outcome"] is not None:
                yield card.person, lab, name, entry


def _scored(entry):
    """Ratios of the numbers, and how many of how many choices are right."""
    value, outcome = entry["value"], entry["outcome"]
    made, locked = entry["unix_seconds"], entry["locked_unix_seconds"]
    if type(made) not in (int, float) or type(locked) not in (int, float) or made > locked:
        raise Unusable("it was not locked before the measurement")
    choices = "right" in entry and "factor_off" not in entry
    found = predictions.score(value, outcome, choices)
    pairs = [(value, outcome)]
    if isinstance(value, dict) and isinstance(outcome, dict):
        pairs = [(value[key], outcome[key]) for key in outcome if key in value]
    ratios = [
        a / b for a, b in pairs
        if not choices and all(type(x) in (int, float) and x > 0 for x in (a, b))
    ]  # fmt: skip
    right, of = found.get("right", 0), found.get("of", 0)
    if not ratios and not of:
        raise Unusable("nothing in it can be compared")
    return [ratio for ratio in ratios if 0 < ratio < math.inf], right, of


def mistakes(cards: list[Card]) -> list[dict]:
    """For each exercise who passed, who asked for hints, and what several got wrong.

    Returns
    -------
    list of dict
        `exercise`; `tried`, `passed`, `hints`, `strongest`: students who did, passed,
        asked for a hint, and for the last one; `reasons`, a list of (reason, students),
        with those of one student left out: they are neither frequent nor anonymous.
    """
    verdicts, hints, reasons = defaultdict(dict), defaultdict(dict), defaultdict(set)
    for card in cards:
        for exercise, check in card.content["checks"].items():
            if EXERCISE.fullmatch(exercise):
                before = verdicts[exercise].get(card.person, False)
                verdicts[exercise][card.person] = before or check["passed"]
                reason = check.get("reason")
                if not check["passed"] and isinstance(reason, str) and reason:
                    reasons[exercise, _without_numbers(reason)].add(card.person)
        for exercise, asked in _dict(card.content.get("hints")).items():
            whole = [s for s in asked if type(s) is int] if isinstance(asked, list) else []
            if EXERCISE.fullmatch(exercise) and whole:
                strongest = max(*whole, hints[exercise].get(card.person, 0))
                hints[exercise][card.person] = strongest
    found = []
    for exercise in sorted({*verdicts, *hints}, key=_in_order):
        several = Counter({
            reason: len(people) for (one, reason), people in reasons.items()
            if one == exercise and len(people) >= FEWEST_WITH_A_MISTAKE
        })  # fmt: skip
        found.append({
            "exercise": exercise,
            "tried": len(verdicts[exercise]),
            "passed": sum(verdicts[exercise].values()),
            "hints": len(hints[exercise]),
            "strongest": sum(strength >= 3 for strength in hints[exercise].values()),
            "reasons": several.most_common(3),
        })  # fmt: skip
    return found


def quiz(cards: list[Card]) -> list[dict]:
    """For each question of a quiz, how many students were right at first.

    Returns
    -------
    list of dict
        `lab`, `question`, `right`, `of`.
    """
    first: dict[tuple, dict[str, bool]] = defaultdict(dict)
    for card in cards:
        for question, answers in _dict(card.content.get("quiz")).items():
            right = _dict(_dict(answers).get("first")).get("right")
            if isinstance(right, bool) and question.isdecimal() and len(question) < 3:
                lab = card.content["lab"][:2]
                first[lab, int(question)].setdefault(card.person, right)
    return [
        {"lab": lab, "question": question, "right": sum(who.values()), "of": len(who)}
        for (lab, question), who in sorted(first.items())
    ]


def _setting(card, *names):
    """The device and the parameters by which runs can be compared."""
    device, given = card.content["environment"]["device"], card.content["parameters"]
    parts = [_text(device["name"])]
    parts += ["simulated"] if device.get("simulated") else []
    if "scale" in names:
        parts.append(f"{_text(given.get('scale'))} scale")
    if "depth" in names:
        depth, width = (_positive(given.get(n), 1000) for n in ("depth", "width"))
        parts.append(f"WRN-{depth:g}-{width:g}")
    return "; ".join(parts)


def _text(value):
    if not isinstance(value, str):
        raise Unusable("a parameter is missing")
    return " ".join("".join(c if c.isprintable() else " " for c in value[:60]).split())


def _positive(value, most):
    if type(value) not in (int, float) or not 0 < value <= most:
        raise Unusable(f"a number is not between 0 and {most:g}")
    return value


def _dict(value):
    return value if isinstance(value, dict) else {}


def _without_numbers(reason):
    return NUMBER.sub("…", " ".join(reason.split()))[:LONGEST_REASON]


def _in_order(exercise):
    return [int(part) for part in exercise.split(".")]
