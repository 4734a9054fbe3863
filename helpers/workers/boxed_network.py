"""The network between workers in boxes: it runs in the grader, and sees every message."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from helpers.workers.array_message import unpacked

MOST_MESSAGES = 1000  # of all workers in one case


class CannotTravelError(Exception):
    """The answer cannot be copied to another process; holds why."""


def ask_boxes(
    workers: int, talk: Any, rounds: Iterable[Sequence[dict]]
) -> tuple[list[dict], list[dict]]:
    """Let each box be the worker of one rank, in several rounds.

    Parameters
    ----------
    workers : int
        The most of any round.
    talk : kit.grading.box.several.Talk
    rounds : iterable of list of dict
        What each worker of a round is given, plain JSON.

    Returns
    -------
    tuple of list
        For each round what its network saw, and for each worker its last message.

    Raises
    ------
    CannotTravelError
        If a box cannot make its copy of the answer.
    ValueError
        If a worker sends another message than the expected one.
    """
    for rank in range(workers):
        talk.begin(rank, {"rank": rank})
    _wait_for(workers, talk, "wait")
    seen = [Network(cases, talk).run() for cases in rounds]
    for rank in range(workers):
        talk.say(rank, {"over": True})
    return seen, _wait_for(workers, talk, "observation")


def _wait_for(workers, talk, kind):
    """One message from each: "wait", that it is ready, or "observation", its last one."""
    messages = {}
    while len(messages) < workers:
        rank, message = talk.listen()
        if kind not in message and (why := message["observation"].get("cannot_travel")):
            raise CannotTravelError(str(why))
        if rank in messages or (kind == "wait" and message[kind] != {"ready": True}):
            raise ValueError("no such message is expected")
        messages[rank] = message[kind]
    return [messages[rank] for rank in range(workers)]


class Network:
    """The network between the workers of one case.

    Parameters
    ----------
    cases : list of dict
        What each worker is given, plain JSON; `workers` is added to it.
    talk : kit.grading.box.several.Talk
    """

    def __init__(self, cases: Sequence[dict], talk: Any) -> None:
        self._cases, self._talk, self._workers = cases, talk, len(cases)
        self._running, self._waits_for = set(range(self._workers)), {}
        self._on_the_way = {}  # by sender and receiver
        self._messages, self._failed = [], {}

    def run(self) -> dict:
        """Relay until no worker runs; returns what was seen."""
        for rank, case in enumerate(self._cases):
            self._talk.say(rank, {"workers": self._workers} | case)
        while self._running:
            rank, message = self._talk.listen()
            if rank not in self._running or rank in self._waits_for:
                raise ValueError("it is not this worker's turn")
            self._hear(rank, message["wait"])
            self._look()
        # By sender: which of them came first is chance.
        messages = sorted(self._messages, key=lambda message: message[0])
        return {"deadlock": False} | (self._failed or {"messages": messages})

    def _hear(self, rank, message):
        if message == {"ready": True}:
            self._running.discard(rank)
        elif self._failed:
            self._talk.say(rank, {"stop": True})
        elif message.keys() == {"send", "array"}:
            self._send(rank, self._other(rank, message["send"]), message["array"])
        elif message.keys() == {"receive"}:
            self._waits_for[rank] = self._other(rank, message["receive"])
        else:
            raise ValueError("no message of a worker")

    def _other(self, rank, other):
        if type(other) is not int or not 0 <= other < self._workers:
            raise ValueError("no such worker")
        if other == rank:
            self._failed = {"to_itself": rank}
        return other

    def _send(self, sender, receiver, message):
        array = unpacked(message)
        if len(self._messages) == MOST_MESSAGES:
            problem = f"more than {MOST_MESSAGES} messages were sent"
            self._talk.say(sender, {"error": problem})
            return
        kind = array.size, array.nbytes, array.dtype.name
        self._messages.append([sender, receiver, *kind])
        self._on_the_way.setdefault((sender, receiver), deque()).append(message)
        self._talk.say(sender, {"stop": True} if self._failed else {})

    def _look(self):
        """Give those who wait what has come; find out whether they wait for ever."""
        for rank, sender in list(self._waits_for.items()):
            if self._failed:
                self._go_on(rank, {"stop": True})
            elif waiting := self._on_the_way.get((sender, rank)):
                self._go_on(rank, {"array": waiting.popleft()})
        if self._running and self._running == self._waits_for.keys():
            self._failed = {"deadlock": True}
            self._look()

    def _go_on(self, rank, message):
        del self._waits_for[rank]
        self._talk.say(rank, message)
