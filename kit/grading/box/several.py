"""Several boxes for one exercise: the grader is all that there is between them.

Whatever goes from one box to another is then seen from outside, where no code in a box can
forge it. An exercise's `outside.ask` decides what each box is asked, and returns the
observation. In a box, `inside.probe` drives the answer and asks the grader for everything
that lies outside.
"""

import contextlib
import functools
import math
import select
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from types import ModuleType

from helpers.exercise import find_exercise
from helpers.verdict import Wrong, wrong
from kit.grading.box.conversation import LOOK_SECONDS, Box, RefusedError, conversation
from kit.grading.box.sandbox import Limits
from kit.grading.contracts import Job, Reply

MOST_MESSAGES = 10_000  # from all boxes, for one question


class _FailedError(Exception):
    """The answer failed in a box; it holds the box's reply, which `Talk.ask` returns."""


class Talk:
    """The open boxes of one exercise, each with a number; used like a `Box`.

    Parameters
    ----------
    outside : module
        The exercise's.
    open_box : callable
        ``open_box()`` opens a new one: a context.
    """

    def __init__(
        self, outside: ModuleType, open_box: Callable[[], AbstractContextManager[Box]]
    ) -> None:
        self._outside, self._open_box = outside, open_box
        self._open, self._ever, self._own_pids = {}, [], {}
        self._deadline, self._nonce, self._messages = math.inf, "", 0

    def ask(self, question: dict) -> Reply | Wrong:
        """What all boxes together make of a question: see `Box.ask`."""
        self._nonce, self._messages = question["nonce"], 0
        own = {name: part for name, part in question.items() if name != "nonce"}
        try:
            observation = self._outside.ask(own, self)
        except RefusedError as refused:
            return refused.args[0]
        except _FailedError as failed:
            return failed.args[0]
        except Exception:  # a box can send what no probe sends
            return wrong("form", "not_a_probes")
        return observation | {"nonce": self._nonce, "waits": []}

    def begin(self, number: int, question: dict) -> None:
        """Give a box its part of the question; open the box unless it is open."""
        if number not in self._open:
            if len(self._open) == self._outside.BOXES:
                raise ValueError(f"more than {self._outside.BOXES} boxes")
            context = self._open_box()
            box = context.__enter__()
            # The limits of time and memory are those of all boxes together.
            box.deadline = self._deadline = min(self._deadline, box.deadline)
            box.weigh_at = math.inf if self._open else 0.0
            self._own_pids[number], box.pids = box.pids, self._pids
            self._open[number] = box, context
            self._ever.append(box)
        box, _ = self._open[number]
        box.say({"question": question | {"nonce": self._nonce}})

    def say(self, number: int, message: dict) -> None:
        """Reply to what a box has asked."""
        box, _ = self._open[number]
        # A box that waits for its reply has read all others. So this never has to wait.
        if not select.select([], [box.channel], [], 0)[1]:
            raise RefusedError(wrong("form", "not_a_probes"))
        box.say(message)

    def listen(self) -> tuple[int, dict]:
        """Wait for a message.

        Returns
        -------
        number : int
            Which box it is from.
        message : dict
            Plain JSON with `wait`, what the box asks, or with `observation`, its last
            message about this question.
        """
        while True:
            for number, (box, _) in self._open.items():
                if (message := box.heard()) is not None:
                    return number, self._checked(message)
            files = [file for box, _ in self._open.values() for file in box.files()]
            ready, _, _ = select.select(files, [], [], LOOK_SECONDS)
            for box, _ in self._open.values():
                box.take(ready)

    def end(self, number: int) -> None:
        """Kill a box, with everything in it."""
        _, context = self._open.pop(number)
        del self._own_pids[number]
        context.__exit__(None, None, None)
        for box, _ in self._open.values():
            box.weigh_at = 0.0

    def end_all(self) -> None:
        """Kill all boxes."""
        for number in list(self._open):
            self.end(number)

    @property
    def borrowed(self) -> set[str]:
        """The references that the submission uses."""
        return set().union(*(box.borrowed for box in self._ever))

    @property
    def changed_check(self) -> list[str]:
        """The replaced parts of the check, in the first box that tells."""
        return next((box.changed_check for box in self._ever if box.changed_check), [])

    def was_starved(self) -> bool:
        """Whether the machine was too busy to run them."""
        return any(box.was_starved() for box, _ in self._open.values())

    def _checked(self, message):
        self._messages += 1
        if self._messages > MOST_MESSAGES:
            raise RefusedError(wrong("form", "not_a_probes"))
        # Before there is an answer that can be asked, and afterwards.
        for reply in (message, message.get("observation", {})):
            if "error" in reply:
                raise _FailedError(reply)
        if "wait" not in message and message["observation"].get("nonce") != self._nonce:
            raise RefusedError(wrong("form", "not_this_question"))
        return message

    def _pids(self):
        return [pid for own in self._own_pids.values() for pid in own()]


@contextlib.contextmanager
def several_boxes(
    job: Job, limits: Limits, boxed: bool, hide: Sequence[str]
) -> Generator[Talk]:
    """Begin to talk about an exercise that has a module `outside`; opens no box yet.

    Parameters are those of `kit.grading.box.conversation.conversation`. The boxes share the
    size of the disk.
    """
    outside = find_exercise(job["exercise"]).outside
    assert outside, f"{job['exercise']} needs one box"
    share = limits._replace(disk_mib=max(1, limits.disk_mib // outside.BOXES))
    talk = Talk(outside, functools.partial(conversation, job, share, boxed, hide))
    try:
        yield talk
    finally:
        talk.end_all()
