"""The figures of lab 01: gradient descent."""

from collections.abc import Callable, Mapping

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, VIOLET, guess_label

# Lowest and highest slope, lowest and highest intercept.
Box = tuple[tuple[float, float], tuple[float, float]]


def points_and_lines(
    x: np.ndarray, y: np.ndarray, lines: Mapping[str, tuple[float, float] | np.ndarray]
) -> plt.Figure:
    """Points, and straight lines through them.

    Parameters
    ----------
    x, y : array, shape (n,)
    lines : dict of str to pair of float
        Slope and intercept by the line's name.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    axes.plot(x, y, "o", color=GREY, markersize=3, alpha=0.6, label="points")
    ends = np.array([np.min(x), np.max(x)])
    styles = zip((BLUE, ORANGE, GREEN), LINES, strict=False)
    for (name, (slope, intercept)), (colour, line) in zip(
        lines.items(), styles, strict=False
    ):
        axes.plot(
            ends, slope * ends + intercept, line, color=colour, linewidth=2, label=name
        )
    axes.set(xlabel="x", ylabel="y")
    # Above the axes, because inside it would cover points.
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    return figure


def loss_surface(axes: plt.Axes, loss: Callable, box: Box, side: int = 60) -> None:
    """Draw a loss of two weights as contours, darker where it is lower.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    loss : callable
        From the weights (slope, intercept) to a number.
    box : pair of pair of float
        Lowest and highest slope, lowest and highest intercept.
    side : int
        Number of slopes, and of intercepts, at which the loss is computed.
    """
    slopes, intercepts = (np.linspace(*ends, side) for ends in box)
    heights = [[loss(np.array([s, i])) for s in slopes] for i in intercepts]
    # The levels follow the losses, so they suit steep and flat surfaces alike. More of them
    # are at low losses, where a path ends.
    levels = np.quantile(heights, np.linspace(0, 1, 12) ** 1.5)
    blues = mpl.colormaps["Blues_r"](np.linspace(0.25, 0.95, len(levels) - 1))
    axes.contourf(slopes, intercepts, heights, levels, colors=blues)
    lines = axes.contour(slopes, intercepts, heights, levels, colors=GREY, linewidths=0.6)
    axes.clabel(lines, levels[2:-1:3], fmt="%.3g", fontsize=7)
    axes.set(xlabel="slope", ylabel="intercept", xlim=box[0], ylim=box[1])
    # Scales are equal: else no path would cross the contours at a right angle.
    (left, right), (low, high) = box
    axes.set_box_aspect((high - low) / (right - left))
    axes.grid(visible=False)


def path_on(axes: plt.Axes, path: np.ndarray, label: str) -> tuple[plt.Line2D, plt.Line2D]:
    """Draw a path of the weights: a square where it starts, a cross where it ends.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    path : array, shape (steps + 1, 2)
    label : str

    Returns
    -------
    tuple of matplotlib.lines.Line2D
        The path and its end, to be moved later.
    """
    style: dict = {"color": VIOLET, "markeredgecolor": "black"}
    (line,) = axes.plot(*path.T, ".-", color=VIOLET, linewidth=1, markersize=4, label=label)
    axes.plot(*path[0], "s", markersize=7, label="start", **style)
    (end,) = axes.plot(*path[-1], "X", markersize=9, label="end", **style)
    return line, end


def descent_paths(loss: Callable, paths: Mapping[str, np.ndarray], box: Box) -> plt.Figure:
    """Paths of gradient descent on the contours of their loss, a panel for each.

    Parameters
    ----------
    loss, box
        As `loss_surface` takes them.
    paths : dict of str to array, shape (steps + 1, 2)
        By the title of the panel.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, panels = plt.subplots(
        1, len(paths), figsize=(9.6, 4.5), sharey=True, squeeze=False
    )
    for axes, (name, path) in zip(panels.flat, paths.items(), strict=True):
        loss_surface(axes, loss, box)
        path_on(axes, until_it_is_lost(path, box), "path")
        axes.set_title(name, fontsize=9)
        axes.label_outer()
    # Above the panels, because inside it would cover a path.
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=7, loc="outside upper left", ncols=3)
    return figure


def until_it_is_lost(path: np.ndarray, box: Box) -> np.ndarray:
    """The path until it is far outside the box, where more steps would cover everything.

    Parameters
    ----------
    path : array, shape (steps + 1, 2)
    box
        As `loss_surface` takes it.

    Returns
    -------
    array, shape (some of the steps + 1, 2)
    """
    low, high = np.array(box).T
    outside = np.maximum(low - path, path - high) / (high - low)
    lost = np.flatnonzero(outside.max(axis=1) > 0.5)
    return path[: lost[0] + 1] if len(lost) else path


def loss_by_epoch(
    curves: Mapping[int, np.ndarray], lowest: float, guess: float | None = None
) -> plt.Figure:
    """Loss over all points after each epoch: median and middle 80% for each batch size.

    Parameters
    ----------
    curves : dict of int to array, shape (shuffles, epochs + 1)
        Loss before the first epoch and after each, by batch size.
    lowest : float
        The lowest loss there is.
    guess : float, optional
        The student's prediction of the loss after one epoch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    styles = zip((BLUE, VIOLET, GREEN), MARKERS, LINES, strict=False)
    for (size, losses), (colour, marker, line) in zip(curves.items(), styles, strict=False):
        low, middle, high = np.quantile(losses, (0.1, 0.5, 0.9), axis=0)
        axes.fill_between(range(len(middle)), low, high, color=colour, alpha=0.3)
        style = {"color": colour, "marker": marker, "markersize": 5}
        axes.semilogy(middle, line, label=f"batch size {size}", **style)
    axes.axhline(lowest, color=GREY, linestyle=":", label="lowest possible")
    if guess is not None:
        axes.plot(1, guess, "*", color=ORANGE, markersize=14, label=guess_label())
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="epoch", ylabel="mean squared error, all points")
    axes.legend()
    return figure


def batch_losses(curves: Mapping[str, np.ndarray]) -> plt.Figure:
    """The loss that each step saw, a panel for each training.

    Parameters
    ----------
    curves : dict of str to array, shape (steps,)
        Mean loss of each step's batch.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, panels = plt.subplots(1, len(curves), figsize=(9.6, 3), sharey=True)
    for axes, (name, losses) in zip(panels, curves.items(), strict=True):
        axes.semilogy(losses, color=BLUE, linewidth=0.7, label=f"training {name}")
        axes.set_title(name, fontsize=10)
        axes.set(xlabel="step")
    # By chance an example may lie on the line, and its tiny loss would stretch the axis.
    panels[0].set(ylabel="loss of the batch", ylim=(1e-3, None))
    return figure


def steps_needed(
    needed: Mapping[str, Mapping[int, float]],
    scales: Mapping[str, float],
    guess: Mapping[str, float] | None = None,
) -> plt.Figure:
    """Steps that replace an exact one, by batch size: measured, and by the law.

    Parameters
    ----------
    needed : dict of str to dict of int to float
        Measured steps by batch size, by place.
    scales : dict of str to float
        The noise scale by place.
    guess : dict of str to float, optional
        The student's predictions of the noise scales.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    styles = zip(needed, (BLUE, VIOLET), MARKERS, LINES, strict=False)
    for place, colour, marker, line in styles:
        sizes, steps = zip(*needed[place].items(), strict=True)
        more = np.geomspace(min(sizes), max(sizes), 2 * len(sizes) - 1)
        law = 1 + scales[place] / more
        axes.loglog(more, law, line, color=colour, label=f"{place}: 1 + B / b")
        dots = {"color": colour, "marker": marker, "markersize": 7, "linestyle": ""}
        axes.loglog(sizes, steps, label=f"{place}: measured", **dots)
        if guess and place in guess:
            # Where the law says 2, the batch is as large as the noise scale.
            star: dict = {"color": colour, "markeredgecolor": "black", "markersize": 15}
            axes.plot(guess[place], 2, "*", label=f"{place}: your B", **star)
    axes.axhline(2, color=GREY, linestyle=":", label="b = B: twice the minimum")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set(xlabel="batch size", ylabel="steps in place of one exact step")
    axes.legend()
    return figure
