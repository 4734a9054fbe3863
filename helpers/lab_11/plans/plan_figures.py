"""Figures of lab 11 about plans."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREY, VIOLET


def published(rows: Sequence[dict]) -> plt.Figure:
    """Days of published trainings: the forecast's range, the peak, and the real days.

    Parameters
    ----------
    rows : list of dict
        As `published_trainings.forecasts` returns them.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    places = np.arange(len(rows))
    low, high = np.array([row["range"] for row in rows]).T
    # The table of the figure names the rows because of these bars.
    axes.barh(
        places, high - low, 0.4, left=low, color=BLUE, alpha=0.4, label="_between them"
    )
    axes.plot(low, places, ">", color=BLUE, label="forecast, lowest")
    axes.plot(high, places, "<", color=BLUE, label="forecast, highest")
    peak_days = [row["peak_days"] for row in rows]
    axes.plot(peak_days, places, "|", color=GREY, markersize=12, label="always at peak")
    days = [row["days"] for row in rows]
    axes.plot(days, places, "D", color=VIOLET, label="published")
    words = ["hit" if row["hit"] else "miss" for row in rows]
    names = [f"{row['name']}: {one}" for row, one in zip(rows, words, strict=True)]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="days", xlim=(2, 1000))
    ticks = (3, 10, 30, 100, 300, 1000)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.legend(loc="upper right")
    return figure
