"""Ask one exercise's questions of a process in a box, and judge what it says.

Everything that comes out of a box is taken for hostile: it is bytes of a bounded
number, then plain JSON of a bounded depth, and then data for the judge.
"""

import contextlib
import dataclasses
import functools
import hashlib
import hmac
import json
import math
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from helpers.checks import HINTS, part
from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit import sandbox

QUESTIONS = 3
REPLY_DEPTH = 20
LONGEST_WAIT_SECONDS = 10
START_SECONDS = 300
LOOK_SECONDS = 0.2  # between two looks at the box's memory
HINTS_IN_A_BOX = {
    "time": "Does every loop of yours end? Try your cell with a small example.",
    "memory": "What grows with every call? Try your cell with a small example.",
    "output": "Which of your prints is called in a loop that does not end?",
    "form": "Does your code leave the checks, Keras and Python's own functions alone?",
    "ended": "Does your code end Python itself, by os._exit, a signal or a crash?",
    "names": "Only the TODO cells are graded. Where else do you define that name?",
    "missing": "Start from the lab's own notebook and keep the cell with the TODO.",
}


class RefusedError(Exception):
    """The box did not keep to the rules: a line that says how, and a hint's key."""


def examine(job, limits, seed, student, boxed=True, hide=()):
    """Ask an exercise's questions until one is answered wrongly.

    Parameters
    ----------
    job : dict
        `lab`, `exercise`, `name`, `cells` (TODO cells by exercise), `setup`,
        `references` and `modules`: see `kit.exercises`.
    limits : kit.sandbox.Limits
    seed : bytes
        The secret that questions are drawn from.
    student : str
    boxed : bool
        False: without isolation.
    hide : sequence of Path
        See `kit.sandbox.open_box`.

    Returns
    -------
    dict
        `passed`, `reason`, `hint` (its key), `question` and `observation` (the
        last ones), `borrowed`.
    """
    result = {"passed": False, "borrowed": [], "question": None, "observation": None}
    exercise = job["exercise"]
    judges = part("judges", exercise)
    rng = random.Random(_seed_of(seed, student, job["lab"], exercise))
    try:
        with _conversation(job, limits, boxed, hide) as box:
            for _ in range(QUESTIONS):
                question = json.loads(json.dumps(judges.CHALLENGES[exercise](rng)))
                observation = box.ask(question)
                result |= {"question": question, "observation": observation}
                if verdict := _judge(judges, exercise, question, observation):
                    raise RefusedError(*verdict)
    except RefusedError as refused:
        reason, hint = refused.args
        result |= {"reason": plain_text(reason, 500), "hint": hint}
    else:
        result |= {"passed": True, "reason": "", "hint": ""}
    result["borrowed"] = sorted(box.borrowed)
    return result


def hint_text(exercise, key):
    """The hint of a key, which may have come out of a box."""
    known = part("judges", exercise).HINTS[exercise] | HINTS | HINTS_IN_A_BOX
    return known.get(key, known["raised"])


def plain_text(text, length):
    """A text that can be printed and stored anywhere, cut to a length."""
    shown = "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for c in text[:length]
    )
    return shown.encode("utf-8", "replace").decode()


def _seed_of(seed, *names):
    text = "\0".join(names).encode("utf-8", "surrogateescape")
    return hmac.new(seed, text, hashlib.sha256).hexdigest()


def _judge(judges, exercise, question, observation):
    if "error" in observation:
        error, hint = str(observation["error"]), observation.get("hint")
        if "raised NameError" in error:
            hint = "names"
        return error, hint if isinstance(hint, str) else "raised"
    try:
        return judges.JUDGES[exercise](question, observation)
    except Exception:  # a reply that no probe would give makes a judge stumble
        return "the reply is not what the probe gives for any answer", "form"


# ---------------------------------------------------------------- the conversation


@dataclasses.dataclass
class Box:
    """One exercise's process, and what it may still use."""

    channel: socket.socket
    output: int
    limits: sandbox.Limits
    deadline: float
    pids: object  # a function: the processes of the box
    borrowed: set = dataclasses.field(default_factory=set)
    received: bytearray = dataclasses.field(default_factory=bytearray)
    output_ended: bool = False
    printed_bytes: int = 0
    last_printed: bytes = b""
    weigh_at: float = 0.0

    def ask(self, question):
        """Put a question; wait as the probe says, and keep when that was."""
        waits = []
        self._say({"question": question})
        while True:
            message = self.listen()
            if "wait" in message:
                began = time.perf_counter()
                self._wait(message["wait"], began)
                waits.append([began, time.perf_counter()])
                self._say({})
            elif isinstance(message.get("observation"), dict):
                return message["observation"] | {"waits": waits}
            elif "error" in message:
                return message
            elif isinstance(message.get("borrowed"), list):
                self.borrowed.update(
                    plain_text(name, 50)
                    for name in message["borrowed"][:9]
                    if isinstance(name, str)
                )
            else:
                raise RefusedError("the reply is not what a probe says", "form")

    def listen(self):
        """The next message, a dict of plain JSON."""
        while b"\n" not in self.received:
            self._look(self.channel.fileno())
            data = self.channel.recv(2**16)
            if not data:
                raise RefusedError(f"its process ended early{self._last_line()}", "ended")
            self.received.extend(data)
            if len(self.received) > self.limits.reply_bytes:
                size = f"{self.limits.reply_bytes // 1024} KB"
                raise RefusedError(f"its reply is longer than {size}", "form")
        line, _, rest = bytes(self.received).partition(b"\n")
        self.received[:] = rest
        return parse_strictly(line)

    def _wait(self, seconds, began):
        if (
            not isinstance(seconds, (int, float))
            or not 0 <= seconds <= LONGEST_WAIT_SECONDS
        ):
            raise RefusedError("the reply is not what a probe says", "form")
        while (left := began + seconds - time.perf_counter()) > 0:
            self._look(None, left)

    def _look(self, wanted, seconds=None):
        """Until `wanted` can be read or `seconds` have passed; guards the limits."""
        until = self.deadline if seconds is None else time.perf_counter() + seconds
        while True:
            now = time.perf_counter()
            # By the clock, not when all is quiet: a box that prints all the time has to
            # be weighed as well.
            if now >= self.weigh_at:
                self._weigh()
                self.weigh_at = now + LOOK_SECONDS
            if now >= self.deadline:
                took = f"{self.limits.wall_seconds:g} seconds"
                raise RefusedError(f"it had not finished after {took}", "time")
            if now >= until:
                return
            output = None if self.output_ended else self.output
            ready, _, _ = select.select(
                [file for file in (wanted, output) if file is not None],
                [], [], min(until - now, LOOK_SECONDS),
            )  # fmt: skip
            if self.output in ready:
                self._drain()
            if wanted in ready:
                return

    def _drain(self):
        data = os.read(self.output, 2**16)
        if not data:
            self.output_ended = True
            return
        self.printed_bytes += len(data)
        self.last_printed = (self.last_printed + data)[-2000:]
        if self.printed_bytes > self.limits.printed_bytes:
            size = f"{self.limits.printed_bytes // 1024:,} KB"
            raise RefusedError(f"it printed more than {size}", "output")

    def _weigh(self):
        used = memory_mib(self.pids(), self.limits.memory_mib)
        if used > self.limits.memory_mib:
            raise RefusedError(
                f"it took more than {self.limits.memory_mib:,} MiB of memory", "memory"
            )

    def _last_line(self):
        with contextlib.suppress(OSError, RefusedError):
            while not self.output_ended and select.select([self.output], [], [], 0)[0]:
                self._drain()
        lines = self.last_printed.decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""

    def _say(self, message):
        # A process that reads nothing must not make the grader wait for ever.
        self.channel.settimeout(max(0.01, self.deadline - time.perf_counter()))
        try:
            self.channel.sendall(json.dumps(message).encode() + b"\n")
        except TimeoutError:
            raise RefusedError("it read none of its questions", "time") from None
        except OSError:
            raise RefusedError(
                f"its process ended early{self._last_line()}", "ended"
            ) from None


@contextlib.contextmanager
def _conversation(job, limits, boxed, hide):
    """A process for one exercise that has been told what it needs."""
    ours, theirs = socket.socketpair()
    output, output_end = os.pipe()
    with contextlib.ExitStack() as stack:
        for file in (ours, theirs):
            stack.callback(file.close)
        stack.callback(os.close, output)
        if boxed:
            room = stack.enter_context(sandbox.open_box(limits, hide))
            pids = room.pids
            descriptors = [theirs.fileno(), output_end, room.pidfd]
        else:
            descriptors = [theirs.fileno(), output_end]
        pid = _fork(tuple(job["modules"]), descriptors)
        theirs.close()
        os.close(output_end)
        if not boxed:
            pids = functools.partial(_family, pid)
            stack.callback(_kill_family, pid)
        deadline = time.perf_counter() + limits.wall_seconds
        box = Box(ours, output, limits, deadline, pids)
        box._say({
            **{k: job[k] for k in ("setup", "cells", "exercise", "name", "references")},
            "probes": f"helpers.checks.probes.lab_{job['lab'][:2]}",
            "limits": {
                "RLIMIT_CPU": limits.cpu_seconds,
                "RLIMIT_FSIZE": limits.disk_mib * sandbox.MIB,
                "RLIMIT_DATA": limits.memory_mib * sandbox.MIB,
                "RLIMIT_NPROC": limits.processes,
                "RLIMIT_NOFILE": 256,
                "RLIMIT_CORE": 0,
            },
        })  # fmt: skip
        yield box


def parse_strictly(line):
    """Plain JSON and nothing else.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    dict

    Raises
    ------
    RefusedError
        If it is no JSON object, nested too deeply, or has a number that is none.
    """

    def refuse(text):
        raise ValueError(text)

    def finite(text):
        return float(text) if math.isfinite(float(text)) else refuse(text)

    def short(text):
        return int(text) if len(text) <= 30 else refuse(text)

    try:
        text = line.decode()
        depth = 0
        for bracket in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket, 0)
            if depth > REPLY_DEPTH:
                raise ValueError("nested too deeply")
        message = json.loads(
            text, parse_constant=refuse, parse_float=finite, parse_int=short
        )
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise RefusedError("the reply is not plain JSON", "form")
    return message


# ---------------------------------------------------------------- memory


def memory_mib(pids, enough):
    """Main memory of some processes, shared pages split between those that share.

    The exact figure takes the kernel a while, so it is asked for only where the sum
    of what each one maps is more than `enough`.
    """
    rough = sum(_rough_mib(pid) for pid in pids)
    return rough if rough <= enough else sum(_exact_mib(pid) for pid in pids)


def _rough_mib(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / sandbox.MIB
    except (OSError, IndexError):
        return 0


def _exact_mib(pid):
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(re.search(r"^Pss: +(\d+)", text, re.M)[1]) / 1024
    except (OSError, TypeError):
        return 0


# ---------------------------------------------------------------- where they fork from


@functools.lru_cache(maxsize=1)
def _zygote(modules):
    """Start the process that has TensorFlow imported; it ends with this one."""
    ours, theirs = socket.socketpair()
    home = tempfile.mkdtemp(prefix="labs-grade-")
    process = subprocess.Popen(
        [sys.executable, "-I", str(Path(__file__).with_name("zygote.py")),
         str(theirs.fileno()), str(REPOSITORY), json.dumps(modules)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        start_new_session=True,
        cwd="/",
        env={
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": home, "KERAS_HOME": home,
            "MPLCONFIGDIR": home, "MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "TF_NUM_INTRAOP_THREADS": "2", "TF_NUM_INTEROP_THREADS": "2",
            "LABS_SCALE": "smoke", "PYTHONHASHSEED": "0",
        },
    )  # fmt: skip
    theirs.close()
    ours.settimeout(START_SECONDS)
    started = ours.recv(1)
    shutil.rmtree(home, ignore_errors=True)
    if started != b"r":
        raise LabError("the process that imports TensorFlow for the judges did not start")
    return ours, process


def _fork(modules, descriptors):
    """Have a child forked that owns the descriptors; returns its process number."""
    for _ in range(2):
        control, process = _zygote(modules)
        try:
            socket.send_fds(control, [b"f"], descriptors)
            if told := control.recv(8):
                return int.from_bytes(told, "big")
        except OSError:
            pass
        process.kill()
        process.wait()
        _zygote.cache_clear()
    raise LabError("the process that imports TensorFlow for the judges ended twice")


def _family(pid):
    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.Error:
        return []


def _kill_family(pid):
    """All that can be found of it: without a box a process can hide."""
    family = _family(pid)
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    for member in family:
        with contextlib.suppress(OSError):
            os.kill(member, signal.SIGKILL)
