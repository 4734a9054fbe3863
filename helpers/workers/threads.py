"""Let threads take the part of workers that send each other arrays: exact, and quick.

A thread that waits for what can never come is told so: no clock decides about it.
"""

import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

# Of all workers together, on a busy machine: the right answer takes milliseconds.
LIMIT_SECONDS = 20


class DeadlockError(RuntimeError):
    """All workers wait for each other."""


class NeverEndsError(RuntimeError):
    """A worker runs and runs."""


class SelfSendError(ValueError):
    """A worker sends to itself, or waits for itself."""

    def __init__(self, worker: int) -> None:
        super().__init__(f"worker {worker} cannot send to itself")
        self.worker = worker


class Message(NamedTuple):
    """A message from one worker to another."""

    sender: int
    receiver: int
    array: np.ndarray


class Talk:
    """Channels between threads: each array sent waits until its receiver asks for it.

    Parameters
    ----------
    workers : int
    most : int
        Messages in all; one more raises.

    Attributes
    ----------
    messages : list of Message
        All that were sent, in this order.
    """

    def __init__(self, workers: int, most: int) -> None:
        self.messages, self._most = [], most
        self._boxes = {(a, b): deque() for a in range(workers) for b in range(workers)}
        self._running, self._waits_for = set(range(workers)), {}
        self._changed, self._stuck = threading.Condition(), False

    def send(self, sender: int, receiver: int, array: np.ndarray) -> None:
        """Send a copy of an array; never waits."""
        message = Message(sender, receiver, np.array(array))
        with self._changed:
            box = self._box(sender, receiver)
            self.messages.append(message)
            if len(self.messages) > self._most:
                raise RuntimeError(f"more than {self._most} messages were sent")
            box.append(message.array)
            self._changed.notify_all()

    def receive(self, receiver: int, sender: int) -> np.ndarray:
        """The next array that `sender` has sent to `receiver`; waits for it."""
        with self._changed:
            box = self._box(sender, receiver)
            self._waits_for[receiver] = sender
            self._look()
            while not box:
                if self._stuck:
                    raise DeadlockError("all workers wait for each other")
                self._changed.wait()
            del self._waits_for[receiver]
            return box.popleft()

    def ended(self, worker: int) -> None:
        """Note that a worker sends no more."""
        with self._changed:
            self._running.discard(worker)
            self._look()

    def stop(self) -> None:
        """Let nobody wait any longer."""
        with self._changed:
            self._stuck = True
            self._changed.notify_all()

    def _box(self, sender, receiver):
        if sender == receiver:
            raise SelfSendError(sender)
        if (sender, receiver) not in self._boxes:
            raise ValueError(f"there is no message from worker {sender} to {receiver}")
        return self._boxes[sender, receiver]

    def _look(self):
        """Note a deadlock: each worker that still runs waits for one that sends nothing."""
        waiting = self._running & self._waits_for.keys()
        hopeless = all(not self._boxes[self._waits_for[w], w] for w in waiting)
        if waiting == self._running and hopeless:
            self._stuck = True
            self._changed.notify_all()


def run_in_threads(
    functions: list[Callable], arrays: list[np.ndarray], most: int = 10_000
) -> tuple[list, list[Message]]:
    """Let workers run ``function(array, rank, workers, send, receive)``, each in a thread.

    Parameters
    ----------
    functions : list of callable
        One for each worker, as exercise 9.1 asks for it.
    arrays : list of array
        One for each worker.
    most : int
        Messages that are allowed.

    Returns
    -------
    results : list
        What each worker returned.
    messages : list of Message

    Raises
    ------
    Exception
        Whatever a worker raised; `DeadlockError` only if there is nothing else;
        `NeverEndsError` if a worker is still running after `LIMIT_SECONDS`.
    """
    workers = len(arrays)
    talk, results, errors = Talk(workers, most), [None] * workers, []

    def work(rank):
        try:
            results[rank] = functions[rank](
                arrays[rank], rank, workers,
                lambda to, array: talk.send(rank, to, array),
                lambda sender: talk.receive(rank, sender),
            )  # fmt: skip
        except BaseException as error:
            errors.append(error)
        finally:
            talk.ended(rank)

    # Daemons: a worker that never ends must not keep the program from ending.
    threads = [
        threading.Thread(target=work, args=(r,), daemon=True) for r in range(workers)
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + LIMIT_SECONDS
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        _end(talk, threads)
        raise NeverEndsError(
            f"after {LIMIT_SECONDS} s a worker still ran: which loop does not end?"
        )
    if errors:
        raise min(errors, key=lambda error: isinstance(error, DeadlockError))
    return results, talk.messages


def _end(talk, threads):
    """End threads that would take the kernel's time for ever."""
    talk.stop()
    for thread in threads:
        if thread.is_alive():
            # Python has no other way to reach into a loop of another thread.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(NeverEndsError)
            )
