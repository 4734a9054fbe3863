"""The calibration load in a process of its own, timed from outside of it.

Run as a script, `python -m kit.leaderboard.calibrator STEPS`, it takes the steps of the
load each time that it reads a byte, and answers with one.
"""

import ctypes
import functools
import os
import select
import signal
import subprocess
import sys
import time
from types import TracebackType

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.speed_record import rule
from kit.leaderboard.box_run import pinned

PR_SET_PDEATHSIG = 1
MOST_SECONDS = 1200  # of a load, on a machine that does much else


class Calibrator:
    """Measures the machine's speed on demand; use it as a context.

    Parameters
    ----------
    steps : int, optional
        Of the load; fewer in a test.
    """

    def __init__(self, steps: int | None = None) -> None:
        self._steps = steps or rule.CALIBRATION_STEPS

    @functools.cached_property
    def _process(self):
        """Starts when it is needed: what has been judged before needs no load."""
        process = subprocess.Popen(
            [sys.executable, "-m", "kit.leaderboard.calibrator", str(self._steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=REPOSITORY,
            env=os.environ | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
            start_new_session=True,  # Ctrl-C is for the judge, which then ends it
        )
        os.sched_setaffinity(process.pid, pinned())
        self.__dict__["_process"] = process  # for __exit__, whatever happens next
        self._read(process)  # it has taken the steps that do not count
        return process

    def __enter__(self) -> "Calibrator":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if process := self.__dict__.get("_process"):
            process.kill()
            process.communicate()

    def seconds(self) -> float:
        """The seconds of the load, now."""
        process = self._process
        began = time.perf_counter()
        process.stdin.write(b"?")
        process.stdin.flush()
        self._read(process)
        return time.perf_counter() - began

    def _read(self, process):
        answer = process.stdout.fileno()
        ready, _, _ = select.select([answer], [], [], MOST_SECONDS)
        if not ready or not os.read(answer, 1):
            raise LabError(
                "the calibration load has ended, perhaps because memory ran out: give the "
                "same command again, which resumes."
            )


def main(steps: int) -> None:
    """Answer until the judge hangs up."""
    # Else it would take the rest of its steps after a judge that was killed.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    from helpers.speed_record.calibration import calibration_load

    answer = os.dup(1)
    os.dup2(2, 1)
    load = calibration_load()
    os.write(answer, b"r")
    while sys.stdin.buffer.read(1):
        load(steps)
        os.write(answer, b"r")


if __name__ == "__main__":
    main(int(sys.argv[1]))
