"""Run cards: the one JSON document that each run of a lab writes and keeps up to date."""

import contextlib
import functools
import json
import math
import os
import re
import socket
import subprocess
import time
from collections import UserDict
from collections.abc import Callable
from importlib.metadata import version
from numbers import Number
from pathlib import Path
from typing import Any

import psutil

from helpers.errors import RunCardError
from helpers.files import REPOSITORY, only_one, runs_folder, sweep
from helpers.machine import other_load
from helpers.plain_json import finite, write_json
from helpers.run_card import predictions
from helpers.run_card.prediction_kinds import (
    check_kind,
    check_name,
    choices_of,
    is_the_labs,
    kind_of,
    why_not_comparable,
)
from helpers.run_card.units import in_units

# What other parts rely on. Cards of older versions may lack a key, and so may edited ones.
KEYS = {
    "lab": str, "parameters": dict, "environment": dict, "owner": dict,
    "started_unix_seconds": Number, "wall_seconds": Number, "finished": bool,
    "checks": dict, "predictions": dict, "measurements": dict,
}  # fmt: skip
MEASURED = "Has a training diverged? Then train again with a smaller learning_rate."
GUESSED = "Write one, such as 0.5, and run the cell again."
NAME = re.compile(r"\d{8}T\d{6}-\d{3}(-\d+)?\.json")


class RunCard:
    """A run card, saved after every change.

    Parameters
    ----------
    path : Path
        Where the JSON document is.
    content : dict
        Plain JSON: see `open_card`.
    tell : callable
        Gets each line that the student should read.
    confirm : callable
        Gets a line on each prediction that was taken; by default nobody reads it.
    ask : callable
        ``ask(name, kind, value, lock)`` may show a form where there is no prediction
        yet. It returns whether it has: the form then says that there is none.
    """

    def __init__(
        self,
        path: Path,
        content: dict,
        tell: Callable = print,
        confirm: Callable = lambda line: None,
        ask: Callable = lambda name, kind, value, lock: None,
    ) -> None:
        self.path, self.content = Path(path), content
        self._show, self._confirm, self._ask = tell, confirm, ask
        content["owner"] = this_process()
        content["run"] = os.environ.get("LABS_RUN", "")  # the `labs run` that it is of
        self._before, self._began = content["wall_seconds"], time.monotonic()
        self._refused = set()  # names of predictions, until one is taken
        self.save()

    def save(self) -> None:
        """Write the card atomically; `RunCardError` if that fails."""
        # An interrupted run resumes later: only the time that it ran counts.
        ran = self._before + time.monotonic() - self._began
        self.content["wall_seconds"] = round(ran, 1)
        try:
            write_json(self.path, self.content)
        except OSError as error:
            raise _cannot_write(self.path.parent, error) from error

    def check(self, exercise: str, passed: bool, reason: str = "") -> None:
        """Note the last verdict on an exercise."""
        noted = {"passed": passed, "reason": reason, "unix_seconds": time.time()}
        self.content["checks"][exercise] = noted
        self.save()

    def predict(self, name: str, value: object) -> object:
        """Note what the student expects, before it is measured.

        Until the measurement locks it, another value replaces it; afterwards it is
        kept as a later one, which is not scored. Prints a line where there is no
        prediction yet, or where a later one does not count.

        Parameters
        ----------
        name : str
        value : number, str, bool, list, dict or None
            None is no prediction, also as an entry. The order of a list is ignored.

        Returns
        -------
        object
            The prediction that counts, a dict with its own keys; None if there is none.

        Raises
        ------
        RunCardError
            If JSON cannot represent the value, if it is too long, or of another kind
            than the lab asks for, or if it is about something that the lab cannot
            measure; the card is then as it was, and `lock` waits.
        """
        check_name(self.content["lab"], name)
        self._refused.add(name)
        kind, given = self._given(name, value)
        self._refused.discard(name)
        entry = self._prediction(name)
        predictions.note_asked(entry, value)
        line = predictions.make(entry, given, time.time())
        is_open = not self._is_locked(name) and not self._is_the_labs(name)
        if is_open and kind and given is None:
            lock = functools.partial(self._lock_as, name)
            line = "" if self._ask(name, kind, value, lock) else line
        self._tell(line)
        if is_open and given is not None:
            self._confirm(predictions.noted(given))
        return predictions.with_keys_of(value, entry["value"])

    def _given(self, name, value):
        """The kind that the lab asks for, and a prediction of it as it is stored."""
        what, lab = f"the prediction {name!r}", self.content["lab"]
        kind, choices = kind_of(lab, name), choices_of(lab, name)
        if kind and isinstance(value, float) and not math.isfinite(value):
            check_kind(kind, value, what)  # first: `nan` may not be asked for at all
        given = predictions.without_placeholders(plain(value, what, GUESSED), what)
        if kind and given is not None:
            check_kind(kind, given, what, choices)
        return kind, given

    def _lock_as(self, name, value):
        """Note a prediction and lock it at once; returns a line if it comes too late."""
        _, given = self._given(name, value)
        if given is None:
            raise RunCardError("There is no prediction yet: write one, and then lock it.")
        line = predictions.make(self._prediction(name), given, time.time())
        self._refused.discard(name)
        self.lock(name)
        return line

    def lock(self, *names: str) -> None:
        """The measurement begins: from here on these predictions stand.

        Raises
        ------
        RunCardError
            If one was refused and is not locked yet: its measurement would come first;
            or if the lab cannot measure what its name says.
        """
        for name in names:
            check_name(self.content["lab"], name)
            if name in self._refused and not self._is_locked(name):
                raise RunCardError(
                    f"the prediction {name!r} was not taken, so its measurement waits: "
                    "change it in its cell, or write None there, and run that cell. Then "
                    "run this one."
                )
        for name in names:
            predictions.lock(self._prediction(name), time.time())
        self.save()

    def outcome(
        self, name: str, measured: object, choices: bool = False, accepted: bool = False
    ) -> None:
        """Keep what was measured beside its prediction, and print how near it came.

        Only the first outcome counts: who measures again knows it already. Without a
        prediction nothing is printed. Where the lab's `parameters.py` says that the
        measurement is no comparison, a line says so, and the prediction waits.

        Parameters
        ----------
        name : str
        measured : number, str, bool, list, dict or None
            None: there is nothing to compare with.
        choices : bool
            Whether numbers are names, such as batch sizes: right or wrong, no factor.
        accepted : bool
            Whether the prediction counts as right, because the measurement is not certain
            enough to refute it.

        Raises
        ------
        RunCardError
            As `predict`.
        """
        what = f"the outcome {name!r}"
        measured = predictions.without_placeholders(plain(measured, what), what)
        entry = self._prediction(name)
        lab, measurements = self.content["lab"], self.content["measurements"]
        if entry["outcome"] is None and (
            why := why_not_comparable(lab, name, measurements)
        ):
            self._tell(predictions.not_scored(entry, why))
            return
        is_first = entry["outcome"] is None and measured is not None
        line = predictions.meet(entry, measured, choices, time.time(), accepted)
        if is_first and (percent := other_load.busy_percent()):
            entry["other_load_percent"] = percent
        if self._is_the_labs(name):
            line = line.replace("Your prediction", "The lab's forecast", 1)
        if line and (percent := entry.get("other_load_percent")):
            line += f" {other_load.line(percent, ' while this was measured')}"
        self._tell(line)

    def _is_the_labs(self, name):
        return is_the_labs(self.content["lab"], name)

    def _is_locked(self, name):
        return self._prediction(name)["locked_unix_seconds"] is not None

    def _prediction(self, name):
        stored = self.content["predictions"]
        if not predictions.is_entry(stored.get(name)):
            stored[name] = predictions.new_entry()
        return stored[name]

    def _tell(self, line):
        self.save()
        if line:
            self._show(line)

    def measure(self, name: str, value: object) -> None:
        """Note a measured value; `name` carries the unit. Raises as `predict`.

        In a dict, infinity is stored as None, because JSON has none: a lab's *never*.
        """
        if isinstance(value, dict):
            value = {key: None if _is_never(one) else one for key, one in value.items()}
        self.content["measurements"][name] = plain(value, f"the measurement {name!r}")
        self.save()

    def note_other_load(
        self, percent: int, load_average: float, figure: str | None
    ) -> None:
        """Note that other programs took much of the processors' time.

        Parameters
        ----------
        percent : int
            While a cell ran; the largest is kept, with its load average.
        load_average : float
            When that cell began.
        figure : str or None
            The summary of a figure that shows what was measured then.
        """
        noted = self.content.setdefault("other_load", {"percent": 0, "figures": []})
        if percent > noted["percent"]:
            noted.update(percent=percent, load_average=load_average)
        if figure and figure not in noted["figures"]:
            noted["figures"].append(figure)
        self.save()

    def points(self, name: str) -> UserDict:
        """A dict of measured points that saves the card at each assignment.

        It starts with the points of an interrupted run. JSON has only text
        keys: whole numbers are read back as numbers.
        """
        return _Points(self, self.content["measurements"].setdefault(name, {}))

    def hint(self, exercise: str, strength: int) -> None:
        """Note a hint that was asked for; `strength` from 1, a question, to 3."""
        self.content.setdefault("hints", {}).setdefault(exercise, []).append(strength)
        self.save()

    def answer(self, question: int, choice: int, right: bool) -> None:
        """Note an answer to the lab's quiz: the first, which is kept, and the last.

        Parameters
        ----------
        question, choice : int
            As they are shown, from 1.
        right : bool
        """
        given = {"choice": choice, "right": right}
        answers = self.content.setdefault("quiz", {})
        answers.setdefault(str(question), {"first": given})["last"] = given
        self.save()

    def finish(self) -> None:
        """Mark the card as complete, so that the next run starts a new one."""
        self.content["finished"] = True
        self.save()


class _Points(UserDict):
    def __init__(self, card, stored):
        super().__init__()
        self._card, self._stored = card, stored
        self.data.update({int(k) if k.isdecimal() else k: v for k, v in stored.items()})

    def __setitem__(self, key, item):
        value = plain(item, f"the point {key!r}")
        super().__setitem__(key, value)
        self._stored[str(key)] = value
        self._card.save()

    def clear(self):
        """Forget all points, to measure again."""
        super().clear()
        self._stored.clear()
        self._card.save()


def _is_never(value):
    return isinstance(value, float) and value == math.inf


def plain(value: Any, what: str, if_not_finite: str = MEASURED) -> Any:
    """A value as JSON represents it: NumPy's numbers and arrays become Python's.

    Parameters
    ----------
    value : object
    what : str
        For the message, such as "the prediction 'loss'".
    if_not_finite : str
        What to do then, for the message.

    Raises
    ------
    RunCardError
        If JSON cannot represent it, or if it is not a finite number.
    """
    if hasattr(value, "tolist"):  # NumPy's, and TensorFlow's after .numpy()
        value = value.tolist()
    if isinstance(value, dict):
        return {str(k): plain(entry, what, if_not_finite) for k, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, what, if_not_finite) for entry in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise RunCardError(
            f"{what} is {value}, but the run card takes only finite numbers. "
            f"{if_not_finite}"
        )
    raise RunCardError(
        f"{what} is a {type(value).__name__}, but the run card takes only numbers, texts, "
        "True, False, None, and lists or dicts of these: change it and run the cell again."
    )


def open_card(
    lab: str,
    parameters: dict,
    environment: dict,
    tell: Callable = print,
    confirm: Callable = lambda line: None,
    ask: Callable = lambda name, kind, value, lock: None,
) -> RunCard:
    """Open the run card of a lab: a new one, or the last that was interrupted.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    parameters, environment : dict
        Plain JSON. An unfinished card is continued only if both are the same and
        the process that wrote it has ended.
    tell, confirm, ask : callable
        See `RunCard`.

    Returns
    -------
    RunCard

    Raises
    ------
    RunCardError
        If the run folder cannot be written.
    """
    folder = runs_folder() / lab
    # As a card on disk has it: what is nan would never be equal.
    same = finite({"lab": lab, "parameters": parameters, "environment": environment})
    same |= {"solution": is_a_solution()}
    with _only_one(folder):  # else two processes could continue the same card
        sweep(folder)
        for path in sorted(folder.glob("*.json"), reverse=True):
            content = read_card(path)
            if content is None or content["finished"] or _is_in_use(content["owner"]):
                continue
            content.setdefault("solution", False)
            if all(content[name] == same[name] for name in same):
                return RunCard(path, content, tell, confirm, ask)
        now = time.time()
        new = same | {
            "started_unix_seconds": now,
            "wall_seconds": 0.0,
            "finished": False,
            "checks": {},
            "predictions": {},
            "measurements": {},
            "hints": {},
            "quiz": {},
        }
        return RunCard(_new_name(folder, now), new, tell, confirm, ask)


@contextlib.contextmanager
def _only_one(folder):
    """As `only_one`; says what helps where that cannot be."""
    try:
        with only_one(folder):
            yield
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _new_name(folder, now):
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
    stamp += f"-{int(now % 1 * 1000):03d}"
    names = [f"{stamp}.json", *(f"{stamp}-{n}.json" for n in range(2, 100))]
    return next(folder / name for name in names if not (folder / name).exists())


def _cannot_write(folder, error):
    return RunCardError(
        f"cannot write the run card in {folder} ({error.strerror}). "
        "Free some space there, or set LABS_RUNS_DIR to a folder of yours."
    )


def is_a_solution() -> bool:
    """Whether a notebook in solutions/ runs here: its passes are not the student's.

    JupyterLab and `labs run` tell a kernel its notebook.
    """
    path = os.environ.get("LABS_NOTEBOOK") or os.environ.get("JPY_SESSION_NAME", "")
    return Path(path).parent.name == "solutions"


def this_process() -> dict:
    """A name that no other process has, not even a later one."""
    return {
        "host": socket.gethostname(),
        "machine": _machine(),
        "pid": os.getpid(),
        "started_unix_seconds": psutil.Process().create_time(),
    }


def _machine():
    """Where process numbers mean the same: this boot of the system, and this container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # macOS
        return f"{socket.gethostname()} {psutil.boot_time():.0f}"


def _is_in_use(owner):
    """Whether another process, which still runs, writes the card."""
    here = this_process()
    if "machine" not in owner:  # of an older version
        return owner.get("host") != here["host"] or psutil.pid_exists(owner["pid"])
    if owner["machine"] != here["machine"]:
        # After a restart no process of before is alive; on another machine it may be.
        return owner.get("host") != here["host"]
    if owner["pid"] == here["pid"]:
        return False
    try:
        started = psutil.Process(owner["pid"]).create_time()
    except psutil.Error:
        return False
    # Another process may have been given the number since.
    return abs(started - owner.get("started_unix_seconds", 0)) < 1


def read_card(path: Path) -> dict | None:
    """A run card's content, or None where the file is not a whole run card.

    A card that lacks something is set aside, so that it is named only once.
    """
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return None
    except ValueError:
        content = None
    if problem := _problem(content):
        if NAME.fullmatch(path.name):
            _set_aside(path, problem)
        return None
    return {"solution": False, "run": ""} | (content or {})  # older cards lack them


def _problem(content):
    if not isinstance(content, dict):
        return "it is not JSON"
    for name, kind in KEYS.items():
        if not isinstance(content.get(name), kind):
            return f"{name!r} is missing or wrong"
    if not all(isinstance(check, dict) and "passed" in check
               for check in content["checks"].values()):  # fmt: skip
        return "'checks' is wrong"
    if not isinstance(content["owner"].get("pid"), int):
        return "'owner' is wrong"
    return None


def _set_aside(path, problem):
    with contextlib.suppress(OSError):  # a folder that may only be read
        path.rename(path.with_name(f"{path.name}.unreadable"))
    print(f"The run card {path} cannot be used ({problem}): it is kept as *.unreadable.")


def cards_of(lab: str, left_out: Path | None = None) -> list[dict]:
    """The contents of all run cards of a lab, the oldest first, but for one."""
    paths = sorted((runs_folder() / lab).glob("*.json"))
    return [content for path in paths if path != left_out and (content := read_card(path))]


def newest_card_with(lab: str, measurement: str) -> dict | None:
    """The newest run card of a lab that has a measurement; None if no card has it.

    A card begins with the setup cell, so the newest one may hold nothing yet.
    """
    cards_with = [card for card in cards_of(lab) if card["measurements"].get(measurement)]
    return cards_with[-1] if cards_with else None


def latest_cards() -> dict[str, dict]:
    """The newest run card of each lab, as ``{lab: content}``."""
    newest = {}
    for path in sorted(runs_folder().glob("*/*.json")):
        if content := read_card(path):
            newest[content["lab"]] = content
    return newest


def versions() -> dict[str, str]:
    """Versions of the libraries that results depend on, and the git revision.

    The revision ends in "-dirty" if files have been changed since.
    """
    found = {name: version(name) for name in ("keras", "tensorflow", "numpy")}
    command = ["git", "-C", REPOSITORY, "describe", "--always", "--dirty", "--exclude=*"]
    try:
        git = subprocess.run(command, capture_output=True, text=True, check=False)
        revision = git.stdout.strip()
    except OSError:  # no git here
        revision = ""
    return found | {"git_revision": revision or "unknown"}


def own_rate(content: dict) -> str:
    """The first rate that a run measured, in words, or nothing: one figure of one's own.

    Parameters
    ----------
    content : dict
        A run card's.

    Returns
    -------
    str
        ``"812 images per second"``
    """
    for name, value in content["measurements"].items():
        if name.endswith("_per_second") and isinstance(value, int | float):
            return in_units(name, value)
    return ""
