"""Write the lab's script out into a folder, start it as workers, read what they leave."""

import json
import math
import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from helpers.files import REPOSITORY, write_atomically
from helpers.machine import cluster
from helpers.plain_json import write_json
from helpers.workers import own_functions

SCRIPT = Path(__file__).with_name("worker.py")
# A start of TensorFlow on a machine with much other work, and the training.
LIMIT_SECONDS = 300


def write_script(folder: Path, settings: dict, worker_shard: Callable) -> None:
    """Write `worker.py`, `settings.json` and `own_functions.pickle`.

    Parameters
    ----------
    folder : Path
        Emptied first of what an earlier training left.
    settings : dict
        As `helpers.lab_09.workers.worker.train` takes them; plain JSON.
    worker_shard : function
        The reader's, of exercise 9.2.
    """
    shutil.rmtree(folder, ignore_errors=True)
    write_atomically(folder / "worker.py", SCRIPT.read_bytes())
    write_json(folder / "settings.json", settings)
    own_functions.write(folder, worker_shard=worker_shard)


def start_workers(folder: Path, workers: int) -> AbstractContextManager[cluster.Job]:
    """Start the script as workers on this machine: `helpers.machine.cluster.start`."""
    command = [sys.executable, str(folder / "worker.py")]
    environment = cluster.ON_THE_CPU | {"PYTHONPATH": str(REPOSITORY)}
    return cluster.start(command, workers=workers, log_dir=folder, environment=environment)


def train_on_workers(folder: Path, workers: int) -> list[tuple[dict, list[np.ndarray]]]:
    """Train with the script in a folder; what `results` returns.

    Raises
    ------
    LabError
        If a worker fails, or all take too long.
    """
    with start_workers(folder, workers) as job:
        job.wait(LIMIT_SECONDS)
    return results(folder, workers)


def results(folder: Path, workers: int) -> list[tuple[dict, list[np.ndarray]]]:
    """The files that the workers of a training left.

    Returns
    -------
    list of tuple
        For each worker its result, a dict, and its weights, a list of arrays: as
        `helpers.lab_09.workers.worker.train` returns them.
    """
    found = []
    for rank in range(workers):
        text = (folder / f"result-{rank}.json").read_text(encoding="utf-8")
        result = json.loads(text)
        # Where a training has diverged; JSON has no nan.
        result["losses"] = [math.nan if x is None else x for x in result["losses"]]
        with np.load(folder / f"weights-{rank}.npz") as file:
            found.append((result, list(file.values())))
    return found
