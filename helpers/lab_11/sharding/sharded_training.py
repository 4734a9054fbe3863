"""Train on several workers, with the optimizer on each of them or shared by all."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.workers.processes import ask

WORKER = "helpers.lab_11.sharding.zero_worker"
WAYS = ("data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3")
STEPS, BLOCKS = 5, 8
# Large arrays go back to the system as soon as nobody uses them (with glibc).
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536"}


class Trained(NamedTuple):
    """What the workers found in one way of training.

    Attributes
    ----------
    sent : int
        Bytes that the worker that sent most has sent in a step.
    held : dict of str to int
        Bytes of the weights, of the gradient and of the optimizer's state that the worker
        with the largest part keeps.
    resident : float
        Bytes by which the memory of a worker's process grew: the median of the workers.
    seconds : list of float
        Of a step of the slowest worker: the median of a training, for each repetition.
    weights : numpy.ndarray
        With which the training ended, in a row for each worker.
    """

    sent: int
    held: dict[str, int]
    resident: float
    seconds: list[float]
    weights: np.ndarray


def train(
    folder: Path,
    ways: Sequence[str],
    sharded_step: Callable,
    workers: int,
    weights: int,
    repeats: int,
    seed: int,
) -> dict[str, Trained]:
    """Start workers that train in one way after the other, and wait for them.

    Parameters
    ----------
    folder : Path
        For the workers' files.
    ways : list of str
        Some of `WAYS`.
    sharded_step : callable
        As exercise 11.3 asks for it.
    workers, weights : int
    repeats : int
        Trainings in each way, which are all the same.
    seed : int

    Raises
    ------
    LabError
        If a worker fails or takes longer than the limit.
    """
    asked = {"ways": list(ways), "weights": weights, "repeats": repeats, "seed": seed}
    asked |= {"steps": STEPS, "blocks": BLOCKS}
    functions = {"sharded_step": sharded_step}
    told = ask(WORKER, folder, workers, asked, functions, ENVIRONMENT)
    return {way: _together(folder, way, [one[way] for one in told]) for way in ways}


def _together(folder, way, told):
    files = [folder / f"{way}-{rank}.npy" for rank in range(len(told))]
    weights = np.stack([np.load(file) for file in files])
    for file in files:
        file.unlink()
    held = [one["held"] for one in told]
    return Trained(
        max(one["bytes_sent"] for one in told),
        {name: max(one[name] for one in held) for name in held[0]},
        float(np.median([one["resident"] for one in told])),
        np.max([one["seconds"] for one in told], axis=0).tolist(),
        weights,
    )


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    """Of the weights of two trainings, or of the workers of one of them."""
    return float(np.abs(one.astype("float64") - other).max())


def predicted_bytes(weights: int, workers: int) -> dict[str, dict[str, float]]:
    """By way: bytes that a worker keeps of each kind, and that it sends in a step."""
    whole = 4 * weights
    part, phase = whole / workers, whole * (workers - 1) / workers
    return {
        "data parallel": _row(whole, whole, 2 * whole, 2 * phase),
        "ZeRO-1": _row(whole, whole, 2 * part, 2 * phase),
        "ZeRO-2": _row(whole, part, 2 * part, 2 * phase),
        "ZeRO-3": _row(part, part, 2 * part, 3 * phase),
    }


def _row(weights, gradient, state, sent):
    return {"weights": weights, "gradient": gradient, "state": state, "sent": sent}
