"""Figures of lab 10 about forecasts and plans."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, VIOLET


def forecast_and_measured(
    curve: Mapping[int, float],
    factor: float,
    known: Mapping[int, float],
    held_out: Mapping[int, float],
) -> plt.Figure:
    """The forecast with its error, the speeds it was made from, and the measurement.

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
    for points, marker, colour, when in (
        (known, "o", GREY, "before"),
        (held_out, "D", VIOLET, "after"),
    ):
        label = f"measured {when} the forecast"
        axes.plot(list(points), list(points.values()), marker, color=colour, label=label)
    axes.set(xlabel="workers", ylabel="images/s", ylim=(0, None))
    axes.legend()
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
    """Draw `published` on given axes."""
    places = np.arange(len(rows))
    low = np.array([100 * row["in_turn"] for row in rows])
    high = np.array([100 * row["overlapped"] for row in rows])
    axes.barh(
        places, high - low, 0.5, left=low, color=BLUE, alpha=0.4,
        label="forecast: from in turn to overlapped",
    )  # fmt: skip
    reported = [100 * row["reported"] for row in rows]
    axes.plot(reported, places, "D", color=VIOLET, label="reported")
    axes.set_yticks(places, [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="efficiency [%]", xlim=(0, 105))
    axes.legend(loc="lower left")


def plans(curves: Mapping[str, Mapping[int, dict]], stacked: bool = False) -> plt.Figure:
    """Time to accuracy and its cost, over the number of devices.

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
    styles = zip((BLUE, ORANGE, GREEN, VIOLET), MARKERS, LINES, strict=False)
    for (name, by_devices), (colour, marker, line) in zip(
        curves.items(), styles, strict=False
    ):
        for axis, what in zip(axes, ("hours", "device_hours"), strict=True):
            values = [planned[what] for planned in by_devices.values()]
            axis.plot(list(by_devices), values, marker + line, color=colour, label=name)
    for axis, label in zip(axes, ("hours to accuracy", "device hours"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel="devices", ylabel=label)
    axes[0].legend()
    return figure
