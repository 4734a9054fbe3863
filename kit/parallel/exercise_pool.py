"""Run functions in processes of their own, each with a limit of CPU time.

A judge reads what a submission said. If that keeps a judge busy for ever, the kernel
ends its process, and nothing else.
"""

import contextlib
import ctypes
import multiprocessing
import multiprocessing.connection
import resource
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Hashable, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple

PR_SET_PDEATHSIG = 1
FORK = multiprocessing.get_context("fork")


class FailedError(Exception):
    """A function raised, or its process ended otherwise than at its limit."""


class Running(NamedTuple):
    """The functions of a work that run at the moment, by their places in it."""

    places: tuple[int, ...]


class Crew(contextlib.AbstractContextManager):
    """Does several works at a time; use it where there is one thread only.

    A work is a generator. It yields functions without arguments and the limit of each,
    in seconds of CPU time; it is sent the list of what they returned, with None for one
    that was ended at its limit. If one fails in another way, the others of the work are
    ended, and `FailedError` is raised in it.

    Parameters
    ----------
    at_once : int
        How many functions of all works may run at the same time.
    """

    def __init__(self, at_once):
        self._at_once = at_once
        self._works, self._waiting, self._running = {}, deque(), {}
        self._ended = []

    def __exit__(self, *_):
        for name in list(self._works):
            self._drop(name)

    def take(self, name: Hashable, work: Generator) -> None:
        """Begin a work; its name comes back with its result."""
        self._continue(name, work, work.send, None)

    def start(self) -> None:
        """Start as many functions as may run now; `wait` does it, too."""
        while self._waiting and len(self._running) < self._at_once:
            name, index, function, cpu_seconds = self._waiting.popleft()
            pipe, process = _start(function, cpu_seconds)
            self._running[pipe] = name, index, process

    def running(self, name: Hashable) -> Running:
        """Which functions of a work run at the moment."""
        found = (place for who, place, _ in self._running.values() if who == name)
        return Running(tuple(sorted(found)))

    def wait(self, *others: Connection) -> tuple[list[Connection], list[tuple]]:
        """Wait until a process, or one of some other connections, has something to say.

        Returns
        -------
        tuple of list
            The other connections that can be read; and the works that have ended, each
            as its name and what it returned, or the exception that it raised.
        """
        self.start()
        ready = multiprocessing.connection.wait(
            [*others, *self._running], timeout=0 if self._ended else None
        )
        for pipe in ready:
            if pipe in self._running:  # not ended with another one of its work
                self._collect(pipe)
        ended, self._ended = self._ended, []
        return [one for one in others if one in ready], ended

    def _collect(self, pipe):
        name, index, process = self._running.pop(pipe)
        work, results, left = self._works[name]
        with contextlib.suppress(EOFError, ConnectionResetError):
            results[index] = pipe.recv()
        process.join()
        pipe.close()
        left.discard(index)
        if process.exitcode not in (0, -signal.SIGXCPU):
            problem = results[index] or f"ended with {process.exitcode}"
            self._drop(name)
            self._continue(name, work, work.throw, FailedError(problem))
        elif not left:
            self._continue(name, work, work.send, results)

    def _continue(self, name, work, step, given):
        self._works.pop(name, None)
        try:
            functions, cpu_seconds = step(given)
        except StopIteration as returned:
            self._ended.append((name, returned.value))
        except Exception as error:
            self._ended.append((name, error))
        else:
            self._works[name] = work, [None] * len(functions), set(range(len(functions)))
            self._waiting.extend((name, *one, cpu_seconds) for one in enumerate(functions))
            if not functions:
                self._continue(name, work, work.send, [])

    def _drop(self, name):
        self._waiting = deque(one for one in self._waiting if one[0] != name)
        for pipe in [pipe for pipe, one in self._running.items() if one[0] == name]:
            _, _, process = self._running.pop(pipe)
            process.kill()
            process.join()
            pipe.close()


def run_all(
    functions: Sequence[Callable[[], object]], cpu_seconds: int, at_once: int
) -> list:
    """Run functions side by side; call it where there is one thread only.

    Parameters
    ----------
    functions : sequence of callable
        Without arguments.
    cpu_seconds : int
        The limit of each.
    at_once : int
        How many may run at the same time.

    Returns
    -------
    list
        What they returned; None for one that was ended at its limit.

    Raises
    ------
    FailedError
        If one failed in another way. The others are ended then.
    """

    def work():
        return (yield functions, cpu_seconds)

    with Crew(at_once) as crew:
        crew.take("all", work())
        ended = []
        while not ended:
            _, ended = crew.wait()
    [(_, result)] = ended
    if isinstance(result, Exception):
        raise result
    return result


def run_each(
    functions: Sequence[Callable[[], object]], cpu_seconds: int, at_once: int
) -> list:
    """As `run_all`, but a function that fails costs its own result only.

    Returns
    -------
    list
        What they returned; None for one that was ended at its limit, and a `FailedError`
        for one that failed in another way.
    """

    def work(function):
        [result] = yield [function], cpu_seconds
        return result

    ended = {}
    with Crew(at_once) as crew:
        for place, function in enumerate(functions):
            crew.take(place, work(function))
        while len(ended) < len(functions):
            ended |= crew.wait()[1]
    return [ended[place] for place in range(len(functions))]


def _start(function, cpu_seconds):
    taken, given = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_limited, args=(function, cpu_seconds, given))
    process.start()
    given.close()
    return taken, process


def end_with_parent() -> None:
    """Let the kernel end this process when its parent dies, where it can: on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _limited(function, cpu_seconds, pipe):
    end_with_parent()
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    try:
        pipe.send(function())
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        raise SystemExit(1) from None
