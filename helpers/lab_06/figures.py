"""The figures of lab 06: many GPUs with a hand-written loop."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, VIOLET, guess_label


def step_lengths(
    replicas: Sequence[int],
    lengths: Mapping[str, Sequence[float]],
    curves: Mapping[str, Sequence[float]],
    guess: Mapping[str, float] | None = None,
) -> plt.Figure:
    """The first step's length by replicas, and the loss of every step of SGD.

    Parameters
    ----------
    replicas : list of int
    lengths : dict of str to list of float
        In multiples of one device's, for each number of replicas.
    curves : dict of str to list of float
        Mean loss of every step: one device, the right loss, then wrong ones.
    guess : dict of str to float, optional
        The predicted length on four replicas with the wrong loss, by optimizer.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    colours = (BLUE, VIOLET, GREEN, ORANGE)
    styles = list(zip(colours, MARKERS, LINES, strict=False))
    for (name, values), (colour, marker, line) in zip(lengths.items(), styles, strict=True):
        # Hollow, and larger from curve to curve, because some curves coincide.
        left.plot(
            replicas, values, color=colour, marker=marker, linestyle=line, label=name,
            markersize=6 + 2 * MARKERS.index(marker), markerfacecolor="none",
        )  # fmt: skip
    for (name, times), marker in zip((guess or {}).items(), "x+", strict=False):
        label = guess_label(f", {name}")
        left.plot([4], [times], color="black", marker=marker, ls="", ms=9, label=label)
    left.set_xticks(replicas)
    left.set(
        xlabel="simulated replicas",
        ylabel="length of the first step (one device: 1)",
        ylim=(0, None),
    )
    left.legend()
    wrong = list(zip((VIOLET, ORANGE, GREEN), ("--", "-.", ":"), strict=True))
    styles = [(GREY, "o"), (BLUE, "-"), *wrong]
    for (name, losses), (colour, line) in zip(curves.items(), styles, strict=False):
        steps = range(1, len(losses) + 1)
        right.plot(steps, losses, line, color=colour, markerfacecolor="none", label=name)
    right.set(xlabel="step", ylabel="mean loss", ylim=(0, None))
    right.legend(loc="lower left")  # free: losses fall, and some leap later
    return figure


def epoch_curves(
    history: Mapping[str, Sequence[float]], guess: float | None = None
) -> plt.Figure:
    """Accuracy of training and validation by epoch, beside the one that was predicted.

    Parameters
    ----------
    history : dict of str to list of float
        `accuracy`, `valid_accuracy`: a value per epoch.
    guess : float, optional
        The predicted validation accuracy after the last epoch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    epochs = range(1, len(history["accuracy"]) + 1)
    axes.plot(epochs, history["accuracy"], "o-", color=BLUE, label="training")
    axes.plot(epochs, history["valid_accuracy"], "s--", color=ORANGE, label="validation")
    if guess is not None:
        axes.plot(epochs[-1], guess, "x", color="black", ms=9, label=guess_label())
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="epoch", ylabel="accuracy", ylim=(0, 1))
    axes.legend()
    return figure
