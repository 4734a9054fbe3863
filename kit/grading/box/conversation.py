"""Talk with the process in a box: questions go in, plain JSON comes out.

The grader trusts nothing that comes out of a box. It reads a bounded number of bytes,
parses them as plain JSON of a bounded depth, and hands the data to the judge.
"""

import contextlib
import dataclasses
import functools
import json
import math
import os
import select
import socket
import time
from collections.abc import Callable, Generator, Sequence

from helpers.exercise import find_exercise
from helpers.plain_json import as_json, storable
from helpers.verdict import Wrong, wrong
from kit.grading.box import sandbox
from kit.grading.box.processes import (
    computed_seconds,
    family,
    fork,
    kill_family,
    let_others_first,
    memory_mib,
    was_starved,
)
from kit.grading.contracts import Job, Reply

REPLY_DEPTH = 20
LONGEST_TEXT = 2000  # characters of a string that judges and pages get
MOST_WAITS = 1000  # for one question; the judges' own questions need some 20
MOST_BORROWED = 2  # messages: before the cells run, and after
LONGEST_NAME = 120  # of something in the check that was changed
LONGEST_WAIT_SECONDS = 10
LOOK_SECONDS = 0.2  # between two looks at the box's memory
NEARLY = 0.75  # of the limit: looks are late, and the kernel counts otherwise
GUARD_SECONDS = 10  # after its time the box's guard ends it, if nobody else has
STARVED = "overloaded"  # the mistake of what the machine was too busy to judge


class RefusedError(Exception):
    """The box broke a rule; it holds a `Wrong`, which `Box.ask` returns."""


@dataclasses.dataclass
class Box:
    """One exercise's process, and the limits that it has left."""

    channel: socket.socket
    output: int
    limits: sandbox.Limits
    deadline: float
    pids: Callable[[], list[int]]  # the processes of the box
    references: frozenset[str] = frozenset()  # the names of what can be borrowed
    begin_with: dict = dataclasses.field(default_factory=dict)  # said before all questions
    borrowed: set[str] = dataclasses.field(default_factory=set)
    borrowed_messages: int = 0
    changed_check: list[str] = dataclasses.field(default_factory=list)
    received: bytearray = dataclasses.field(default_factory=bytearray)
    output_ended: bool = False
    printed_bytes: int = 0
    last_printed: bytes = b""
    weigh_at: float = 0.0
    computed_seconds: float = 0.0  # by the process that has computed most, when last seen

    def ask(self, question: dict) -> Reply | Wrong:
        """Send a question; wait as the probe says, and record when each wait was.

        Returns
        -------
        dict or helpers.verdict.Wrong
            The observation or the error, plain JSON; or the rule that the box broke.
        """
        try:
            return self._ask(question)
        except RefusedError as refused:
            return refused.args[0]

    def _ask(self, question):
        waits = []
        self.say({"question": question})
        while True:
            message = self._listen()
            if "wait" in message and len(waits) < MOST_WAITS:
                began = time.perf_counter()
                self._wait(message["wait"], began)
                waits.append([began, time.perf_counter()])
                self.say({})
            elif isinstance(message.get("observation"), dict):
                return message["observation"] | {"waits": waits}
            elif "error" in message:
                return message
            else:
                raise RefusedError(wrong("form", "not_a_probes"))

    def _is_about_the_check(self, message):
        """Whether it only tells what was borrowed or changed, which is noted."""
        if self._is_new_borrowed(message.get("borrowed")):
            self.borrowed_messages += 1
            self.borrowed.update(filter(self._is_ours, message["borrowed"][:9]))
            return True
        if not self.changed_check and _are_names(message.get("changed_check")):
            self.changed_check = message["changed_check"][:9]
            return True
        return False

    def _is_new_borrowed(self, names):
        new = self.borrowed_messages < MOST_BORROWED
        return new and isinstance(names, list) and all(isinstance(n, str) for n in names)

    def _is_ours(self, name):
        module = len(name) <= 80 and name.split(".")[0] in ("callbacks", "helpers")
        plain = name.removesuffix(".*").replace(".", "")
        return name in self.references or (module and plain.isidentifier())

    def heard(self) -> dict | None:
        """The next message, plain JSON, if all of it has been read."""
        while b"\n" in self.received:
            line, _, rest = bytes(self.received).partition(b"\n")
            self.received[:] = rest
            message = parse_strictly(line)
            if not self._is_about_the_check(message):
                return message
        return None

    def files(self) -> list[int]:
        """The files that can be read when the box has sent or printed something."""
        return [self.channel.fileno(), *([] if self.output_ended else [self.output])]

    def take(self, ready: list[int]) -> None:
        """Enforce the limits, and read those of the `files` that are ready."""
        self._enforce_limits()
        if self.output in ready:
            self._drain()
        if self.channel.fileno() in ready:
            self._receive()

    def _listen(self):
        while (message := self.heard()) is None:
            self._look(self.channel.fileno())
            self._receive()
        return message

    def _receive(self):
        try:
            data = self.channel.recv(2**16)
        except OSError:  # killed, or it left without reading what it was sent
            data = b""
        if not data and time.perf_counter() >= self.deadline:
            raise RefusedError(self._out_of_time())  # its guard has ended it
        if not data and self.computed_seconds > NEARLY * self.limits.cpu_seconds:
            seconds = self.limits.cpu_seconds  # the kernel has ended it
            raise RefusedError(wrong("time", "out_of_time", seconds=seconds))
        if not data:
            raise RefusedError(self._ended_early())
        self.received.extend(data)
        if len(self.received) > self.limits.reply_bytes:
            size = self.limits.reply_bytes // 1024
            raise RefusedError(wrong("form", "long_reply", kilobytes=size))

    def _wait(self, seconds, began):
        if (
            not isinstance(seconds, (int, float))
            or not 0 <= seconds <= LONGEST_WAIT_SECONDS
        ):
            raise RefusedError(wrong("form", "not_a_probes"))
        while (left := began + seconds - time.perf_counter()) > 0:
            self._look(None, left)

    def _look(self, wanted, seconds=None):
        """Wait until `wanted` can be read or `seconds` have passed; enforce the limits."""
        until = self.deadline if seconds is None else time.perf_counter() + seconds
        while True:
            self._enforce_limits()
            now = time.perf_counter()
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

    def _enforce_limits(self):
        now = time.perf_counter()
        # By the clock, not when the box is quiet: a box that prints all the time must
        # be weighed as well.
        if now >= self.weigh_at:
            self._weigh()
            self.weigh_at = now + LOOK_SECONDS
        if now >= self.deadline:
            raise RefusedError(self._out_of_time())

    def _drain(self):
        data = os.read(self.output, 2**16)
        if not data:
            self.output_ended = True
            return
        self.printed_bytes += len(data)
        self.last_printed = (self.last_printed + data)[-2000:]
        if self.printed_bytes > self.limits.printed_bytes:
            size = self.limits.printed_bytes // 1024
            raise RefusedError(wrong("output", "printed", kilobytes=size))

    def _out_of_time(self):
        """The box was too slow, or the machine was."""
        late, seconds = time.perf_counter() - self.deadline, self.limits.wall_seconds
        if self.was_starved() or late > GUARD_SECONDS / 2:
            return wrong(STARVED, "starved", seconds=seconds)
        return wrong("time", "out_of_time", seconds=seconds)

    def was_starved(self) -> bool:
        """Whether the machine was too busy to run it."""
        began = self.deadline - self.limits.wall_seconds
        return was_starved(self.pids(), time.perf_counter() - began)

    def _weigh(self):
        pids = self.pids()
        let_others_first(pids)
        self.computed_seconds = max(self.computed_seconds, computed_seconds(pids))
        used = memory_mib(pids, self.limits.memory_mib)
        if used > self.limits.memory_mib:
            mib = self.limits.memory_mib
            raise RefusedError(wrong("memory", "too_much_memory", mib=mib))

    def _ended_early(self):
        """Its process left, with the last line that it printed, if it printed one."""
        with contextlib.suppress(OSError, RefusedError):
            while not self.output_ended and select.select([self.output], [], [], 0)[0]:
                self._drain()
        lines = self.last_printed.decode(errors="replace").strip().splitlines()
        if lines:
            return wrong("ended", "ended_with", line=lines[-1][:200])
        return wrong("ended", "ended_early")

    def say(self, message: dict) -> None:
        """Send a message; before the first one, what the box needs to know."""
        if self.begin_with:
            begin_with, self.begin_with = self.begin_with, {}
            self.say(begin_with)
        # If a process reads nothing, the grader must not wait for ever.
        self.channel.settimeout(max(0.01, self.deadline - time.perf_counter()))
        try:
            self.channel.sendall(as_json(message).encode() + b"\n")
        except TimeoutError:
            raise RefusedError(self._out_of_time()) from None
        except OSError:
            return  # it has ended: `_receive` reads what it said before


def _are_names(names):
    """Whether they are names of what the course's own modules define."""
    return isinstance(names, list) and all(
        isinstance(name, str)
        and len(name) <= LONGEST_NAME
        and name.startswith("helpers.")
        and name.replace(".", "").isidentifier()
        for name in names
    )


@contextlib.contextmanager
def conversation(
    job: Job, limits: sandbox.Limits, boxed: bool, hide: Sequence[str]
) -> Generator[Box]:
    """Start the process for one exercise; it is sent what it needs before a question."""
    ours, theirs = socket.socketpair()
    output, output_end = os.pipe()
    with contextlib.ExitStack() as stack:
        for file in (ours, theirs):
            stack.callback(file.close)
        stack.callback(os.close, output)
        if boxed:
            room = stack.enter_context(sandbox.open_box(limits, hide, job["visible"]))
            pids = room.pids
            descriptors = [theirs.fileno(), output_end, room.pidfd]
        else:
            descriptors = [theirs.fileno(), output_end]
        seconds = math.ceil(limits.wall_seconds) + GUARD_SECONDS
        pid = fork(tuple(job["modules"]), ours, descriptors, seconds)
        theirs.close()
        os.close(output_end)
        if not boxed:
            pids = functools.partial(family, pid)
            stack.callback(kill_family, pid)
        deadline = time.perf_counter() + limits.wall_seconds
        references = frozenset(job["references"])
        yield Box(ours, output, limits, deadline, pids, references, {
            **{k: job[k] for k in ("setup", "code", "exercise", "name", "references")},
            "probe": find_exercise(job["exercise"]).in_box,
            "limits": {
                "RLIMIT_CPU": limits.cpu_seconds,
                "RLIMIT_FSIZE": limits.disk_mib * sandbox.MIB,
                "RLIMIT_DATA": limits.memory_mib * sandbox.MIB,
                "RLIMIT_NPROC": limits.processes,
                "RLIMIT_NOFILE": 256,
                "RLIMIT_CORE": 0,
            },
        })  # fmt: skip


def parse_strictly(line: bytes) -> dict:
    """Plain JSON and nothing else; long texts are cut, and what no file holds replaced.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    dict

    Raises
    ------
    RefusedError
        If it is no JSON object, is nested too deeply, or has a number that is not finite.
    """

    def refuse(text):
        raise ValueError(text)

    def finite(text):
        return float(text) if math.isfinite(float(text)) else refuse(text)

    def short(text):
        return int(text) if len(text) <= 30 else refuse(text)

    try:
        message = _cut(
            json.loads(
                line.decode(), parse_constant=refuse, parse_float=finite, parse_int=short
            )
        )
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise RefusedError(wrong("form", "not_json"))
    return message


def _cut(value, depth=0):
    """The same value with all texts cut to `LONGEST_TEXT`, and storable."""
    if isinstance(value, str):
        return storable(value[:LONGEST_TEXT])
    if isinstance(value, (list, dict)) and depth >= REPLY_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_cut(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {_cut(name): _cut(one, depth + 1) for name, one in value.items()}
    return value


def plain_text(text: str, length: int) -> str:
    """Make a text that can be printed and stored anywhere, cut to a length."""
    shown = "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for c in text[:length]
    )
    return shown.encode("utf-8", "replace").decode()
