"""End a run that hangs, with a line that says why and what to do.

A collective operation between replicas waits for all of them. If one never arrives,
it waits forever, deep inside TensorFlow, where no Python exception reaches it.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Generator

SECONDS = 120
EXIT_STATUS = 70
# Replicas that wait for each other sleep. Progress uses the processor: steps do, and
# so does tracing a large network, which can take minutes. On a machine with much other
# work it may get little of a core, so the limit is low.
IDLE_CPU_PART = 0.005


@contextlib.contextmanager
def no_hang(what: str, seconds: float = SECONDS) -> Generator[None]:
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
        looked, cpu = time.monotonic(), time.process_time()
        idle, used_while_idle = 0.0, 0.0
        while not over.wait(seconds / 10):
            passed, used = time.monotonic() - looked, time.process_time() - cpu
            looked, cpu = looked + passed, cpu + used
            # Longer than asked for: the process itself was paused, and nobody waited.
            paused = passed > seconds / 5
            if paused or used > IDLE_CPU_PART * passed:
                idle, used_while_idle = 0.0, 0.0
                continue
            idle, used_while_idle = idle + passed, used_while_idle + used
            if idle > seconds:
                _end(what, idle, used_while_idle, stdout)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _end(what, waited, used, stdout):
    print(
        f"\nStopped: {what} made no progress for {waited:.0f} s, in which it used the "
        f"processor for {used:.2f} s. A replica is waiting for "
        "another one that never answers, usually because devices were changed after the "
        "start or because another notebook uses them. Restart the kernel and run all cells "
        "from the first one, with one notebook at a time. Fewer replicas help, too.",
        file=stdout,
        flush=True,
    )
    time.sleep(1)  # a notebook sends printed text from a separate thread
    os._exit(EXIT_STATUS)
