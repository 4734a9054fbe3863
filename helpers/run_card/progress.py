"""A student's progress in a lab: one model, for every page and message that says it."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from helpers.exercise import numbers_of
from helpers.run_card import predictions, reset_exercises
from helpers.run_card.documents import cards_of, own_rate
from helpers.texts import read_texts


class Progress(NamedTuple):
    """The progress over some runs of a lab."""

    exercises: tuple[str, ...]  # of the lab: "2.1" and so on
    questions: tuple[str, ...]  # of its quiz: "1" and so on
    passed: frozenset[str]  # exercises that any run passed, and not given back since
    answers: dict[str, dict]  # to questions: the `first` of all, and the `last`
    hints: dict[str, int]  # for an exercise the strongest one that was shown
    together: dict[str, Any]  # as on one run card: `lab` and `predictions`
    measured: str  # the newest rate that was reached, in words; or nothing
    measured_on: str  # the device and the scale of that rate, and what disturbed it
    seconds: float  # of all runs, from the first to the last thing that each noted
    first_unix_seconds: float  # when the first run was started; 0.0: never
    last_unix_seconds: float  # when the last run was started

    @property
    def open_exercises(self) -> list[str]:
        """In their order."""
        return [name for name in self.exercises if name not in self.passed]

    @property
    def open_questions(self) -> list[str]:
        """In their order."""
        return [name for name in self.questions if name not in self.answers]

    @property
    def done(self) -> bool:
        """Whether every exercise is passed, and every question answered."""
        return not self.open_exercises and not self.open_questions

    @property
    def counted(self) -> tuple[int, int]:
        """Exercises and questions that are done, and how many there are."""
        of = len(self.exercises) + len(self.questions)
        return of - len(self.open_exercises) - len(self.open_questions), of

    @property
    def right_at_once(self) -> int:
        """How many questions were answered rightly the first time."""
        return sum(
            answer["first"]["right"]
            for name, answer in self.answers.items()
            if name in self.questions
        )

    @property
    def still_wrong(self) -> list[str]:
        """Questions whose last answer is wrong."""
        return [
            name
            for name in self.questions
            if name in self.answers and not self.answers[name]["last"]["right"]
        ]


def of_student(lab: str, left_out: Path | None = None) -> Progress:
    """The progress over all runs of a student.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    left_out : Path, optional
        A run card that does not count.

    Returns
    -------
    Progress
        Without runs of the solution: `labs run`, or a solution that was opened.
    """
    cards = cards_of(lab, left_out)
    return of_runs(lab, (card for card in cards if not card.get("solution")))


def of_runs(lab: str, cards: Iterable[dict]) -> Progress:
    """The progress over some runs, the oldest first.

    Parameters
    ----------
    lab : str
    cards : iterable of dict
        The contents of run cards. Those of older versions may lack hints and answers.
    """
    passed, answers, hints, predicted = set(), {}, {}, {}
    rate, where, seconds, starts = "", "", 0.0, []
    for card in cards:
        passed |= reset_exercises.passed(card)
        for question, answer in _answers(card):
            answers[question] = {**answer, **_first(answers.get(question))}
        for exercise, strengths in card.get("hints", {}).items():
            hints[exercise] = max([hints.get(exercise, 0), *strengths])
        for start, entries in _by_start(card).items():
            # Of two runs alike the first counts: the second knew what would come.
            if start not in predicted or _worth(entries) > _worth(predicted[start]):
                predicted[start] = entries
        if newer := own_rate(card):
            rate, where = newer, _where(card)
        seconds += card["wall_seconds"]
        starts.append(card["started_unix_seconds"])
    asked = read_texts(lab[:2])["quiz"]
    return Progress(
        exercises=tuple(numbers_of(lab[:2])),
        questions=tuple(str(number) for number in range(1, len(asked) + 1)),
        passed=frozenset(passed),
        answers=answers,
        hints=hints,
        together={
            "lab": lab,
            "predictions": {k: v for one in predicted.values() for k, v in one.items()},
        },
        measured=rate,
        measured_on=where,
        seconds=seconds,
        first_unix_seconds=min(starts, default=0.0),
        last_unix_seconds=max(starts, default=0.0),
    )


def _where(card):
    device = card["environment"].get("device", {}).get("name", "a device without a name")
    scale = card["parameters"].get("scale")
    synthetic = card["measurements"].get("data_source") == "synthetic"
    busy = card.get("other_load", {}).get("percent")
    parts = [device, f"{scale} scale" * bool(scale), "synthetic data" * synthetic]
    parts += [f"while other programs used up to {busy}% of the CPUs"] * bool(busy)
    return ", ".join(filter(None, parts))


def _answers(card):
    """The answers on a card; an edited one may hold anything."""
    for question, answer in card.get("quiz", {}).items():
        given = [answer.get(when) for when in ("first", "last")]
        if all(
            isinstance(one, dict) and {"choice", "right"} <= one.keys() for one in given
        ):
            yield question, answer


def _first(earlier):
    return {"first": earlier["first"]} if earlier else {}


def _by_start(card):
    """Predictions by their names without a number: "law_holds_at" for two of that name."""
    found = {}
    for name, entry in card["predictions"].items():
        if predictions.is_entry(entry):
            found.setdefault(re.sub(r"_\d+$", "", name), {})[name] = entry
    return found


def _worth(entries):
    """A prediction counts more than none, and one that was compared more than others.

    Of those not made, one that has been measured meanwhile is not open any more.
    """
    made = [entry for entry in entries.values() if entry["value"] is not None]
    measured = [entry for entry in entries.values() if entry["locked_unix_seconds"]]
    return bool(made), any(entry["outcome"] is not None for entry in made), bool(measured)
