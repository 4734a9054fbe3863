"""End a run that hangs, with a line that says why and what to do.

A collective operation between replicas waits for all of them. If one never arrives,
it waits forever, deep inside TensorFlow, where no Python exception reaches it.
"""

import contextlib
import os
import sys
import threading
import time

SECONDS = 120
EXIT_STATUS = 70
# Replicas that wait for each other sleep. Progress uses the processor: steps do, and
# so does tracing a large network, which can take minutes.
IDLE_CPU_PART = 0.05


@contextlib.contextmanager
def no_hang(what, seconds=SECONDS):
    """End the process if the body uses almost no processor time for too long.

    Parameters
    ----------
    what : str
        What is running, for the message.
    seconds : float
        How long is too long.

    Notes
    -----
    A context manager, not a callback or a generator: those do not notice that training
    was interrupted, and would end the kernel of a student who reads the error.
    """
    over = threading.Event()
    # Later prints may go to a log file: the message must not.
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
        "another that never arrives, usually because devices were changed after the start "
        "or another notebook uses them. Restart the kernel, run all cells from the "
        "first, one notebook at a time; fewer replicas help too.",
        file=stdout,
        flush=True,
    )
    time.sleep(1)  # a notebook sends printed text from a separate thread
    os._exit(EXIT_STATUS)
