"""Let workers do something in real processes on this machine, such as a ring all-reduce."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.machine import cluster
from helpers.plain_json import write_json
from helpers.workers import own_functions

LIMIT_SECONDS = 300


def ask(
    module: str,
    folder: Path,
    workers: int,
    asked: Any,
    functions: dict[str, Callable] | None = None,
    environment: dict[str, str] | None = None,
) -> list:
    """Start a module as several workers, and wait for what each of them says.

    Parameters
    ----------
    module : str
        Reads its task and replies as `own_task` does.
    folder : Path
        For the workers' files: whatever is in it is deleted.
    workers : int
    asked : object
        For all workers: plain JSON.
    functions : dict of callable, optional
        A notebook's functions, by the names that they have there.
    environment : dict of str, optional
        More variables for the workers.

    Returns
    -------
    list
        The workers' replies by rank.

    Raises
    ------
    LabError
        If a worker fails or takes longer than the limit.
    """
    shutil.rmtree(folder, ignore_errors=True)
    own_functions.write(folder, **(functions or {}))
    write_json(folder / "asked.json", asked)
    command = [sys.executable, "-m", module, str(folder)]
    own = {"PYTHONPATH": str(REPOSITORY)} | (environment or {})
    with cluster.start(command, workers, folder, own) as job:
        job.wait(LIMIT_SECONDS)
    texts = [(folder / f"said-{rank}.json").read_text("utf-8") for rank in range(workers)]
    return list(map(json.loads, texts))


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
    functions = {"ring_all_reduce": function}
    told = ask("helpers.workers.ring", folder, workers, rounds, functions)
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
