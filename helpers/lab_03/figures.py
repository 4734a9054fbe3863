"""The figures of lab 03: time to accuracy."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, LINES, ORANGE, VIOLET, guess_label

COLOURS = (BLUE, ORANGE, GREEN, "black", GREY)


def accuracy_against_time(runs: Sequence[dict], target: float) -> plt.Figure:
    """Validation accuracy of every run against its training time.

    Parameters
    ----------
    runs : list of dict
        `batch_size`, `wall_seconds` and `val_accuracy` (lists, per look).
    target : float
        Drawn as a line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    for i, size in enumerate(sorted({run["batch_size"] for run in runs})):
        style: dict = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": LINES[i % len(LINES)],
        }
        for run in (run for run in runs if run["batch_size"] == size):
            (line,) = axes.plot(
                run["wall_seconds"],
                run["val_accuracy"],
                linewidth=1.1,
                label=f"_batch {size:,}",  # "_": in the table, not in the legend
                **style,
            )
        line.set_label(f"batch {size:,}")
    axes.axhline(target, color=VIOLET, linewidth=1.5, label=f"target {target:g}")
    axes.set(xlabel="training time [s]", ylabel="validation accuracy", ylim=(0, 1))
    axes.legend(ncols=2)  # where no curve is: at smoke scale they stay low
    return figure


def time_to_accuracy_spread(
    times: Mapping[int, Sequence[float | None]], guess: int | None = None
) -> plt.Figure:
    """Each run's time to accuracy, their median, and the runs that never reached it.

    Parameters
    ----------
    times : dict of int to list of float or None
        Seconds of each repeat by batch size; None or infinite: never reached.
    guess : int, optional
        The batch size that the student expects to win.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    seconds = {
        size: [math.inf if t is None else t for t in all_times]
        for size, all_times in sorted(times.items())
    }
    reached = [t for all_times in seconds.values() for t in all_times if t < math.inf]
    for i, (size, all_times) in enumerate(seconds.items()):
        got_there = [t for t in all_times if t < math.inf]
        missing = len(all_times) - len(got_there)
        axes.plot(
            [i] * len(got_there), got_there, "o", color=BLUE, alpha=0.7, label="_each run"
        )
        _mark_median(axes, i, all_times, markersize=36)
        if missing:
            never = f"{missing} of {len(all_times)} never"
            # At a height of the axes, not of the data: it is not a measured time.
            above: dict = {"transform": axes.get_xaxis_transform(), "label": f"_{never}"}
            axes.plot(i, 0.93, "X", color=VIOLET, markersize=9, **above)
            axes.annotate(
                never,
                (i, 0.93),
                xycoords=above["transform"],
                textcoords="offset points",
                xytext=(0, -14),
                ha="center",
                fontsize=8,
            )
        if size == guess:
            axes.axvspan(i - 0.4, i + 0.4, color=ORANGE, alpha=0.2, label="your guess")
            axes.legend()
    axes.set_xticks(range(len(seconds)), [f"{size:,}" for size in seconds])
    axes.set(
        xlabel="batch size [images]",
        ylabel="time to accuracy [s]",
        xlim=(-0.5, len(seconds) - 0.5),
        ylim=(0, 1.25 * max(reached, default=1.0)),
        title="each dot a run, the bar their median",
    )
    return figure


def steps_to_target(
    steps: Mapping[int, Sequence[float]],
    floor: float,
    bend: float,
    noise_scales: Sequence[float] = (),
    guess: float | None = None,
) -> plt.Figure:
    """Steps to the target against batch size, with perfect scaling and the fit.

    Parameters
    ----------
    steps : dict of int to list of float
        Steps of each run by batch size; infinite: never reached.
    floor, bend : float
        Of the fit ``floor * (1 + bend / batch_size)``; infinite: there is none.
    noise_scales : sequence of float
        Batch sizes; the range and the median of the positive ones are drawn.
    guess : float, optional
        The median noise scale that the student expects.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    sizes, medians = sorted(steps), {}
    for size in sizes:
        got_there = [n for n in steps[size] if n < math.inf]
        axes.plot([size] * len(got_there), got_there, "o", color=BLUE, label="_each run")
        if (middle := statistics.median(steps[size])) < math.inf:
            medians[size] = middle
    bar: dict = {"markersize": 20, "markeredgewidth": 2, "color": "black"}
    axes.plot(list(medians), list(medians.values()), "_", label="median", **bar)
    if medians:
        first, needed = next(iter(medians.items()))
        perfect = [needed * first / size for size in sizes]
        axes.plot(sizes, perfect, "--", color=GREY, label="perfect scaling")
    if bend < math.inf:
        fine = np.geomspace(min(sizes), max(sizes), 60)
        fitted = floor * (1 + bend / fine)
        axes.plot(fine, fitted, color=ORANGE, label=f"fit, bend at {bend:,.0f}")
    scales = [scale for scale in noise_scales if scale > 0]
    if scales:
        axes.axvspan(min(scales), max(scales), color=GREEN, alpha=0.15, label="noise scale")
        axes.axvline(statistics.median(noise_scales), color=GREEN, label="its median")
    if guess is not None:
        axes.axvline(guess, color=VIOLET, linestyle=":", label="your guess")
    _log_axes(axes, sizes, ylabel="steps to the target", title="each dot a run")
    if medians:
        axes.legend()
    return figure


def time_by_laws(
    times: Mapping[int, Sequence[float]],
    law: Callable[[float], float],
    best_size: int,
    best_seconds: Sequence[float],
    guess: float | None = None,
) -> plt.Figure:
    """Time to the target by batch size: the race, both laws, and their best batch size.

    Parameters
    ----------
    times : dict of int to list of float
        Seconds of each run of the race by batch size; infinite: never reached.
    law : callable
        From a batch size to seconds; infinite: the laws say nothing.
    best_size : int
        The batch size that is best by the laws, in images.
    best_seconds : sequence of float
        Seconds of its own runs; infinite: never reached.
    guess : float, optional
        The seconds that the student expects of it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    rows = [*sorted(times.items()), (best_size, best_seconds)]
    for i, (size, seconds) in enumerate(rows):
        new = i == len(rows) - 1
        there = [t for t in seconds if t < math.inf]
        colour, marker = (GREEN, "s") if new else (BLUE, "o")
        label = f"batch {best_size:,}, run afterwards" if new else "_each run of the race"
        axes.plot([size] * len(there), there, marker, color=colour, alpha=0.7, label=label)
        _mark_median(axes, size, seconds)
    if law(best_size) < math.inf:
        sizes = [size for size, _ in rows]
        fine = np.geomspace(min(sizes), max(sizes), 60)
        axes.plot(fine, [law(size) for size in fine], color=ORANGE, label="both laws")
        axes.plot(best_size, law(best_size), "D", color=ORANGE, label="their forecast")
    if guess is not None and guess > 0:
        style: dict = {"color": VIOLET, "markersize": 9}
        axes.plot(best_size, guess, "X", label=guess_label(), **style)
    title = "each dot a run, the bars their medians"
    _log_axes(axes, sorted(times), ylabel="time to accuracy [s]", title=title)
    axes.legend()
    return figure


def _mark_median(axes, x, values, markersize=20):
    """A bar at the median, if there is a finite one."""
    if values and (middle := statistics.median(values)) < math.inf:
        bar: dict = {"markersize": markersize, "markeredgewidth": 2}
        axes.plot(x, middle, "_", color="black", label="_median", **bar)


def _log_axes(axes, sizes, **labels):
    """Axes that are logarithmic, but for heights that have no point, and say why."""
    heights = "log" if axes.dataLim.minposy < math.inf else "linear"  # the smallest above 0
    if heights == "linear":
        place: dict = {"transform": axes.transAxes, "ha": "center"}
        axes.text(0.5, 0.5, "no run reached the target", **place)
    axes.set(xscale="log", yscale=heights, xlabel="batch size [images]", **labels)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.minorticks_off()
