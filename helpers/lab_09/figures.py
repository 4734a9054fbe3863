"""The figures of lab 09."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, VIOLET

COLOURS = (BLUE, ORANGE, GREEN, VIOLET)


def all_reduce_seconds(measured: Mapping[int, Mapping[int, float]]) -> plt.Figure:
    """The time of an all-reduce over the size of the array, for several numbers of workers.

    Parameters
    ----------
    measured : dict of int to dict of int to float
        By workers and bytes of the array: seconds.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    for style, (workers, seconds) in enumerate(measured.items()):
        axes.plot(
            list(seconds), [1e3 * s for s in seconds.values()],
            LINES[style] + MARKERS[style], color=COLOURS[style], label=f"{workers} workers",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="array [bytes]", ylabel="all-reduce [ms]")
    axes.legend()
    return figure


def losses(curves: Mapping[str, Sequence[float]]) -> plt.Figure:
    """The loss of every step, of trainings that should be the same.

    Parameters
    ----------
    curves : dict of str to list of float

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    for style, (name, values) in enumerate(curves.items()):
        width = 4 - 2 * style  # equal curves hide each other, so the first is wider
        axes.plot(
            range(1, len(values) + 1), values, LINES[style], lw=max(1, width),
            color=COLOURS[style], label=name,
        )  # fmt: skip
    axes.set(xlabel="step", ylabel="loss", ylim=(0, None))
    axes.legend()
    return figure


def lost_by_interval(
    simulated: Mapping[float, Sequence[float]],
    predicted: Mapping[float, float],
    found: float,
    young: float,
) -> plt.Figure:
    """The time that a job loses, over the interval between two saves.

    Parameters
    ----------
    simulated : dict of float to list of float
        For each interval in seconds, the seconds lost for each second trained, of
        several months.
    predicted : dict of float to float
        The same by the cost function.
    found, young : float
        Intervals in seconds: the lowest cost that was found, and Young's formula.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    minutes = np.array(list(simulated)) / 60
    lost = np.array(list(simulated.values()))
    axes.plot(minutes, np.median(lost, axis=1), "o", color=BLUE, label="simulated, median")
    axes.fill_between(
        minutes, lost.min(axis=1), lost.max(axis=1), color=BLUE, alpha=0.2,
        label="all simulated months",
    )  # fmt: skip
    formula = np.array(list(predicted)) / 60, list(predicted.values())
    axes.plot(*formula, "--", color=ORANGE, label="by the cost function")
    axes.axvline(found / 60, color=GREEN, lw=5, alpha=0.4, label="lowest cost found")
    axes.axvline(young / 60, color=GREY, linestyle="-.", label="Young's formula")
    axes.set(xscale="log", yscale="log", xlabel="between two saves [min]")
    axes.set(ylabel="lost for each second trained [s]")
    axes.legend()
    return figure
