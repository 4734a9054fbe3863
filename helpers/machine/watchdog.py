"""End a run that hangs, with a line that says why and what to do.

A collective operation between replicas waits for all of them. If one never comes,
it waits without end, deep inside TensorFlow, where no Python exception reaches it.
"""

import contextlib
import os
import sys
import threading
import time

SECONDS = 120
EXIT_STATUS = 70
# Replicas that wait for each other sleep. Whatever makes progress computes: steps,
# and also the tracing of a large network, which can take minutes.
IDLE_CPU_PART = 0.05


@contextlib.contextmanager
def no_hang(what, seconds=SECONDS):
    """End the process if the body uses hardly any processor time for too long.

    Parameters
    ----------
    what : str
        What is running, for the message.
    seconds : float
        How long is too long.

    Notes
    -----
    A context, not a callback or a generator: those are not told when training is
    interrupted, and would end the kernel of a student who reads the error.
    """
    over = threading.Event()
    # What is printed later may go to a log file: the message must not.
    stdout = sys.stdout

    def watch():
        worked, cpu = time.monotonic(), time.process_time()
        while not over.wait(seconds / 10):
            now, used = time.monotonic(), time.process_time() - cpu
            cpu += used
            if used > IDLE_CPU_PART * seconds / 10:
                worked = now
            elif now - worked > seconds:
                _end(what, now - worked, stdout)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _end(what, waited, stdout):
    print(
        f"\nStopped: {what} made no progress for {waited:.0f} s. A replica waits for "
        "another that never comes, mostly because devices were changed after the start "
        "or another notebook holds them. Restart the kernel, run all cells from the "
        "first, one notebook at a time; fewer replicas help too.",
        file=stdout,
        flush=True,
    )
    time.sleep(1)  # a notebook sends what was printed from a thread of its own
    os._exit(EXIT_STATUS)
