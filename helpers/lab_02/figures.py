"""The figures of lab 02: throughput."""

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, ORANGE, RED


def throughput_bars(points, guess, fitted, original):
    """Bars of images per second by batch size, with prediction and fit.

    Parameters
    ----------
    points : dict of int to float or None
        Images per second by batch size; None is drawn as "did not fit".
    guess : dict of int to float
        The student's prediction, made before measuring.
    fitted : callable or None
        Images per second as a function of the batch size.
    original : dict of int to float
        The table that the original lab printed; its GPU is not stated.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    sizes = sorted(set(points) | set(guess))
    where = {size: i for i, size in enumerate(sizes)}
    for size, value in points.items():
        if value is None:
            axes.text(where[size], 0, " did not fit", rotation=90, ha="center")
    measured = {size: value for size, value in points.items() if value}
    axes.bar(
        [where[size] for size in measured],
        list(measured.values()),
        color=BLUE,
        alpha=0.75,
        label="measured here",
    )
    lines = [("your prediction", guess, ORANGE, "o--")]
    if fitted:
        lines.append(("fit", {size: fitted(size) for size in measured}, GREEN, "D-"))
    shown = {size: value for size, value in original.items() if size in where}
    lines.append(("original lab, GPU not stated", shown, RED, "^:"))
    for label, values, colour, style in lines:
        places = [where[size] for size in sorted(values)]
        heights = [values[size] for size in sorted(values)]
        axes.plot(places, heights, style, color=colour, label=label)
    axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axes.set(xlabel="batch size [images]", ylabel="throughput [images/s]", ylim=(0, None))
    axes.legend()
    return figure


def step_times(step_seconds):
    """Seconds of a training step against its batch size, as points.

    Parameters
    ----------
    step_seconds : dict of int to float
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    axes.plot(list(step_seconds), list(step_seconds.values()), "o", color=BLUE)
    axes.set(xlabel="batch size [images]", ylabel="time of a step [s]")
    axes.set(xlim=(0, None), ylim=(0, None))
    return figure
