"""The figures of lab 06: many GPUs with a hand-written loop."""

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, RED


def step_lengths(replicas, lengths, curves):
    """The first step's length by replicas, and every step's loss with the most replicas.

    Parameters
    ----------
    replicas : list of int
    lengths : dict of str to list of float
        In multiples of one device's, for each number of replicas.
    curves : dict of str to list of float
        Mean loss of every step.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    colours = (BLUE, RED, GREEN, ORANGE)
    styles = list(zip(colours, MARKERS, LINES, strict=False))
    for (name, values), (colour, marker, line) in zip(lengths.items(), styles, strict=True):
        # Hollow, and larger from curve to curve: some lie on top of others.
        left.plot(
            replicas, values, color=colour, marker=marker, linestyle=line, label=name,
            markersize=6 + 2 * MARKERS.index(marker), markerfacecolor="none",
        )  # fmt: skip
    left.set_xticks(replicas)
    left.set(
        xlabel="simulated replicas", ylabel="first step / one device's", ylim=(0, None)
    )
    left.legend(fontsize=8)
    styles = (("o", GREY), ("-", BLUE), ("--", RED))
    for (name, losses), (line, colour) in zip(curves.items(), styles, strict=True):
        steps = range(1, len(losses) + 1)
        right.plot(steps, losses, line, color=colour, markerfacecolor="none", label=name)
    right.set(xlabel=f"step, on {replicas[-1]} simulated replicas", ylabel="mean loss")
    right.set_ylim(0, None)
    right.legend(fontsize=8)
    return figure


def epoch_curves(history):
    """Loss and accuracy of training and validation, epoch by epoch.

    Parameters
    ----------
    history : dict of str to list of float
        `loss`, `accuracy`, `valid_loss`, `valid_accuracy`: a value per epoch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, both = plt.subplots(1, 2, figsize=(9, 3.6))
    for axes, what in zip(both, ("loss", "accuracy"), strict=True):
        for name, label, style in (
            (what, "training", {"color": BLUE, "marker": "o", "linestyle": "-"}),
            (f"valid_{what}", "validation", {"color": ORANGE, "marker": "s", "ls": "--"}),
        ):
            axes.plot(range(1, len(history[name]) + 1), history[name], label=label, **style)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set(xlabel="epoch", ylabel=what, ylim=(0, None))
    both[1].legend()
    return figure
