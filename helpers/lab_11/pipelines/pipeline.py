"""Run a pipeline in real processes, which sleep instead of computing."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from helpers.lab_11.pipelines.pipeline_schedule import Box
from helpers.workers.processes import ask

WORKER = "helpers.lab_11.pipelines.pipeline_worker"
VALUES = 1000  # of the array that travels between stages for each micro-batch, in float32


class Run(NamedTuple):
    """One step of a pipeline, as its stages measured it."""

    boxes: list[Box]  # stage by stage; seconds since the first forward began
    peaks: list[int]  # of each stage: the most micro-batches it held at a time


def measure(
    folder: Path,
    orders: Mapping[str, Callable],
    runs: Sequence[tuple[str, int]],
    repeats: int,
    stages: int = 4,
    forward_seconds: float = 0.008,
    backward_seconds: float = 0.016,
) -> dict[tuple[str, int], list[Run]]:
    """Start a process for each stage, and let them work in the orders of some functions.

    Parameters
    ----------
    folder : Path
        For the processes' files.
    orders : dict of str to callable
        By name, functions as exercise 11.5 asks for them. Each process has its own copy.
    runs : list of tuple
        Names of orders, each with a number of micro-batches.
    repeats : int
        How often each of them runs.
    stages : int
    forward_seconds, backward_seconds : float
        How long a stage sleeps for a micro-batch.

    Returns
    -------
    dict of tuple to list of Run
        For each of `runs`, its repetitions.

    Raises
    ------
    LabError
        If a process fails or waits too long, as in a deadlock.
    """
    asked = {"runs": list(runs), "repeats": repeats, "values": VALUES}
    asked |= {"seconds": {"F": forward_seconds, "B": backward_seconds}}
    rounds = zip(*ask(WORKER, folder, stages, asked, dict(orders)), strict=True)
    by_round = [[_together(one) for one in zip(*told, strict=True)] for told in rounds]
    return dict(zip(map(tuple, runs), map(list, zip(*by_round, strict=True)), strict=True))


def _together(told):
    began = min(begin for one in told for _, _, begin, _ in one["boxes"])
    boxes = [
        Box(stage, kind, i, begin - began, end - began)
        for stage, one in enumerate(told)
        for kind, i, begin, end in one["boxes"]
    ]
    return Run(boxes, [one["peak"] for one in told])
