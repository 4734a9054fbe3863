"""The figure of section 4 of lab 11: what layouts keep on a device, and what they send."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, ORANGE, VIOLET

HATCHES = ("", "//", "..", "xx", "--")
COLOURS = (BLUE, ORANGE, GREEN, VIOLET, "white")


def kept_and_sent(
    weights: Mapping[str, int], sent: Mapping[str, Mapping[str, int]]
) -> plt.Figure:
    """Bars of the weights on a device, and of the bytes by kind of collective.

    Parameters
    ----------
    weights : dict of int
        Bytes on each device, by layout.
    sent : dict of dict of int
        Bytes of the messages in one compiled step, by layout and kind. A kind without
        bytes in any layout is left out.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (left, right) = plt.subplots(1, 2, sharey=True)
    places = np.arange(len(weights))
    bars = left.barh(places, [size / 1e6 for size in weights.values()], color=BLUE)
    left.bar_label(bars, fmt="%.2f", padding=3, fontsize=9)
    left.set_yticks(places, list(weights))
    left.invert_yaxis()
    left.set(xlabel="weights on a device [MB]")
    left.margins(x=0.2)
    starts = np.zeros(len(weights))
    kinds = {kind: None for one in sent.values() for kind, size in one.items() if size}
    for style, kind in enumerate(kinds):
        sizes = np.array([sent[name].get(kind, 0) / 1e6 for name in weights])
        right.barh(
            places, sizes, left=starts, label=kind, color=COLOURS[style],
            hatch=HATCHES[style], edgecolor="black",
        )  # fmt: skip
        starts += sizes
    right.set(xlabel="messages of a step [MB]", xlim=(0, 1.4 * starts.max()))
    right.legend(loc="upper right")
    figure.subplots_adjust(left=0.25)  # for the names of the layouts
    return figure
