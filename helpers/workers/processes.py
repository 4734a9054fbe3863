"""Run a ring all-reduce in real processes on this machine."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.machine import cluster
from helpers.plain_json import write_json
from helpers.workers import own_functions

LIMIT_SECONDS = 300


def run_ring(
    function: Callable, folder: Path, workers: int, rounds: list[dict]
) -> list[dict[str, list]]:
    """Start workers that all-reduce with a function, and wait for them.

    Parameters
    ----------
    function : callable
        As exercise 9.1 asks for it.
    folder : Path
        For the workers' files.
    workers : int
    rounds : list of dict
        Each with `values`, how long the array is (float32), and `waits`, a list of steps
        with, for each worker, the seconds that it sleeps before it adds up.

    Returns
    -------
    list of dict
        For each round: `seconds` of each step, those of the worker that took longest, and
        `bytes_sent`, of each worker in a step.

    Raises
    ------
    LabError
        If a worker fails, or has another sum than the one that is right.
    """
    shutil.rmtree(folder, ignore_errors=True)
    own_functions.write(folder, ring_all_reduce=function)
    write_json(folder / "rounds.json", rounds)
    command = [sys.executable, "-m", "helpers.workers.ring", str(folder)]
    environment = {"PYTHONPATH": str(REPOSITORY)}
    with cluster.start(command, workers, folder, environment) as job:
        job.wait(LIMIT_SECONDS)
    told = [json.loads((folder / f"ring-{r}.json").read_text()) for r in range(workers)]
    return [_together(one, workers) for one in zip(*told, strict=True)]


def _together(told, workers):
    right = float(sum(range(1, workers + 1)))
    for rank, one in enumerate(told):
        lowest, highest = one["lowest_and_highest"]
        if (lowest, highest) != (right, right):
            raise LabError(
                f"worker {rank} of {workers} has values from {lowest:g} to {highest:g}, "
                f"but all of them should be {right:g}: has your ring passed its check?"
            )
    steps = zip(*(one["seconds"] for one in told), strict=True)
    return {
        "seconds": [max(step) for step in steps],
        "bytes_sent": [one["bytes_sent"] for one in told],
    }
