"""One exercise: its words, and the code that asks, drives and judges an answer.

An exercise has a folder, such as `helpers/lab_02/ex1_throughput`. Its code is imported
when it is first used: a sandbox has no judge, and the start page needs no TensorFlow.
"""

import functools
import importlib
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

HELPERS = Path(__file__).parent
UNCLEAR = "unclear"  # the mistake after which another question is asked


class Mistake(NamedTuple):
    """A mistake that a judge can name."""

    breaks: tuple[str, ...]  # the requirements that it may break
    reaction: str = ""  # a question to the student; empty: the one of any exercise


class Verdict(NamedTuple):
    """Why an answer is not right."""

    reason: str  # what was seen, in one line
    mistake: str  # a key of the exercise's mistakes, or of those that any exercise has
    requirement: str = ""  # a key; needed where the mistake may break several


@dataclass(frozen=True)
class Exercise:
    """One exercise of a lab.

    Attributes
    ----------
    number : str
        ``"2.1"``.
    package : str
        Its folder as a package, ``"helpers.lab_02.ex1_throughput"``.
    title : str
        What an answer that passed has shown; printed after the tick.
    hints : tuple of str
        Three, each stronger than the one before.
    requirements : dict of str
        The sentences that are checked, by their keys.
    mistakes : dict of Mistake
    feedback : dict
        How `kit.grading.classroom.in_words` shows questions and observations.
    """

    number: str
    package: str
    title: str
    hints: tuple[str, ...]
    requirements: dict[str, str]
    mistakes: dict[str, Mistake]
    feedback: dict

    @property
    def name(self) -> str:
        """The name of its folder, ``"ex1_throughput"``."""
        return self.package.rpartition(".")[2]

    @property
    def draw_question(self) -> Callable:
        """``draw_question(rng)`` gives plain JSON; its "secret" stays with the judge."""
        return self._part("judge").draw_question

    @property
    def judge(self) -> Callable:
        """``judge(question, observation)`` gives None, or what a `Verdict` is made of."""
        return self._part("judge").judge

    @property
    def probe(self) -> Callable:
        """``probe(answer, question, wait)`` gives an observation, plain JSON."""
        return self._part("probe").probe

    @property
    def reference(self):
        """The reference answer, generated from the lab's solution."""
        lab = self.package.rpartition(".")[0]
        return importlib.import_module(f"{lab}.reference").REFERENCES[self.number]

    def sentence(self, verdict: Verdict) -> str:
        """The requirement that was broken; empty where it may be one of several."""
        mistake = self.mistakes.get(verdict.mistake)
        broken = mistake.breaks if mistake else ()
        key = verdict.requirement or (broken[0] if len(broken) == 1 else "")
        return self.requirements.get(key, "")

    def _part(self, name):
        return importlib.import_module(f"{self.package}.{name}")


@functools.cache
def find_exercise(number: str) -> Exercise:
    """Build an exercise from its folder.

    Parameters
    ----------
    number : str
        ``"2.1"``.

    Raises
    ------
    KeyError
        If no lab has such an exercise.
    """
    lab, _, place = number.partition(".")
    for folder in exercise_folders(lab.zfill(2)):
        if folder.name.startswith(f"ex{place}_"):
            words = tomllib.loads((folder / "words.toml").read_text(encoding="utf-8"))
            mistakes = {
                key: Mistake(tuple(one["breaks"]), one.get("reaction", ""))
                for key, one in words["mistakes"].items()
            }
            return Exercise(
                number,
                f"helpers.{folder.parent.name}.{folder.name}",
                words["title"],
                tuple(words["hints"]),
                words["requirements"],
                mistakes,
                words.get("feedback", {}),
            )
    raise KeyError(number)


def numbers_of(lab: str) -> list[str]:
    """The numbers of a lab's exercises: for ``"02"``, ``["2.1", "2.2", "2.3"]``."""
    places = [
        int(re.match(r"ex(\d+)_", folder.name)[1]) for folder in exercise_folders(lab)
    ]
    return [f"{int(lab)}.{place}" for place in sorted(places)]


def exercise_folders(lab: str) -> list[Path]:
    """The folders of a lab's exercises; none for a number that no lab has."""
    if not lab.isascii() or not lab.isdigit():
        return []
    return sorted(p.parent for p in HELPERS.glob(f"lab_{lab}/ex*_*/words.toml"))
