"""Exercises that `labs reset` gave back: what was passed before counts no longer."""

import json
import time
from collections.abc import Iterable

from helpers.files import runs_folder
from helpers.plain_json import write_json

FILE = ".given_back"  # beside the lab's run cards


def note(lab: str, exercises: Iterable[str]) -> None:
    """Note that exercises are as they were handed out.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    exercises : iterable of str
        ``"2.1"`` and so on.
    """
    now = time.time()
    write_json(_path(lab), _noted(lab) | dict.fromkeys(exercises, now))


def passed(content: dict) -> set[str]:
    """The exercises that a run passed, but for those that were given back since.

    Parameters
    ----------
    content : dict
        A run card's.

    Returns
    -------
    set of str
    """
    noted = _noted(content["lab"])
    # Cards of older versions say no time: it was before the run's end.
    ended = content["started_unix_seconds"] + content["wall_seconds"]
    return {
        exercise
        for exercise, check in content["checks"].items()
        if check["passed"] and check.get("unix_seconds", ended) > noted.get(exercise, 0)
    }


def _noted(lab):
    """For each exercise that was given back, when; nothing from a damaged file."""
    try:
        noted = json.loads(_path(lab).read_text(encoding="utf-8"))
        return {exercise: float(when) for exercise, when in noted.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _path(lab):
    return runs_folder() / lab / FILE
