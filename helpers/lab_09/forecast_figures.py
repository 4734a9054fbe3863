"""Figures of lab 09 about failures, forecasts and plans."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, RED


def lost_by_interval(
    simulated: Mapping[float, Sequence[float]],
    predicted: Mapping[float, float],
    young: float,
    daly: float,
) -> plt.Figure:
    """What a job loses by the time between two saves.

    Parameters
    ----------
    simulated : dict of float to list of float
        For each interval in seconds, the seconds lost for each second trained, of
        several months.
    predicted : dict of float to float
        The same by the formula.
    young, daly : float
        Their intervals in seconds.
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
    axes.plot(*formula, "--", color=ORANGE, label="by the formula")
    axes.axvline(young / 60, color=GREY, linestyle=":", label="Young")
    axes.axvline(daly / 60, color=GREEN, linestyle="-.", label="Daly")
    axes.set(xscale="log", yscale="log", xlabel="between two saves [min]")
    axes.set(ylabel="lost for each second trained [s]")
    axes.legend(fontsize=8)
    return figure


def forecast_and_measured(
    curve: Mapping[int, float],
    factor: float,
    known: Mapping[int, float],
    held_out: Mapping[int, float],
) -> plt.Figure:
    """The forecast with its error, what it was made from, and what came.

    Parameters
    ----------
    curve : dict of int to float
        Forecast images/s by the number of workers.
    factor : float
        The stated error.
    known, held_out : dict of int to float
        Measured images/s by the number of workers.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    workers, speeds = list(curve), np.array(list(curve.values()))
    axes.fill_between(
        workers, speeds / factor, speeds * factor, color=BLUE, alpha=0.15,
        label=f"stated error: a factor of {factor:.2f}",
    )  # fmt: skip
    axes.plot(workers, speeds, "-", color=BLUE, label="forecast")
    axes.plot(list(known), list(known.values()), "o", color=GREY, label="was known")
    axes.plot(list(held_out), list(held_out.values()), "D", color=RED, label="held out")
    axes.set(xlabel="workers", ylabel="images/s", ylim=(0, None))
    axes.legend(fontsize=8)
    return figure


def published(rows: Sequence[dict]) -> plt.Figure:
    """Efficiencies of published clusters: from in turn to overlapped, and as reported.

    Parameters
    ----------
    rows : list of dict
        As `forecast.published_forecasts` returns them.
    """
    figure, axes = plt.subplots(figsize=(7.5, 2.8))
    draw_published(axes, rows)
    return figure


def draw_published(axes: plt.Axes, rows: Sequence[dict]) -> None:
    """As `published`, on axes that are there."""
    places = np.arange(len(rows))
    low = np.array([100 * row["in_turn"] for row in rows])
    high = np.array([100 * row["overlapped"] for row in rows])
    axes.barh(
        places, high - low, 0.5, left=low, color=BLUE, alpha=0.4,
        label="forecast: from in turn to overlapped",
    )  # fmt: skip
    reported = [100 * row["reported"] for row in rows]
    axes.plot(reported, places, "D", color=RED, label="reported")
    axes.set_yticks(places, [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="efficiency [%]", xlim=(0, 105))
    axes.legend(fontsize=8, loc="lower left")


def plans(curves: Mapping[str, Mapping[int, dict]], stacked: bool = False) -> plt.Figure:
    """Time to accuracy and its cost by the number of devices.

    Parameters
    ----------
    curves : dict of str to dict of int to dict
        For each name, by the number of devices what `forecast.plan` returns.
    stacked : bool
        One above the other, not side by side.
    """
    if stacked:
        figure, axes = plt.subplots(2, 1, figsize=(4.6, 5.4), sharex=True)
    else:
        figure, axes = plt.subplots(1, 2, figsize=(8, 3.4))
    styles = zip((BLUE, ORANGE, GREEN, RED), MARKERS, LINES, strict=False)
    for (name, by_devices), (colour, marker, line) in zip(
        curves.items(), styles, strict=False
    ):
        for axis, what in zip(axes, ("hours", "device_hours"), strict=True):
            values = [planned[what] for planned in by_devices.values()]
            axis.plot(list(by_devices), values, marker + line, color=colour, label=name)
    for axis, label in zip(axes, ("hours to accuracy", "device hours"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel="devices", ylabel=label)
    axes[0].legend(fontsize=8)
    return figure
