"""Worker processes: of this machine, over pipes; or those of a Dask cluster, over TLS.

Here no port is opened, because a program that can connect to one could run code as the
grader. Run as a script, `python -m kit.parallel.workers DESCRIPTOR TASKS MODULE FUNCTION`,
this module is a worker.
"""

import contextlib
import functools
import importlib
import inspect
import math
import multiprocessing.connection
import os
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from types import FunctionType
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.parallel import exercise_pool

TRIES = 2  # of a task whose worker died: it may have been the task, or not
CONNECT_SECONDS = 30
# Of a worker: the tasks that it has, and the processes that it forks for all of them.
# Mostly they wait; so the waits of one task need not keep the next one waiting.
AT_ONCE = 3
LOOK_SECONDS = 1


class DiedError(Exception):
    """A worker died of its task, or was killed."""


Watch = Callable[[dict[tuple[int, int], float]], None]


class Worker(NamedTuple):
    """A process that waits for tasks, and the pipe to it."""

    process: subprocess.Popen
    pipe: Connection


def start(function: FunctionType, tasks_at_once: int) -> Worker:
    """Start a process that calls a function of a module with the tasks that it gets.

    It asks for a task with None, as long as it has fewer than `tasks_at_once`, and then
    reads: a number and a task, or None: then it ends after those that it has. (If it were
    sent tasks unasked, both sides could wait for the other one to read.) It sends the
    number and the result, and before that the number and what is `Running`. If the
    function is a generator function, it makes works of a `exercise_pool.Crew`.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "kit.parallel.workers", str(theirs.fileno()),
             str(tasks_at_once), function.__module__, function.__qualname__],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=REPOSITORY,
            # NumPy would start threads, and a worker forks.
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for the grader, which then ends it
        )  # fmt: skip
    return Worker(process, Connection(ours.detach()))


def end(worker: Worker) -> None:
    worker.process.kill()
    worker.process.wait()
    worker.pipe.close()


def on_this_machine(
    function: FunctionType,
    tasks: Sequence,
    workers: int,
    at_once: int = AT_ONCE,
    watch: Watch = lambda _: None,
) -> Iterator[tuple]:
    """Have processes of this machine do tasks.

    Parameters
    ----------
    function : callable
        Of a module; gets a task.
    tasks : sequence
        Plain data.
    workers : int
    at_once : int
        The tasks that a worker may have at a time.
    watch : callable
        Called about every second with what runs: by the task's index and the place among
        the functions of its work, since when, as `time.monotonic` gives it.

    Yields
    ------
    tuple
        The task's index and its result, or the exception: that of the function, or
        `DiedError` if its worker died `TRIES` times. The others continue.
    """
    waiting = deque((index, 1) for index in range(len(tasks)))
    started = {}  # by its pipe: a worker, and its tasks with how often each was tried
    running = {}
    try:
        while waiting or started:
            while waiting and len(started) < min(workers, _open(waiting, started)):
                worker = start(function, at_once)
                started[worker.pipe] = worker, {}
            ready = multiprocessing.connection.wait(list(started), LOOK_SECONDS)
            watch(running)
            for pipe in [pipe for pipe in started if pipe in ready]:
                worker, doing = started[pipe]
                try:
                    message = pipe.recv()
                    if message is None:
                        share = math.ceil(_open(waiting, started) / workers)
                        pipe.send(_next(waiting, doing, share, tasks))
                except (EOFError, OSError):
                    del started[pipe]
                    end(worker)
                    for index, attempt in doing.items():
                        _note(running, index, ())
                        if attempt < TRIES:
                            waiting.append((index, attempt + 1))
                        else:
                            yield index, DiedError("its worker was killed")
                else:
                    if message is None:
                        continue
                    index, result = message
                    is_running = isinstance(result, exercise_pool.Running)
                    _note(running, index, result.places if is_running else ())
                    if not is_running:
                        del doing[index]
                        yield message
    finally:
        for worker, _ in started.values():
            end(worker)


def _note(running, index, places):
    """Remember which functions of a task run, and since when."""
    for key in [key for key in running if key[0] == index and key[1] not in places]:
        del running[key]
    for place in places:
        running.setdefault((index, place), time.monotonic())


def _open(waiting, started):
    """How many tasks have no result."""
    return len(waiting) + sum(len(doing) for _, doing in started.values())


def _next(waiting, doing, share, tasks):
    """The number of a worker's next task, and the task, or None.

    A task whose worker died is tried again alone, so that it takes no others with it.
    """
    first = waiting and waiting[0][1] == 1 and all(tried == 1 for tried in doing.values())
    if waiting and (not doing or (first and len(doing) < share)):
        index, attempt = waiting.popleft()
        doing[index] = attempt
        return index, tasks[index]
    return None


def on_a_cluster(function: FunctionType, tasks: Sequence, address: str) -> Iterator[tuple]:
    """As `on_this_machine`, by the workers of a Dask cluster.

    Parameters
    ----------
    function, tasks
    address : str
        Of its scheduler: ``"tls://..."``. Dask's configuration names the certificates.

    Raises
    ------
    LabError
        If the cluster has no TLS or does not answer.
    """
    from distributed import Client, as_completed

    security = tls(address)
    try:
        with Client(address, security=security, timeout=CONNECT_SECONDS) as client:
            ask = functools.partial(_forward, function)
            futures = {
                client.submit(ask, task, pure=False, retries=1): index
                for index, task in enumerate(tasks)
            }
            for future in as_completed(futures):
                try:
                    result = future.result()
                except Exception as error:
                    result = error
                yield futures[future], result
                future.release()
    except (OSError, TimeoutError) as error:
        raise LabError(
            f"no Dask scheduler answers at {address} ({error}): is it running, and is the "
            "address right?"
        ) from error


def tls(address: str) -> object:
    """The certificates for a Dask scheduler, from Dask's configuration.

    Raises
    ------
    LabError
        If there are none or the address is not of a scheduler with TLS.
    """
    from distributed import Security

    security = Security(require_encryption=True)
    files = (security.tls_ca_file, security.tls_client_cert, security.tls_client_key)
    if not address.startswith("tls://") or not all(files):
        raise LabError(
            f"{address} is a scheduler without TLS, or you have named no certificates. "
            "Anyone who can reach it could run code as you: start it with certificates, "
            "and name them in Dask's configuration; "
            "docs/teaching/grade-elsewhere.md says how."
        )
    return security


_FORWARDING = threading.Lock()


def _forward(function, task):
    """In a Dask worker, which has many threads: hand the task to a process that has one."""
    with _FORWARDING:
        worker = _own_worker(function)
        try:
            worker.pipe.recv()  # it asks for a task
            worker.pipe.send((0, task))
            while isinstance(result := worker.pipe.recv()[1], exercise_pool.Running):
                pass
            return result
        except (EOFError, OSError) as error:
            _own_worker.cache_clear()
            end(worker)
            raise DiedError("its worker was killed") from error


@functools.cache
def _own_worker(function):
    return start(function, 1)


def main(descriptor: int, tasks_at_once: int, module: str, name: str) -> None:
    """Do what the pipe says until it closes."""
    exercise_pool.end_with_parent()
    function = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    pipe, doing, asks = Connection(descriptor), {}, True  # tasks, and what runs of them
    with contextlib.suppress(EOFError), exercise_pool.Crew(AT_ONCE) as crew:
        while asks or doing:
            while asks and len(doing) < tasks_at_once:
                pipe.send(None)
                given = pipe.recv()
                asks = given is not None
                if asks:
                    doing[given[0]] = exercise_pool.Running(())
                    crew.take(given[0], _work(function, given[1]))
            crew.start()
            for number, before in doing.items():
                if (now := crew.running(number)) != before:
                    doing[number] = now
                    pipe.send((number, now))
            closed, ended = crew.wait(pipe) if doing else (False, [])
            if closed:
                return
            for number, result in ended:
                if isinstance(result, Exception):
                    result = RuntimeError(f"{type(result).__name__}: {str(result)[:300]}")
                del doing[number]
                pipe.send((number, result))


def _work(function, task):
    result = function(task)
    return (yield from result) if inspect.isgenerator(result) else result


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
