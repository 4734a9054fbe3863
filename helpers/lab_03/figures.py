"""The figures of lab 03: time to accuracy."""

import statistics

import matplotlib as mpl
import matplotlib.pyplot as plt

from helpers.figures import BLUE, LINES, MARKERS, ORANGE, RED


def accuracy_against_time(runs, target):
    """Validation accuracy of every run against its wall time.

    Parameters
    ----------
    runs : list of dict
        `batch_size`, `wall_seconds` and `val_accuracy` (lists, per epoch).
    target : float
        Drawn as a line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    sizes = sorted({run["batch_size"] for run in runs})
    for i, size in enumerate(sizes):
        for run in (run for run in runs if run["batch_size"] == size):
            (line,) = axes.plot(
                run["wall_seconds"],
                run["val_accuracy"],
                color=mpl.colormaps["cividis"](0.9 * i / max(1, len(sizes) - 1)),
                linestyle=LINES[i % len(LINES)],
                marker=MARKERS[i % len(MARKERS)],
                markersize=4,
                label=f"_batch {size:,}",  # "_": in the table, not in the legend
            )
        line.set_label(f"batch {size:,}")
    axes.axhline(target, color=RED, linewidth=1, label=f"target {target:g}")
    axes.set(xlabel="wall time [s]", ylabel="validation accuracy")
    axes.legend(ncols=2)
    return figure


def time_to_accuracy_spread(times, guess):
    """Each run's time to accuracy, their median, and the runs that never reached it.

    Parameters
    ----------
    times : dict of int to list of float or None
        Seconds of each repeat by batch size; None: never reached.
    guess : int
        The batch size that the student expects to win.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    reached = [t for all_times in times.values() for t in all_times if t is not None]
    ceiling = 1.25 * max(reached, default=1.0)
    for i, (size, all_times) in enumerate(sorted(times.items())):
        got_there = [t for t in all_times if t is not None]
        missing = len(all_times) - len(got_there)
        axes.plot(
            [i] * len(got_there), got_there, "o", color=BLUE, alpha=0.7, label="_each run"
        )
        if missing < len(all_times) / 2:
            middle = statistics.median(
                t if t is not None else float("inf") for t in all_times
            )
            axes.plot(
                i,
                middle,
                "_",
                color=BLUE,
                markersize=36,
                markeredgewidth=2,
                label="_median",
            )
        if missing:
            never = f"{missing} of {len(all_times)} never"
            # At a height of the axes, not of the data: it is not a measured time.
            above = {"transform": axes.get_xaxis_transform(), "label": f"_{never}"}
            axes.plot(i, 0.93, "X", color=RED, markersize=9, **above)
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
    axes.set_xticks(range(len(times)), [f"{size:,}" for size in sorted(times)])
    axes.set(
        xlabel="batch size [images]",
        ylabel="time to accuracy [s]",
        xlim=(-0.5, len(times) - 0.5),
        ylim=(0, ceiling),
        title="each dot a run, the bar their median",
    )
    return figure
