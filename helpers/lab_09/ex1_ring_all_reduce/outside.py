"""Exercise 9.1 outside of the boxes: the network between workers, which sees everything."""

from collections import deque
from typing import Any

import numpy as np

from helpers.lab_09.ex1_ring_all_reduce.array_message import packed, unpacked

BOXES = 5  # the most workers of a question
MOST_MESSAGES = 1000  # of all workers in one case


class _CannotTravelError(Exception):
    """The answer cannot be copied to another process; holds why."""


def ask(question: dict, talk: Any) -> dict:
    """Let each box be the worker of one rank, in all cases that have so many workers.

    Parameters
    ----------
    question : dict
    talk : kit.grading.box.several.Talk

    Returns
    -------
    dict
        As the probe's, but who sent what to whom was seen here.
    """
    workers = max(len(arrays) for arrays in question["cases"])
    for rank in range(workers):
        talk.begin(rank, {"rank": rank})
    try:
        _wait_for(range(workers), talk, "wait")
        seen = [_Network(arrays, talk).run() for arrays in question["cases"]]
        for rank in range(workers):
            talk.say(rank, {"over": True})
        said = _wait_for(range(workers), talk, "observation")
    except _CannotTravelError as error:
        return {"cannot_travel": error.args[0]}
    reports = [iter(said[rank]["cases"]) for rank in range(workers)]
    for case, arrays in zip(seen, question["cases"], strict=True):
        own = [next(report) for report in reports[: len(arrays)]]
        if not case["deadlock"] and "to_itself" not in case:
            case["results"] = [one["result"] for one in own]
            case["dtypes"] = [str(one["dtype"]) for one in own]
            case["new"] = all(one["new"] is True for one in own)
    changed = "`array`" if any(said[rank]["changed"] for rank in range(workers)) else ""
    stay = all(said[rank]["results_stay"] is True for rank in range(workers))
    return {"cases": seen, "changed": changed, "results_stay": stay}


def _wait_for(ranks, talk, kind):
    """One message from each: that it is ready, or its observation."""
    said = {}
    while len(said) < len(ranks):
        rank, message = talk.listen()
        if kind not in message and (why := message["observation"].get("cannot_travel")):
            raise _CannotTravelError(str(why))
        if rank in said or (kind == "wait" and message[kind] != {"ready": True}):
            raise ValueError("no such message is due")
        said[rank] = message[kind]
    return said


class _Network:
    """What is between the workers of one case."""

    def __init__(self, arrays, talk):
        self._arrays, self._talk, self._workers = arrays, talk, len(arrays)
        self._running, self._waits_for = set(range(self._workers)), {}
        self._on_the_way = {}  # by sender and receiver
        self._messages, self._failed = [], {}

    def run(self):
        """Relay until no worker runs; returns what was seen."""
        for rank, array in enumerate(self._arrays):
            array = packed(np.array(array, "float32"))
            self._talk.say(rank, {"workers": self._workers, "array": array})
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
