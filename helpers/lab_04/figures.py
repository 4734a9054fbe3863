"""The figures of lab 04: a custom training loop."""

from collections.abc import Mapping, Sequence
from statistics import median

import matplotlib.pyplot as plt

from helpers.figures import BLUE, ORANGE, VIOLET, guess_label


def text_lengths(lengths: Sequence[int], words: int) -> plt.Figure:
    """How many texts have how many words, and where they are cut.

    Parameters
    ----------
    lengths : sequence of int
        Words of each text.
    words : int
        Longer ones are cut here.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    axes.hist(lengths, bins=range(0, 1001, 20), color=BLUE, alpha=0.75)
    axes.axvline(words, color=VIOLET, linestyle="--", label=f"cut at {words} words")
    axes.set(xlabel="length [words]", ylabel="newswires", xlim=(0, 1000))
    axes.legend()
    return figure


def learning_curves(
    by_loop: Mapping[str, Sequence[float]], by_fit: Mapping[str, Sequence[float]]
) -> plt.Figure:
    """Loss and accuracy of two trainings, epoch by epoch, side by side.

    Parameters
    ----------
    by_loop, by_fit : dict of str to list of float
        `loss`, `accuracy`, `valid_loss`, `valid_accuracy`: a value per epoch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, both = plt.subplots(1, 2, figsize=(9, 3.8))
    for axes, what in zip(both, ("loss", "accuracy"), strict=True):
        for name, text, colour in (
            (what, "training", BLUE),
            (f"valid_{what}", "validation", ORANGE),
        ):
            epochs = range(1, len(by_loop[name]) + 1)
            axes.plot(
                epochs, by_loop[name], "-", color=colour, linewidth=2, label=f"{text}, loop"
            )
            # Hollow and larger, so that both are visible where they agree.
            axes.plot(
                epochs, by_fit[name], "o" if text == "training" else "s", color=colour,
                markerfacecolor="none", markersize=8, label=f"{text}, fit", clip_on=False,
            )  # fmt: skip
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set(xlabel="epoch", ylabel=what, ylim=(0, 1 if what == "accuracy" else None))
    both[1].legend()
    return figure


def step_modes(
    milliseconds: Mapping[str, Sequence[float]],
    speed_ups: Mapping[str, float] | None = None,
) -> plt.Figure:
    """Time of a step in each mode, beside the time that the student's speed-ups predict.

    Parameters
    ----------
    milliseconds : dict of str to list of float
        Several measurements by mode: a bar for the median, a line from the fastest to
        the slowest.
    speed_ups : dict of str to float, optional
        Predicted, by mode; a speed-up of 2 is half of eager's time.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    medians = {mode: median(times) for mode, times in milliseconds.items()}
    below = [medians[mode] - min(times) for mode, times in milliseconds.items()]
    above = [max(times) - medians[mode] for mode, times in milliseconds.items()]
    bars = axes.bar(
        list(medians), list(medians.values()), 0.6, color=BLUE,
        yerr=(below, above), capsize=6, error_kw={"label": "fastest to slowest"},
    )  # fmt: skip
    axes.bar_label(bars, fmt="%.1f", padding=6)
    top = max(max(times) for times in milliseconds.values())
    guesses = {mode: factor for mode, factor in (speed_ups or {}).items() if factor > 0}
    if guesses:
        predicted = [medians["eager"] / factor for factor in guesses.values()]
        axes.plot(list(guesses), predicted, "D", color=ORANGE, label=guess_label())
        # Bars stay readable, however far off a prediction is.
        top = max([top, *(value for value in predicted if value < 2 * top)])
    axes.set(ylabel="time of a step [ms]", ylim=(0, 1.15 * top))
    axes.legend(loc="upper center")
    return figure
