"""The recorded answers to an exercise, and what its check said of mutants.

They are tests, so they are in `tests/answers/lab_NN`, beside each other.
"""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

from helpers.exercise import find_exercise
from helpers.files import REPOSITORY


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
