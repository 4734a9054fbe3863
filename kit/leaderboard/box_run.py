"""One training in a box: hand over the data, stop the time, compare the predictions.

The clock is this process's. The submission gets the test images only after its `train` has
returned, and what it does in between is measured from outside.
"""

import contextlib
import functools
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from helpers.data.fashion_mnist import FASHION_MNIST
from helpers.data.places import own_folder, user_cache
from helpers.files import REPOSITORY
from helpers.plain_json import as_json, storable
from helpers.speed_record import rule
from helpers.speed_record.splits import Split
from kit.grading.box import sandbox
from kit.grading.box.conversation import plain_text
from kit.grading.box.system_calls import allowed
from kit.imports import files_behind

SCRIPT, FILTER = "/tmp/train_in_box.py", "/tmp/filter_in_box.py"
NETWORK = ("models", "batch_norm", "pipelines", "precision", "recipes")
MEMORY_SHARE = 0.8  # of the machine's, for a training
PROCESSES = 512  # threads count
DISK_MIB = 256
LONGEST_LINE = 4096  # bytes of a message's first line
LOOK_SECONDS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")


class Outcome(NamedTuple):
    """What one training came to; `problem` says in a sentence which rule it broke."""

    accuracy: float | None = None  # None: it crashed
    seconds: float | None = None  # from handing over the data to the last prediction
    train_seconds: float | None = None
    predict_seconds: float | None = None
    cpu_seconds: float | None = None
    problem: str | None = None
    cheats: bool = False  # the problem is no accident: the whole submission is refused
    predicts_long: bool = False  # which a busy machine can cause, too


class BrokenError(Exception):
    """The submission broke a rule or crashed; it holds an `Outcome`."""


def run_in_box(
    code: str,
    seed: int,
    data: Split,
    warm: bool = False,
    seconds: float = rule.MOST_SECONDS,
) -> Outcome:
    """Train with a submission in a fresh process of its own, and predict.

    Parameters
    ----------
    code : str
        Its source, without docstrings and comments.
    seed : int
    data : helpers.speed_record.splits.Split
    warm : bool
        Whether the process has already trained on noise before the clock starts.
    seconds : float
        After which it is ended.

    Returns
    -------
    Outcome
        Of whatever the submission does.

    Raises
    ------
    helpers.errors.LabError
        If the machine cannot open a box.
    """
    rng = np.random.default_rng(seed)
    with _box() as (talk, cpu_seconds):
        deadline = time.monotonic() + seconds
        try:
            if warm:
                _warm_up(talk, code, rng, deadline)
            return _judged(talk, cpu_seconds, code, seed, data, rng, deadline)
        except BrokenError as broken:
            return broken.args[0]


def _judged(talk, cpu_seconds, code, seed, data, rng, deadline):
    order = rng.permutation(len(data.x_test))
    before = cpu_seconds()
    began = time.perf_counter()
    talk.train(code, seed, data.x_train, data.y_train, deadline)
    trained = time.perf_counter() - began
    late, working = _work_after_training(cpu_seconds)
    trained += late
    asked = time.perf_counter()
    labels = talk.predict(data.x_test[order], deadline)
    predicted = time.perf_counter() - asked
    # The judge's own wait is not the submission's time, except for what it worked in it.
    total, cpu = trained + predicted, cpu_seconds() - before
    accuracy = float(np.mean(labels == data.y_test[order]))
    outcome = Outcome(accuracy, total, trained, predicted, cpu)
    if working > rule.IDLE_SHARE * rule.IDLE_SECONDS:
        return outcome._replace(
            problem="It went on working after train had returned, while nothing was asked "
            f"of it: {working:.2f} s of processor time in {rule.IDLE_SECONDS:g} s.",
            cheats=True,
        )
    if predicted > max(rule.PREDICT_FLOOR_SECONDS, rule.PREDICT_SHARE * total):
        return outcome._replace(
            problem=f"Predicting took {predicted:.1f} of {total:.1f} s, and "
            f"{rule.PREDICT_SHARE:.0%} are allowed.",
            predicts_long=True,
        )
    unlike, asked = _unlike(talk, data.x_test[order], labels, rng, deadline)
    if unlike > rule.MOST_UNLIKE:
        return outcome._replace(
            problem=f"{unlike} of {asked} images got another label alone, or among other "
            f"images, than in one batch; {rule.MOST_UNLIKE} may.",
            cheats=True,
        )
    return outcome


def _warm_up(talk, code, rng, deadline):
    """Noise, from which nothing can be learnt, compiles what a training compiles."""
    x = rng.integers(0, 256, (rule.WARM_UP_IMAGES, 28, 28, 1), dtype="uint8")
    y = rng.integers(0, rule.CLASSES, len(x), dtype="uint8")
    talk.train(code, int(rng.integers(2**31)), x, y, deadline)
    talk.predict(x, deadline)


def _work_after_training(cpu_seconds):
    """Seconds of processor time in each of two waits of `IDLE_SECONDS`, with nothing to do.

    In the first wait an honest thread pool comes to rest.
    """
    used = [cpu_seconds()]
    for _ in range(2):
        time.sleep(rule.IDLE_SECONDS)
        used.append(cpu_seconds())
    return used[1] - used[0], used[2] - used[1]


def _unlike(talk, images, labels, rng, deadline):
    """How many images get another label alone, or in another order."""
    drawn = rng.permutation(len(images))[: rule.ALIKE_IMAGES]
    alone, others = drawn[: rule.SINGLE_IMAGES], drawn[rule.SINGLE_IMAGES :]
    again = [talk.predict(images[[one]], deadline)[0] for one in alone]
    unlike = int(np.sum(np.array(again) != labels[alone]))
    if len(others):
        unlike += int(np.sum(talk.predict(images[others], deadline) != labels[others]))
    return unlike, len(drawn)


@contextlib.contextmanager
def _box() -> Generator[tuple["Talk", Callable[[], float]]]:
    """Open a box with a process that waits for its first message, on its own CPUs."""
    here = Path(__file__).parent
    files = {
        SCRIPT: (here / "train_in_box.py").read_bytes(),
        FILTER: Path(sandbox.__file__).with_name("filter_in_box.py").read_bytes(),
    }
    memory = int(MEMORY_SHARE * psutil.virtual_memory().total)
    limits = sandbox.Limits(memory_mib=memory // sandbox.MIB, disk_mib=DISK_MIB)
    command = (sys.executable, "-I", SCRIPT)
    with sandbox.open_box(limits, hidden(), visible(), files, command) as box:
        os.sched_setaffinity(box.pid, pinned())
        talk = Talk(box.monitor)
        talk.say(
            {
                "repository": str(REPOSITORY),
                "filter": allowed(notebook=True).hex(),
                "limits": {
                    "RLIMIT_DATA": memory,
                    "RLIMIT_NPROC": PROCESSES,
                    "RLIMIT_CORE": 0,
                },
                "environment": {
                    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": sandbox.HOME,
                    "KERAS_HOME": sandbox.HOME, "TMPDIR": "/tmp", "MPLBACKEND": "Agg",
                    "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3",
                },
            },
            [],
            time.monotonic() + sandbox.START_SECONDS,
        )  # fmt: skip
        talk.listen(time.monotonic() + sandbox.START_SECONDS)
        yield talk, functools.partial(_cpu_seconds, box)


def pinned() -> set[int]:
    """The CPUs to which trainings and the calibration load are pinned."""
    return set(sorted(os.sched_getaffinity(0))[: rule.CPUS])


def hidden() -> list[Path]:
    """Folders with labelled images, which no submission may see."""
    folders = [FASHION_MNIST.system_folder, user_cache(), own_folder()]
    return [path.resolve() for path in folders if path and path.is_dir()]


@functools.cache
def visible() -> list[Path]:
    """The files of the kit that a submission may import: the networks of the labs."""
    found = files_behind([f"helpers.network.{name}" for name in NETWORK])
    return sorted(REPOSITORY / path for path in found)


def _cpu_seconds(box):
    """Of all processes in the box, also of those that have ended."""
    return sum(map(_ticks, box.pids())) / TICKS


def _ticks(pid):
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    # After the name, which may hold anything: user and system time, own and children's.
    return sum(map(int, text.rpartition(")")[2].split()[11:15]))


class Talk:
    """Messages to the process in a box and from it, with a limit for each wait."""

    def __init__(self, monitor: subprocess.Popen) -> None:
        assert monitor.stdin and monitor.stdout
        self._given, self._taken = monitor.stdin.fileno(), monitor.stdout.fileno()
        for pipe in (self._given, self._taken):
            os.set_blocking(pipe, False)
        self._received = bytearray()

    def train(
        self, code: str, seed: int, x: np.ndarray, y: np.ndarray, deadline: float
    ) -> None:
        """Hand over a training; returns when the process says that it has trained."""
        message = {"task": "train", "code": code, "seed": seed, "images": len(x)}
        self.say(message | {"bytes": x.nbytes + y.nbytes}, [x, y], deadline)
        if "trained" not in self.listen(deadline):
            raise _broken("It said something else than that it has trained.")

    def predict(self, images: np.ndarray, deadline: float) -> np.ndarray:
        """The labels that it gives some images."""
        message = {"task": "predict", "images": len(images), "bytes": images.nbytes}
        self.say(message, [images], deadline)
        if self.listen(deadline).get("bytes") != len(images):
            raise _broken("It said something else than the labels of the images.")
        while len(self._received) < len(images):
            self._read(deadline)
        labels = bytes(self._received[: len(images)])
        del self._received[: len(images)]
        return np.frombuffer(labels, "uint8")

    def say(self, message: dict, arrays: list[np.ndarray], deadline: float) -> None:
        """Send a message, while the process reads."""
        parts = [as_json(message).encode() + b"\n"]
        for part in [*parts, *(np.ascontiguousarray(one).data.cast("B") for one in arrays)]:
            left = memoryview(part)
            while left:
                _, ready, _ = select.select([], [self._given], [], _wait(deadline))
                try:
                    left = left[os.write(self._given, left) :] if ready else left
                except OSError:  # it has ended
                    raise _broken("Its process ended early.") from None

    def listen(self, deadline: float) -> dict:
        """The next message, as far as it has the right form."""
        while b"\n" not in self._received:
            if len(self._received) > LONGEST_LINE:
                raise _broken("It said something else than what it was asked.")
            self._read(deadline)
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received[:] = rest
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise _broken("It said something else than what it was asked.")
        if "error" in message:
            said = plain_text(storable(str(message["error"])), 300)
            raise _broken(f"It crashed with {said}")
        return message

    def _read(self, deadline):
        ready, _, _ = select.select([self._taken], [], [], _wait(deadline))
        if not ready:
            return
        data = os.read(self._taken, 2**20)
        if not data:
            raise _broken("Its process ended early.")
        self._received += data


def _wait(deadline):
    left = deadline - time.monotonic()
    if left <= 0:
        raise _broken("It was ended because it took too long.")
    return min(left, LOOK_SECONDS)


def _broken(problem):
    return BrokenError(Outcome(problem=problem))
