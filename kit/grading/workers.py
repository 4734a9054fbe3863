"""Worker processes: of this machine, over pipes; or those of a Dask cluster, over TLS.

Here no port is opened: whoever can connect to one may run code as the grader. Run as a
script, `python -m kit.grading.workers DESCRIPTOR MODULE FUNCTION`, it is a worker.
"""

import contextlib
import ctypes
import functools
import importlib
import multiprocessing.connection
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from multiprocessing.connection import Connection
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import REPOSITORY

PR_SET_PDEATHSIG = 1
TRIES = 2  # of a task whose worker died: it may have been the task, or not
CONNECT_SECONDS = 30


class DiedError(Exception):
    """A worker died of its task, or was killed."""


class Worker(NamedTuple):
    """A process that waits for tasks, and the pipe to it."""

    process: subprocess.Popen
    pipe: Connection


def start(function):
    """Start a process that calls a function of a module with whatever it is sent."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "kit.grading.workers", str(theirs.fileno()),
             function.__module__, function.__qualname__],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=REPOSITORY,
            # NumPy would start threads, and a worker forks.
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for the grader, which then ends it
        )  # fmt: skip
    return Worker(process, Connection(ours.detach()))


def end(worker):
    worker.process.kill()
    worker.process.wait()
    worker.pipe.close()


def on_this_machine(function, tasks, workers):
    """Have processes of this machine do tasks.

    Parameters
    ----------
    function : callable
        Of a module; gets a task.
    tasks : sequence
        Plain data.
    workers : int

    Yields
    ------
    tuple
        The task's index and its result, or the exception: that of the function, or
        `DiedError` if its worker died `TRIES` times. The others go on.
    """
    waiting = deque((index, 1) for index in range(len(tasks)))
    idle, busy = [], {}
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                worker = idle.pop() if idle else start(function)
                index, attempt = waiting.popleft()
                busy[worker.pipe] = worker, index, attempt
                with contextlib.suppress(OSError):  # it is dead: seen below
                    worker.pipe.send(tasks[index])
            for pipe in multiprocessing.connection.wait(list(busy)):
                worker, index, attempt = busy.pop(pipe)
                try:
                    result = pipe.recv()
                except (EOFError, OSError):
                    end(worker)
                    if attempt < TRIES:
                        waiting.append((index, attempt + 1))
                    else:
                        yield index, DiedError("its worker was killed")
                else:
                    idle.append(worker)
                    yield index, result
    finally:
        for worker in [*idle, *(taken[0] for taken in busy.values())]:
            end(worker)


def on_a_cluster(function, tasks, address):
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
        raise LabError(f"no Dask scheduler answers at {address} ({error}).") from error


def tls(address):
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
            "whoever reaches a Dask scheduler without TLS can run code as you. Start yours "
            "with certificates, and name them in Dask's configuration: docs/instructor.md."
        )
    return security


_FORWARDING = threading.Lock()


def _forward(function, task):
    """In a Dask worker, which has many threads: hand the task to a process that has one."""
    with _FORWARDING:
        worker = _own_worker(function)
        try:
            worker.pipe.send(task)
            return worker.pipe.recv()
        except (EOFError, OSError) as error:
            _own_worker.cache_clear()
            end(worker)
            raise DiedError("its worker was killed") from error


@functools.cache
def _own_worker(function):
    return start(function)


def main(descriptor, module, name):
    """Do what the pipe says until it closes."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    function = functools.reduce(getattr, name.split("."), importlib.import_module(module))
    pipe = Connection(descriptor)
    with contextlib.suppress(EOFError):
        while True:
            task = pipe.recv()
            try:
                result = function(task)
            except Exception as error:
                result = RuntimeError(f"{type(error).__name__}: {str(error)[:300]}")
            pipe.send(result)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
