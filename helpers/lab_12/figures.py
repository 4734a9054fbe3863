"""The figures of lab 12: worth, a trial, and the seeds of a rehearsal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, GREY, ORANGE, VIOLET
from helpers.speed_record.scores import mean_interval, score, with_crashes

if TYPE_CHECKING:
    from helpers.lab_12.trials import Trial

OF_VERDICT = {"helps": (GREEN, "o"), "hurts": (VIOLET, "X"), "cannot tell": (GREY, "D")}


def worth(
    full: Mapping[int, float | None],
    without: Mapping[str, Mapping[int, float | None]],
    rows: Mapping[str, dict],
) -> plt.Figure:
    """The factor of each seed, and the median, for each ingredient; best at the top.

    Parameters
    ----------
    full : mapping
        Seconds of the full recipe by seed; None: never reached.
    without : mapping
        By ingredient, the same without it.
    rows : mapping
        The result of exercise 12.1.
    """
    figure, axes = plt.subplots(figsize=(8, 3.4))
    order = sorted(
        rows, key=lambda name: (rows[name]["place"], -(rows[name]["factor"] or 1e9))
    )
    for height, name in enumerate(reversed(order)):
        colour, marker = OF_VERDICT[rows[name]["verdict"]]
        both = [(without[name].get(seed), t) for seed, t in full.items() if t]
        factors = [t / base for t, base in both if t]
        label = f"_{name}: factors of its seeds"
        axes.plot(
            factors, [height] * len(factors), marker, color=colour, alpha=0.7, label=label
        )
        if middle := rows[name]["factor"]:
            axes.plot(middle, height, "|", color="black", markersize=26, label="_median")
        if failed := len(both) - len(factors):
            text = f"{failed} never"
            axes.annotate(
                text, (1.01, height), xycoords=axes.get_yaxis_transform(), ha="left",
                va="center", fontsize=8, color=VIOLET,
            )  # fmt: skip
    axes.axvline(1, color=BLUE, linewidth=1.2)
    for verdict, (colour, marker) in OF_VERDICT.items():
        axes.plot([], [], marker, color=colour, label=verdict)
    axes.set_xscale("log")
    for side in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        side(lambda value, _: f"{value:g}")
    axes.set_yticks(
        range(len(order)), [f"{name} ({rows[name]['place']})" for name in reversed(order)]
    )
    axes.set(
        xlabel="times as long without the ingredient",
        ylim=(-0.6, len(order) - 0.4),
        title="each symbol a seed, the bar their median, in brackets the place",
    )
    axes.legend(loc="best")
    return figure


def trial(found: "Trial", target: float) -> plt.Figure:
    """Accuracy against seconds before and after a change, joined seed by seed."""
    figure, axes = plt.subplots(figsize=(8, 3.4))
    for before, after in zip(found.before, found.after, strict=True):
        axes.plot(
            [before.seconds, after.seconds], [before.accuracy, after.accuracy],
            color=GREY, linewidth=0.8, label="_one seed",
        )  # fmt: skip
    groups = ((found.before, "train", BLUE, "o"), (found.after, "candidate", ORANGE, "s"))
    for runs, label, colour, marker in groups:
        axes.plot(
            [run.seconds for run in runs], [run.accuracy for run in runs],
            marker, color=colour, label=label,
        )  # fmt: skip
    axes.axhline(target, color=VIOLET, linewidth=1.2, label=f"target {target:g}")
    axes.set(xlabel="training and predicting [s]", ylabel="accuracy")
    axes.set_xlim(left=0)
    axes.legend(loc="best")
    return figure


def rehearsal(seeds: Sequence[tuple[float, float | None]], target: float) -> plt.Figure:
    """A dot for each seed, and the intervals of the score and of the mean accuracy.

    Parameters
    ----------
    seeds : sequence of (float, float or None)
        Seconds in units of the calibration load, and the accuracy; None for a crash.
    target : float
    """
    figure, axes = plt.subplots(figsize=(8, 3.4))
    times, accuracies = [time for time, _ in seeds], with_crashes([a for _, a in seeds])
    axes.plot(times, accuracies, "o", color=BLUE, label="a seed")
    if len(seeds) > 1:
        along, up = score(times, [1.0] * len(times)), mean_interval(accuracies)
        bars: dict = {"color": ORANGE, "linewidth": 1.5}
        if along.high < 10 * along.middle:  # that of two seeds would hide all dots
            axes.plot([along.low, along.high], [up.middle] * 2, label="_score", **bars)
        low, high = max(0, up.low), min(1, up.high)
        axes.plot([along.middle] * 2, [low, high], label="_accuracy", **bars)
        mean = "mean, with its 95% interval"
        axes.plot(along.middle, up.middle, "D", color=ORANGE, label=mean)
    axes.axhline(target, color=VIOLET, linewidth=1.2, label=f"target {target:g}")
    axes.set(xlabel="seconds / seconds of the calibration load", ylabel="accuracy")
    axes.set_xlim(left=0)
    axes.legend(loc="best")
    return figure
