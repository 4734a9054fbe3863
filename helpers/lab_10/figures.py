"""Figures of lab 10 about stragglers, buckets and all-reduces."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, VIOLET

COLOURS = (BLUE, ORANGE, GREEN, VIOLET)


def stragglers(
    measured: Mapping[float, Mapping[int, float]],
    simulated: Mapping[float, Mapping[int, float]],
    one_alone: float,
) -> plt.Figure:
    """The time of a synchronous step over the number of workers.

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
    axes.set(xscale="log", xlabel="workers", ylabel="mean step [times c]", ylim=(0, None))
    axes.legend()
    return figure


def bucket_seconds(
    measured: Mapping[float, Sequence[float]], predicted: Mapping[float, float]
) -> plt.Figure:
    """The end of a step's last all-reduce, over the size of a bucket.

    Parameters
    ----------
    measured : dict of float to list of float
        For each size in bytes, the seconds of several steps.
    predicted : dict of float to float
        The same by an answer to exercise 10.1.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    kilobytes = np.array(list(measured)) / 1e3
    steps = 1e3 * np.array(list(measured.values()))
    middle = np.median(steps, axis=1)
    spread = np.abs(np.quantile(steps, [0.25, 0.75], axis=1) - middle)
    axes.errorbar(
        kilobytes, middle, spread, fmt="o", color=BLUE, capsize=3,
        label="measured: median and quartiles",
    )  # fmt: skip
    axes.plot(
        np.array(list(predicted)) / 1e3, 1e3 * np.array(list(predicted.values())), "--",
        color=ORANGE, label="predicted by `buckets`",
    )  # fmt: skip
    axes.set(xscale="log", xlabel="least size of a bucket [kB]", ylim=(0, None))
    axes.set(ylabel="last all-reduce ends [ms]")
    axes.legend()
    return figure


def all_reduces(curves: Mapping[str, Mapping[int, float]], crossover: int) -> plt.Figure:
    """The time of an all-reduce over the number of devices.

    Parameters
    ----------
    curves : dict of str to dict of int to float
        For each way, by the number of devices: seconds.
    crossover : int
        Devices from which a tree is faster than a ring.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    for style, (name, seconds) in enumerate(curves.items()):
        axes.plot(
            list(seconds), [1e3 * s for s in seconds.values()],
            LINES[style] + MARKERS[style], color=COLOURS[style], label=name,
        )  # fmt: skip
    axes.axvline(crossover, color=GREY, linestyle=":", label=f"{crossover} devices")
    axes.set(xscale="log", yscale="log", xlabel="devices", ylabel="all-reduce [ms]")
    axes.legend()
    return figure
