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
from types import FunctionType, ModuleType
from typing import NamedTuple

from helpers.errors import CheckError
from helpers.texts import labs_with_texts
from helpers.verdict import Verdict, Wrong, in_words

HELPERS = Path(__file__).parent
UNCLEAR = "unclear"  # the mistake after which another question is asked
# Python's words for a call with arguments that a function does not take.
OTHER_ARGUMENTS = re.compile(r"TypeError: [\w.<>]+\(\) (takes|missing|got) ")


class Mistake(NamedTuple):
    """A mistake that a judge can name."""

    breaks: tuple[str, ...] = ()  # the requirements that it may break
    reaction: str = ""  # a question to the student


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
        Those of any exercise, too.
    seen : dict of str
        Sentences about what was seen: its own, its lab's, and those of any exercise.
    feedback : dict
        How `kit.grading.classroom.in_words` shows questions and observations.
    """

    number: str
    package: str
    title: str
    hints: tuple[str, ...]
    requirements: dict[str, str]
    mistakes: dict[str, Mistake]
    seen: dict[str, str]
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
        """``judge(question, observation)`` gives None, or a `helpers.verdict.Wrong`."""
        return self._part("judge").judge

    @property
    def probe(self) -> Callable:
        """``probe(answer, question, wait)`` gives an observation, plain JSON."""
        return self._part("probe").probe

    @property
    def in_box(self) -> str:
        """The module of which a grader's box runs `probe`."""
        inside = _file(self.package, "inside").is_file()
        return f"{self.package}.{'inside' if inside else 'probe'}"

    @property
    def outside(self) -> ModuleType | None:
        """What asks the question where a grader needs several boxes: docs/checks.md."""
        there = _file(self.package, "outside").is_file()
        return self._part("outside") if there else None

    @property
    def reference(self) -> FunctionType | type:
        """The reference answer, generated from the lab's solution."""
        lab = self.package.rpartition(".")[0]
        return importlib.import_module(f"{lab}.reference").REFERENCES[self.number]

    def verdict(self, wrong: Wrong) -> Verdict:
        """Put into words what a judge said.

        Raises
        ------
        KeyError
            If there is no such sentence, or a fact is missing.
        """
        mistake = self.mistakes.get(wrong.mistake)
        broken = mistake.breaks if mistake else ()
        key = wrong.requirement or (broken[0] if len(broken) == 1 else "")
        sentence = self.requirements[key] if key else ""
        return Verdict(in_words(wrong.seen, self.seen), wrong.mistake, sentence)

    def reaction(self, mistake: str, reason: str) -> str:
        """A question to the student who made a mistake.

        Parameters
        ----------
        mistake : str
            As in `Verdict`; another one counts as "raised".
        reason : str
            The verdict's: a wrong signature is an error, too, but needs other advice.
        """
        if mistake not in self.mistakes:
            mistake = "raised"
        if mistake == "raised" and OTHER_ARGUMENTS.search(reason):
            mistake = "arguments"
        return self.mistakes[mistake].reaction.replace("{exercise}", self.number)

    def _part(self, name):
        return importlib.import_module(f"{self.package}.{name}")


def _file(package, name):
    return HELPERS.joinpath(*package.split(".")[1:], f"{name}.py")


@functools.cache
def find_exercise(number: str) -> Exercise:
    """Build an exercise from its folder.

    Parameters
    ----------
    number : str
        ``"2.1"``.

    Raises
    ------
    CheckError
        If no lab has such an exercise.
    """
    if not isinstance(number, str):
        raise CheckError('Write the number of an exercise in quotes, such as "2.1".')
    lab, _, place = number.partition(".")
    for folder in exercise_folders(lab.zfill(2)):
        if folder.name.startswith(f"ex{place}_"):
            words = _read(folder / "words.toml")
            shared = [_read(path) for path in shared_words(folder.parent)]
            mistakes, seen = {}, {}
            for texts in (*shared, words):
                seen |= texts.get("seen", {})
                for key, one in texts.get("mistakes", {}).items():
                    older = mistakes.get(key, Mistake())
                    breaks = tuple(one.get("breaks", older.breaks))
                    mistakes[key] = Mistake(breaks, one.get("reaction", older.reaction))
            return Exercise(
                number,
                f"helpers.{folder.parent.name}.{folder.name}",
                words["title"],
                tuple(words["hints"]),
                words["requirements"],
                mistakes,
                seen,
                words.get("feedback", {}),
            )
    raise CheckError(unknown(number))


def unknown(number: str) -> str:
    """A line for somebody who asks for an exercise that no lab has.

    Parameters
    ----------
    number : str
        ``"2.9"``. If there is a lab 02, the line names its exercises, else all.
    """
    numbers = numbers_of(number.partition(".")[0].zfill(2)) or [
        known for lab in labs_with_texts() for known in numbers_of(lab)
    ]
    return f"There is no exercise {number!r}; there are {', '.join(numbers)}."


def shared_words(lab_folder: Path) -> list[Path]:
    """The words of any exercise, and those that the exercises of a lab share, if any."""
    paths = HELPERS / "checks" / "words.toml", lab_folder / "words.toml"
    return [path for path in paths if path.is_file()]


def _read(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


def numbers_of(lab: str) -> list[str]:
    """The numbers of a lab's exercises: for ``"02"``, ``["2.1", "2.2", "2.3"]``."""
    places = [
        int(folder.name.removeprefix("ex").partition("_")[0])
        for folder in exercise_folders(lab)
    ]
    return [f"{int(lab)}.{place}" for place in sorted(places)]


def exercise_folders(lab: str) -> list[Path]:
    """The folders of a lab's exercises; none for a number that no lab has."""
    if not lab.isascii() or not lab.isdigit():
        return []
    return sorted(p.parent for p in HELPERS.glob(f"lab_{lab}/ex*_*/words.toml"))
