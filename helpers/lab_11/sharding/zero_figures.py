"""The figure of section 3: what a worker holds and sends in four ways of training."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, ORANGE, VIOLET

COLOURS = {"weights": BLUE, "gradient": GREEN, "state": ORANGE}
HATCHES = {"weights": "", "gradient": "..", "state": "//"}
LABELS = {"weights": "weights", "gradient": "gradient", "state": "Adam's state"}
WIDTH = 0.38


Bytes = Mapping[str, Mapping[str, float]]


def held_and_sent(measured: Bytes, predicted: Bytes) -> plt.Figure:
    """Two charts of bars: solid is measured, and an outline beside it is predicted.

    Parameters
    ----------
    measured, predicted : dict of str to dict of str to float
        By way: bytes of the `weights`, of the `gradient` and of the `state` that a worker
        holds, and bytes `sent` in a step.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (held, sent) = plt.subplots(1, 2, figsize=(9, 3.6))
    places, ways = np.arange(len(measured)), list(measured)
    outline = {"fill": False, "ec": GREY, "lw": 1.2}
    below, below_outline = np.zeros(len(ways)), np.zeros(len(ways))
    for name, colour in COLOURS.items():
        solid, due = _megabytes(measured, name), _megabytes(predicted, name)
        held.bar(
            places - WIDTH / 2, solid, WIDTH, below, color=colour, hatch=HATCHES[name],
            ec="white", lw=0, label=LABELS[name],
        )  # fmt: skip
        label = "predicted" if name == "state" else None
        held.bar(places + WIDTH / 2, due, WIDTH, below_outline, label=label, **outline)
        below, below_outline = below + solid, below_outline + due
    solid, due = _megabytes(measured, "sent"), _megabytes(predicted, "sent")
    sent.bar(places - WIDTH / 2, solid, WIDTH, color=VIOLET, label="measured")
    sent.bar(places + WIDTH / 2, due, WIDTH, label="predicted", **outline)
    titles = (held, "a worker holds [MB]"), (sent, "a worker sends in a step [MB]")
    for axis, what in titles:
        axis.set(xticks=places, ylabel=what, ylim=(0, None))
        axis.set_xticklabels(ways, fontsize=8)
        axis.legend()
    sent.set_ylim(0, 1.3 * max(solid.max(), due.max()))  # room for the legend
    return figure


def _megabytes(by_way, name):
    return np.array([one[name] for one in by_way.values()]) / 1e6
