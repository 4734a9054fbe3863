"""The figures of lab 05: many GPUs with fit."""

import statistics

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, RED


def learning_rates(rates):
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
        colour = (BLUE, ORANGE, GREEN, RED)[i % 4]
        axes.plot(values, color=colour, linestyle=LINES[i % len(LINES)], label=name)
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.legend()
    return figure


def weight_differences(differences, guess):
    """Largest difference of a weight on a logarithmic axis, one bar per network.

    Parameters
    ----------
    differences : dict of str to float
    guess : float
        What the student expects of the second bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    names = list(differences)
    axes.barh(names, [max(value, 1e-9) for value in differences.values()], color=BLUE)
    axes.plot(guess, names[1], "D", color=ORANGE, markersize=9, label="your guess")
    axes.axvline(1e-6, color=GREY, linestyle=":", label="about what rounding does")
    axes.set(xscale="log", xlabel="largest difference of a weight", xlim=(1e-9, 1))
    axes.invert_yaxis()
    axes.legend(fontsize=8)
    return figure


def scaling(points, guess, real):
    """Throughput by number of replicas, beside the ideal line.

    Parameters
    ----------
    points : dict of int to float
        Images per second by number of replicas.
    guess : float
        Images per second that the student expects of all replicas.
    real : int
        How many replicas have their own device or core.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    counts = sorted(points)
    one = points[counts[0]] / counts[0]
    axes.plot(counts, [one * n for n in counts], ":", color=GREY, label="ideal")
    axes.plot(counts, [points[n] for n in counts], "o-", color=BLUE, label="measured")
    axes.plot(counts[-1], guess, "D", color=ORANGE, label="your guess")
    for n in counts:
        label = f"{points[n] / (one * n):.0%}"
        axes.annotate(label, (n, points[n]), textcoords="offset points", xytext=(5, -14))
    if real < counts[-1]:
        axes.axvspan(
            real + 0.05 * real, counts[-1] * 1.05, color=GREY, alpha=0.15,
            label="more replicas than cores: simulated",
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.set(xlabel="replicas", ylabel="throughput [images/s]", ylim=(0, None))
    axes.legend()
    return figure


def accuracy_by_batch(accuracies, guess):
    """Validation accuracy by global batch size; a line per recipe, a marker per run.

    Parameters
    ----------
    accuracies : dict of str to dict of int to list of float
        Of each run, by recipe and global batch size; the line goes through the medians.
    guess : str
        The recipe that the student expects to be best at the largest batch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    colours = (GREY, BLUE, ORANGE, GREEN)
    for i, (name, row) in enumerate(accuracies.items()):
        axes.plot(
            list(row), [statistics.median(values) for values in row.values()],
            color=colours[i], linestyle=LINES[i], marker=MARKERS[i],
            label=name + (" (your guess)" if name == guess else ""),
        )  # fmt: skip
        for size, values in row.items():
            axes.plot(
                [size] * len(values), values, MARKERS[i], color=colours[i],
                markerfacecolor="none", label=f"_{name}, each run",
            )  # fmt: skip
    sizes = list(row)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set(xlabel="global batch [images]", ylabel="validation accuracy", ylim=(0, 1))
    axes.legend()
    return figure
