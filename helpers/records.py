"""Run cards: the one JSON document that each run of a lab writes and keeps up to date."""

import json
import os
import socket
import subprocess
import time
from collections import UserDict
from importlib.metadata import version
from pathlib import Path

import psutil

from helpers.errors import RecordError
from helpers.files import REPOSITORY, runs_folder, write_atomically


class RunCard:
    """A run card, saved after every change.

    Parameters
    ----------
    path : Path
        Where the JSON document is.
    content : dict
        Plain JSON: see `open_card`.
    """

    def __init__(self, path, content):
        self.path, self.content = Path(path), content
        content["owner"] = _this_process()
        self._before, self._began = content["wall_seconds"], time.monotonic()
        self.save()

    def save(self):
        """Write the card atomically; `RecordError` if that fails."""
        # An interrupted run goes on later: only the time that it ran counts.
        ran = self._before + time.monotonic() - self._began
        self.content["wall_seconds"] = round(ran, 1)
        try:
            write_atomically(self.path, json.dumps(self.content, indent=1) + "\n")
        except OSError as error:
            raise RecordError(
                f"cannot write the run card in {self.path.parent} ({error.strerror}). "
                "Free some space there, or set LABS_RUNS_DIR to a folder of yours."
            ) from error

    def check(self, exercise, passed, reason=""):
        """Note the last verdict on an exercise."""
        self.content["checks"][exercise] = {"passed": passed, "reason": reason}
        self.save()

    def predict(self, name, value):
        """Note what the student expects, before it is measured."""
        self.content["predictions"][name] = value
        self.save()

    def measure(self, name, value):
        """Note a measured value, plain JSON; `name` carries the unit."""
        self.content["measurements"][name] = value
        self.save()

    def points(self, name):
        """A dict of measured points that saves the card at each assignment.

        It starts with the points of an interrupted run. JSON has only text
        keys: whole numbers are read back as numbers.
        """
        return _Points(self, self.content["measurements"].setdefault(name, {}))

    def hint(self, exercise, strength):
        """Note a hint that was asked for; `strength` from 1, a question, to 3."""
        self.content.setdefault("hints", {}).setdefault(exercise, []).append(strength)
        self.save()

    def answer(self, question, choice, right):
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

    def finish(self):
        """Mark the card as complete, so that the next run starts a new one."""
        self.content["finished"] = True
        self.save()


class _Points(UserDict):
    def __init__(self, card, stored):
        super().__init__()
        self._card, self._stored = card, stored
        self.data.update({_key(name): value for name, value in stored.items()})

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self._stored[str(key)] = value
        self._card.save()

    def clear(self):
        """Forget all points, to measure again."""
        super().clear()
        self._stored.clear()
        self._card.save()


def _key(name):
    return int(name) if name.isdecimal() else name


def open_card(lab, parameters, environment):
    """Open the run card of a lab: a new one, or the last that was interrupted.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    parameters, environment : dict
        Plain JSON. An unfinished card is continued only if both are the same and
        the process that wrote it has ended.

    Returns
    -------
    RunCard

    Raises
    ------
    RecordError
        If the run folder cannot be written.
    """
    folder = runs_folder() / lab
    same = {"lab": lab, "parameters": parameters, "environment": environment}
    solution = _is_a_solution()
    for path in sorted(folder.glob("*.json"), reverse=True):
        content = read_card(path)
        if content is None or content["finished"] or _is_another_runs(content["owner"]):
            continue
        if content.get("solution", False) != solution:
            continue
        if all(content[name] == same[name] for name in same):
            return RunCard(path, content)
    now = time.time()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
    return RunCard(
        folder / f"{stamp}-{int(now % 1 * 1000):03d}.json",
        same
        | {
            "started_unix_seconds": now,
            "wall_seconds": 0.0,
            "finished": False,
            "solution": solution,
            "checks": {},
            "predictions": {},
            "measurements": {},
            "hints": {},
            "quiz": {},
        },
    )


def _is_a_solution():
    """Whether a notebook in solutions/ runs here: its passes are not the student's.

    JupyterLab and `labs run` tell a kernel its notebook.
    """
    path = os.environ.get("LABS_NOTEBOOK") or os.environ.get("JPY_SESSION_NAME", "")
    return Path(path).parent.name == "solutions"


def _this_process():
    return {"host": socket.gethostname(), "pid": os.getpid()}


def _is_another_runs(owner):
    """Whether another process, which still runs, writes the card."""
    here = _this_process()
    if owner["host"] != here["host"]:
        return True
    return owner["pid"] != here["pid"] and psutil.pid_exists(owner["pid"])


def read_card(path):
    """A run card's content, or None where the file is not a run card."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and "finished" in content else None


def cards_of(lab):
    """The contents of all run cards of a lab, the oldest first."""
    paths = sorted((runs_folder() / lab).glob("*.json"))
    return [content for path in paths if (content := read_card(path))]


def latest_cards():
    """The newest run card of each lab, as ``{lab: content}``."""
    newest = {}
    for path in sorted(runs_folder().glob("*/*.json")):
        if content := read_card(path):
            newest[content["lab"]] = content
    return newest


def versions():
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
