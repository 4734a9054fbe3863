"""Run a training as the judge does, and compare a change with what it changes."""

import time
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from callbacks import progress
from helpers.speed_record.scores import Interval, ratio


class Run(NamedTuple):
    """Seconds from handing over the data to the last label, and the accuracy."""

    seconds: float
    accuracy: float


class Trial(NamedTuple):
    """Runs of a training and of a change to it, with the same seeds."""

    before: list[Run]
    after: list[Run]

    @property
    def gain(self) -> Interval:
        """How many times as fast the change is, with its interval over the seeds."""
        seconds = ([run.seconds for run in runs] for runs in (self.after, self.before))
        low, middle, high = ratio(*seconds)
        return Interval(1 / high, 1 / middle, 1 / low if low else float("inf"))

    def accuracies(self) -> tuple[float, float]:
        """The mean accuracy before and after."""
        return mean_accuracy(self.before), mean_accuracy(self.after)

    def decision(self, target: float) -> str:
        """Say "keep" if it is surely faster at the target, "drop" or "cannot tell"."""
        if mean_accuracy(self.after) < target or self.gain.high < 1:
            return "drop"
        return "keep" if self.gain.low > 1 else "cannot tell"


def mean_accuracy(runs: Sequence[Run]) -> float:
    """The mean accuracy of some runs."""
    return fmean(run.accuracy for run in runs)


def timed(train: Callable, data: Sequence[np.ndarray], seed: int) -> Run:
    """Train, predict, and compare the labels.

    Parameters
    ----------
    train : callable
        As exercise 12.2 asks for it.
    data : sequence of array
        Images and labels to train on, then images and labels to predict.
    seed : int
    """
    x, y, x_test, y_test = data
    began = time.perf_counter()
    labels = np.asarray(train(x, y, seed)(x_test))
    seconds = time.perf_counter() - began
    return Run(seconds, float(np.mean(labels == y_test)))


def compare(
    train: Callable, change: Callable, data: Sequence[np.ndarray], seeds: Iterable[int]
) -> Trial:
    """Run both with each seed as `timed` does, and let the other one begin each time."""
    before, after = [], []
    for turn, seed in enumerate(progress(list(seeds), unit="seed")):
        pairs = [(train, before), (change, after)]
        for function, runs in pairs[:: -1 if turn % 2 else 1]:
            runs.append(timed(function, data, seed))
    return Trial(before, after)
