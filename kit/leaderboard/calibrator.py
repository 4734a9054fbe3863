"""The calibration load in a process of its own, timed from outside of it.

Run as a script, `python -m kit.leaderboard.calibrator STEPS`, it takes the steps of the
load each time that it reads a byte, and answers with one.
"""

import os
import select
import subprocess
import sys
import time
from types import TracebackType

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.speed_record import rule
from kit.leaderboard.box_run import pinned

START_SECONDS = 300


class Calibrator:
    """Measures the machine's speed on demand; use it as a context.

    Parameters
    ----------
    steps : int, optional
        Of the load; fewer in a test.
    """

    def __init__(self, steps: int | None = None) -> None:
        steps = steps or rule.CALIBRATION_STEPS
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kit.leaderboard.calibrator", str(steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=REPOSITORY,
            env=os.environ | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
            start_new_session=True,  # Ctrl-C is for the judge, which then ends it
        )
        os.sched_setaffinity(self._process.pid, pinned())

    def __enter__(self) -> "Calibrator":
        self._read()  # it has taken the steps that do not count
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def seconds(self) -> float:
        """The seconds of the load, now."""
        assert self._process.stdin
        began = time.perf_counter()
        self._process.stdin.write(b"?")
        self._process.stdin.flush()
        self._read()
        return time.perf_counter() - began

    def _read(self):
        assert self._process.stdout
        answer = self._process.stdout.fileno()
        ready, _, _ = select.select([answer], [], [], START_SECONDS)
        if not ready or not os.read(answer, 1):
            raise LabError(
                "the calibration load has ended, perhaps because memory ran out: give the "
                "same command again, which resumes."
            )


def main(steps: int) -> None:
    """Answer until the judge hangs up."""
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
