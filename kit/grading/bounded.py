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

PR_SET_PDEATHSIG = 1
FORK = multiprocessing.get_context("fork")


class FailedError(Exception):
    """A function raised, or its process ended otherwise than at its limit."""


def run_all(functions, cpu_seconds, at_once):
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
    waiting, running = list(enumerate(functions))[::-1], {}
    results = [None] * len(functions)
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                index, function = waiting.pop()
                pipe, process = _start(function, cpu_seconds)
                running[pipe] = index, process
            for pipe in multiprocessing.connection.wait(list(running)):
                index, process = running[pipe]
                with contextlib.suppress(EOFError, ConnectionResetError):
                    results[index] = pipe.recv()
                process.join()
                del running[pipe]
                pipe.close()
                if process.exitcode not in (0, -signal.SIGXCPU):
                    raise FailedError(results[index] or f"ended with {process.exitcode}")
    finally:
        for pipe, (_, process) in running.items():
            process.kill()
            process.join()
            pipe.close()
    return results


def _start(function, cpu_seconds):
    taken, given = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_limited, args=(function, cpu_seconds, given))
    process.start()
    given.close()
    return taken, process


def _limited(function, cpu_seconds, pipe):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    try:
        pipe.send(function())
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        raise SystemExit(1) from None
