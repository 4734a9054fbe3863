"""The figures of lab 05: many GPUs with fit."""

from collections.abc import Mapping, Sequence
from statistics import median

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, VIOLET, guess_label


def learning_rates(rates: Mapping[str, Sequence[float]]) -> plt.Figure:
    """Learning rates by step, one line each.

    Parameters
    ----------
    rates : dict of str to list of float
        The rate at steps 0, 1, 2, ... by a name for the line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    for i, (name, values) in enumerate(rates.items()):
        colour = (BLUE, ORANGE, GREEN, VIOLET)[i % 4]
        axes.plot(values, color=colour, linestyle=LINES[i % len(LINES)], label=name)
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.legend()
    return figure


def weight_differences(
    differences: Mapping[str, float], guess: float | None = None
) -> plt.Figure:
    """Largest difference of a weight on a logarithmic axis, one bar per network.

    Parameters
    ----------
    differences : dict of str to float
    guess : float, optional
        What the student expects of the second bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    names = list(differences)
    axes.barh(names, [max(value, 1e-9) for value in differences.values()], color=BLUE)
    if guess is not None and guess > 0:
        axes.plot(guess, names[1], "D", color=ORANGE, markersize=9, label=guess_label())
    axes.axvline(1e-3, color=GREY, linestyle=":", label="below this: called the same")
    right = max(1, *differences.values(), guess or 0)
    axes.set(xscale="log", xlabel="largest difference of a weight", xlim=(1e-9, right))
    axes.invert_yaxis()
    axes.legend()
    return figure


def scaling(
    efficiency: Mapping[str, Mapping[int, float]],
    guess: Mapping[str, float] | None = None,
    cores: int | None = None,
) -> plt.Figure:
    """Efficiency by number of replicas, of weak and of strong scaling.

    Parameters
    ----------
    efficiency : dict of str to dict of int to float
        By kind of scaling, then by number of replicas; 1.0 is perfect.
    guess : dict of str to float, optional
        What the student expects of all replicas, by kind; a kind may be missing.
    cores : int, optional
        The cores that simulated replicas share.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    guess = guess or {}
    axes.axhline(1, color=GREY, linestyle=":", label="perfect")
    for i, (kind, row) in enumerate(efficiency.items()):
        counts = list(row)
        axes.plot(
            counts, list(row.values()), color=(BLUE, GREEN)[i], linestyle=LINES[i],
            marker=MARKERS[i], label=f"{kind} scaling",
        )  # fmt: skip
        if kind in guess:
            axes.plot(
                counts[-1], guess[kind], MARKERS[i], color=ORANGE, markersize=10,
                markerfacecolor="none", label=guess_label(f", {kind}"),
            )  # fmt: skip
    if cores and cores < counts[-1]:
        label = f"more simulated replicas than the {cores} cores"
        axes.axvspan(cores + 0.1, counts[-1] + 0.1, color=GREY, alpha=0.15, label=label)
    axes.set_xticks(counts)
    highest = max(1, *(v for row in (*efficiency.values(), guess) for v in row.values()))
    axes.set(xlabel="replicas", ylabel="efficiency", ylim=(0, 1.1 * highest))
    axes.legend()
    return figure


def accuracy_by_rate(
    accuracies: Mapping[str, Mapping[float, Sequence[float]]],
    rule: Mapping[str, float],
    target: float | None = None,
) -> plt.Figure:
    """Validation accuracy by learning rate; a line per recipe, a point per run.

    Parameters
    ----------
    accuracies : dict of str to dict of float to list of float
        Of each run, by recipe and learning rate; the line goes through the medians.
    rule : dict of str to float
        The learning rate of the linear rule, by recipe.
    target : float, optional
        The accuracy to reach, as a line across the figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    colours = (GREY, BLUE, ORANGE, GREEN)
    for i, (name, row) in enumerate(accuracies.items()):
        # Side by side, so that no point hides one of another recipe.
        beside = 1.05 ** (i - (len(accuracies) - 1) / 2)
        colour = colours[i % len(colours)]
        axes.plot(
            [rate * beside for rate in row], [median(values) for values in row.values()],
            color=colour, linestyle=LINES[i % len(LINES)], label=f"{name}, median",
        )  # fmt: skip
        for rate, values in row.items():
            axes.plot(
                [rate * beside] * len(values), values, MARKERS[i], color=colour,
                markersize=5, label=f"_{name}, each run",
            )  # fmt: skip
        axes.plot(
            rule[name] * beside, 0.03, "^", color=colour, markersize=9,
            label=f"_linear rule, {name}",
        )  # fmt: skip
    if target is not None:
        axes.axhline(target, color=VIOLET, linewidth=1, linestyle="--", label="target")
    axes.axhline(0.1, color=GREY, linewidth=1, linestyle=":", label="guessing")
    axes.set_xscale("log", base=2)
    rates = sorted({rate for row in accuracies.values() for rate in row})
    axes.set_xticks(rates, [f"{rate:.4f}" for rate in rates], fontsize=8)
    axes.minorticks_off()
    axes.set(xlabel="learning rate", ylabel="validation accuracy", ylim=(0, 1))
    axes.legend(loc="center left")
    return figure
