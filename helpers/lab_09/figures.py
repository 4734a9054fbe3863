"""The figures of lab 09."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, RED

COLOURS = (BLUE, ORANGE, GREEN, RED)


def all_reduce_seconds(measured: Mapping[int, Mapping[int, float]]) -> plt.Figure:
    """How long an all-reduce takes by the size of the array, for numbers of workers.

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
        width = 4 - 2 * style  # equal curves lie on each other: the first must show
        axes.plot(
            range(1, len(values) + 1), values, LINES[style], lw=max(1, width),
            color=COLOURS[style], label=name,
        )  # fmt: skip
    axes.set(xlabel="step", ylabel="loss", ylim=(0, None))
    axes.legend()
    return figure


def stragglers(
    measured: Mapping[float, Mapping[int, float]],
    simulated: Mapping[float, Mapping[int, float]],
    one_alone: float,
) -> plt.Figure:
    """How long a synchronous step takes by the number of workers.

    Parameters
    ----------
    measured, simulated : dict of float to dict of int to float
        By spread and workers: seconds of a step.
    one_alone : float
        Seconds that a worker computes at least.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    for style, (spread, seconds) in enumerate(simulated.items()):
        colour = COLOURS[style]
        times = np.array(list(seconds.values())) / one_alone
        axes.plot(
            list(seconds),
            times,
            LINES[style],
            color=colour,
            label=f"spread {spread:g}, simulated",
        )
        found = measured[spread]
        axes.plot(
            list(found), np.array(list(found.values())) / one_alone, MARKERS[style],
            color=colour, label=f"spread {spread:g}, measured",
        )  # fmt: skip
    axes.axhline(1, color=GREY, lw=1)
    axes.set(
        xscale="log", xlabel="workers", ylabel="step [times the shortest]", ylim=(0, None)
    )
    axes.legend(fontsize=8)
    return figure
