"""A rehearsal of the judging on this machine: each seed between two calibrations."""

import io
from collections.abc import Callable, MutableMapping, Sequence
from statistics import fmean
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from callbacks import progress
from callbacks.live.picture import picture_html
from callbacks.live.place import in_jupyterlab
from helpers.data.images import Images
from helpers.lab_12.figures import rehearsal
from helpers.lab_12.trials import Run, timed
from helpers.speed_record.calibration import calibration_load, calibration_seconds
from helpers.speed_record.rule import CALIBRATION_DRIFT, CALIBRATION_STEPS
from helpers.speed_record.scores import (
    Interval,
    has_drifted,
    mean_interval,
    p_value,
    score,
    with_crashes,
)
from helpers.speed_record.splits import pool, seed_of, split

EMPTY = {"text/plain": "", "text/html": ""}


class Rehearsal(NamedTuple):
    """What the seeds so far say.

    Attributes
    ----------
    score : Interval
        Seconds of training and predicting, in units of the whole calibration load.
    accuracy : Interval
        The mean over the seeds, where a crash counts as a guess.
    p : float
        Of a t test that the mean is at or above the target.
    crashes, drifted : int
        Seeds that raised an error, and seeds whose two calibrations differ too much.
    """

    score: Interval
    accuracy: Interval
    p: float
    crashes: int
    drifted: int


def rehearse(
    train: Callable,
    data: Sequence[np.ndarray],
    seeds: int,
    steps: int,
    points: MutableMapping,
    target: float,
) -> Rehearsal:
    """Judge a training with each seed that has no result yet.

    Parameters
    ----------
    train : callable
        As exercise 12.2 asks for it.
    data : sequence of array
        x_train, y_train, x_valid, y_valid: they are pooled and split again for each seed.
    seeds : int
    steps : int
        Of the calibration load, which is scaled up to the judge's.
    points : mutable mapping
        The results by seed: those that are in it are not measured again.
    target : float

    Returns
    -------
    Rehearsal
    """
    x, y, x_valid, y_valid = data
    pooled = pool(Images(x, y, x_valid, y_valid, "the lab's images"))
    load, live = calibration_load(), _LiveFigure(target)
    for seed in progress(range(seeds), unit="seed"):
        if seed not in points:
            parts = split(pooled, b"rehearsal %d" % seed, len(x), len(x_valid))
            before = _calibrate(load, steps)
            run = _run(train, parts, seed_of(b"rehearsal", seed))
            after = _calibrate(load, steps)
            points[seed] = {**run._asdict(), "before": before, "after": after}
        live.update(points)
    live.close()
    return summary(points, target)


def summary(points: MutableMapping, target: float) -> Rehearsal:
    """What the results say together, as `rehearse` fills them in."""
    rows = list(points.values())
    accuracies = [row["accuracy"] for row in rows]
    return Rehearsal(
        score([row["seconds"] for row in rows], list(map(_calibration, rows))),
        mean_interval(with_crashes(accuracies)),
        p_value(accuracies, target),
        accuracies.count(None),
        sum(has_drifted(row["before"], row["after"], CALIBRATION_DRIFT) for row in rows),
    )


def ratios(points: MutableMapping) -> list[tuple[float, float | None]]:
    """For each seed its seconds in units of the calibration load, and its accuracy."""
    rows = points.values()
    return [(row["seconds"] / _calibration(row), row["accuracy"]) for row in rows]


def _calibration(row):
    return fmean([row["before"], row["after"]])


def _calibrate(load, steps):
    """Seconds of the whole load, from a part of it."""
    return calibration_seconds(load, steps) * CALIBRATION_STEPS / steps


def _run(train, parts, seed):
    """A run; one that raises an error has no accuracy, and no time to speak of."""
    try:
        return timed(train, parts, seed)
    except Exception as error:
        print(f"A seed crashed with {type(error).__name__}: {error}"[:200])
        return Run(1e-9, None)


class _LiveFigure:
    """In JupyterLab: a dot for each seed as soon as it is there."""

    def __init__(self, target):
        self.target, self.place = target, None
        if in_jupyterlab():
            from IPython.display import display

            self.place = display(EMPTY, raw=True, display_id=True)

    def update(self, points):
        if self.place is None:
            return
        figure, data = rehearsal(ratios(points), self.target), io.BytesIO()
        figure.savefig(data, format="png", dpi=100)
        plt.close(figure)
        low, middle, high = summary(points, self.target).score
        text = f"{len(points)} seeds so far: score {middle:.3f}, {low:.3f} to {high:.3f}."
        page = f"<p>{text}</p>{picture_html(data.getvalue(), text, '')}"
        self.place.update({**EMPTY, "text/html": page}, raw=True)

    def close(self):
        """Make room for the figure that stays."""
        if self.place is not None:
            self.place.update(EMPTY, raw=True)
