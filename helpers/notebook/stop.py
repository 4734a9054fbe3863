"""The square's interrupt of a cell: between two batches, else where it does no harm.

A training with one of our callbacks is asked to stop at its next batch. What has no such
callback, or no next batch for a second, is interrupted wherever it is.
"""

import re
import signal
import sys
import sysconfig
from traceback import walk_stack
from types import FrameType
from typing import Any

# C++ code of TensorFlow calls into these files; not into those that call it. What they
# raise is then lost, or becomes another error, or spoils memory, which ends the kernel.
TENSORFLOW = re.compile(r"/tensorflow/python/(?!eager/execute\.py|ops/gen_)")
STANDARD_LIBRARY = (sysconfig.get_path("stdlib") + "/", "<frozen ")
# Python ignores what is raised where it cleans up, and where JAX is called when garbage is
# collected; Keras ignores what is raised in its logs.
DEAF_FILES = re.compile(r"/_?weakref(set)?\.py$")
DEAF_NAMES = "__del__", "_xla_gc_callback", "pythonify_logs"
FORCE_SECONDS = 1.0  # for the next batch to begin
WAIT_SECONDS = 0.01
TRIES = 500  # then it is tried wherever it is


def stop_only_the_cells_code(shell: Any) -> None:
    """Have the square stop what a cell says, and nothing that comes after it.

    It is clicked again while the first click's line is written, or the last picture drawn:
    that would end in our traceback, or with a cell that never ends. ipykernel takes the
    handler away once it has answered; a cell that awaits has another one. Where a stop
    would be lost, it waits.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    tries, asked = 0, False

    def interrupted(number, frame):
        nonlocal tries, asked
        ours = signal.getsignal(signal.SIGALRM) is interrupted
        in_cell = any(one.f_globals is shell.user_ns for one, _ in walk_stack(frame))
        clicked = number == signal.SIGINT
        # No training can run before this has been imported.
        batches = sys.modules.get("callbacks.stopping")
        if asked and batches:
            waits = batches.is_asked()
            if clicked and waits:
                return  # a second click changes nothing
            asked = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            batches.take_back()
            if not clicked and not waits:
                return  # a batch has begun, and training has stopped there
        elif clicked and in_cell and ours and batches and batches.ask_to_stop():
            asked = True
            signal.setitimer(signal.ITIMER_REAL, FORCE_SECONDS)
            return
        tries = 0 if clicked else tries + 1
        if not in_cell:
            return
        if ours and tries < TRIES and would_be_lost(frame):
            signal.setitimer(signal.ITIMER_REAL, WAIT_SECONDS)
        else:
            signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, interrupted)
    alarm = signal.getsignal(signal.SIGALRM)
    if alarm is signal.SIG_DFL or getattr(alarm, "__module__", "") == __name__:
        signal.setitimer(signal.ITIMER_REAL, 0)  # of a cell before
        signal.signal(signal.SIGALRM, interrupted)  # else it is the student's


def would_be_lost(frame: FrameType) -> bool:
    """Whether what is raised at this frame now would be lost, or do harm.

    Parameters
    ----------
    frame : frame
        Of Python code that a signal has interrupted.
    """
    paths = []
    for caller, _ in walk_stack(frame):
        paths.append(caller.f_code.co_filename)
        if caller.f_code.co_name in DEAF_NAMES or DEAF_FILES.search(paths[-1]):
            return True
    first = next((path for path in paths if not path.startswith(STANDARD_LIBRARY)), "")
    return bool(TENSORFLOW.search(first))
