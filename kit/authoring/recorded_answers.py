"""The recorded answers to an exercise, and what its check said of mutants.

They are tests, so they are in `tests/answers/lab_NN`, beside each other.
"""

import importlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from helpers.checks import judge_answer
from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from helpers.verdict import Verdict

TRIES = 30  # of an answer that a clock judges


def recorded_answers(number: str) -> ModuleType:
    """The module with an exercise's `WRONG` and `RIGHT` answers.

    Parameters
    ----------
    number : str
        ``"2.1"``.

    Returns
    -------
    module
        `WRONG` is a list of (requirement, mistake, answer): the key of the sentence that
        the answer breaks, and the key of the mistake that the judge has to name. `RIGHT`
        is a list of answers.
    """
    if str(REPOSITORY) not in sys.path:  # as where the `labs` command runs
        sys.path.append(str(REPOSITORY))
    path = _folder(number).relative_to(REPOSITORY)
    return importlib.import_module(".".join([*path.parts, find_exercise(number).name]))


def verdict_on(exercise: str, answer: Callable, mistake: str) -> Verdict | None:
    """What the check says of a wrong answer, of which this mistake is recorded.

    A busy machine blurs what a clock sees: the answer is refused each time, but only a
    quiet moment shows with which mistake.
    """
    verdict = judge_answer(exercise, answer, random.Random(2))
    for _ in range(TRIES - 1 if is_clocked(exercise) else 0):
        if verdict is None or verdict.mistake == mistake:
            break
        verdict = judge_answer(exercise, answer, random.Random(2))
    return verdict


def is_clocked(exercise: str) -> bool:
    """Whether the judge of an exercise compares with a clock."""
    folder = REPOSITORY.joinpath(*find_exercise(exercise).package.split("."))
    return "judging.timing" in (folder / "judge.py").read_text(encoding="utf-8")


def mutants_path(number: str) -> Path:
    """Where `labs mutants` stores what the check of an exercise said of each mutant."""
    return _folder(number) / f"{find_exercise(number).name}.mutants.json"


def stored_mutants(number: str) -> dict:
    """The stored results of `labs mutants` for an exercise; empty if there are none.

    Returns
    -------
    dict
        `fingerprint`; `mutants`, their number; and `passed`: for each change that the
        check did not notice, why it leaves the answer right, or an empty text.
    """
    try:
        return json.loads(mutants_path(number).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _folder(number):
    return REPOSITORY / "tests/answers" / find_exercise(number).package.split(".")[1]
