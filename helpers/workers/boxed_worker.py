"""A worker in a grader's box: the grader is the network to which it sends."""

from collections.abc import Callable, Generator

import numpy as np

from helpers.workers.array_message import packed, unpacked


class Stopped(BaseException):
    """The grader has seen enough: what no worker can catch with `except Exception`."""


def cases_of(wait: Callable) -> Generator[dict]:
    """The grader's requests to this worker, one case after the other, until it is over."""
    while "workers" in (case := wait({"ready": True})):
        yield case


def channels(rank: int, workers: int, wait: Callable) -> tuple[Callable, Callable]:
    """The functions `send` and `receive` of a worker in a box.

    Parameters
    ----------
    rank, workers : int
    wait : callable
        Sends a message to the grader and returns its reply.

    Returns
    -------
    send, receive : callable
        They raise `Stopped` once the grader has seen enough.
    """

    def ask(message):
        reply = wait(message)
        if "stop" in reply:
            raise Stopped
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply

    def number(other, way):
        for one in range(workers):
            if one == other:
                return one
        sender, receiver = (rank, other) if way == "to" else (other, rank)
        raise ValueError(f"there is no message from worker {sender} to {receiver}")

    def send(to, array):
        ask({"send": number(to, "to"), "array": packed(np.array(array))})

    def receive(sender):
        return unpacked(ask({"receive": number(sender, "from")})["array"])

    return send, receive
