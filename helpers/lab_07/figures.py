"""The figures of lab 07: TPU cores."""

from collections.abc import Sequence

import matplotlib.pyplot as plt

from helpers.figures import BLUE, ORANGE, VIOLET


def accuracy_by_epoch(
    wall_seconds: Sequence[float],
    accuracy: Sequence[float],
    target: float,
    guess: float | None = None,
) -> plt.Figure:
    """Test accuracy of one training against its wall time, a marker for each epoch.

    Parameters
    ----------
    wall_seconds, accuracy : list of float
        After every epoch.
    target : float
        Drawn as a line.
    guess : float, optional
        The student's prediction, drawn as a line; None if there is no prediction.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    style: dict = {"color": BLUE, "marker": "o", "markersize": 4}
    axes.plot(wall_seconds, accuracy, label="measured, a marker for each epoch", **style)
    axes.axhline(target, color=VIOLET, linewidth=1, label=f"target {target:g}")
    if guess is not None:
        axes.axhline(guess, color=ORANGE, linestyle="--", label=f"your guess {guess:g}")
    axes.set(xlabel="wall time, tests included [s]", ylabel="test accuracy")
    # An accuracy is at most 1, and a marker at 1 must be drawn whole.
    lowest = min([*accuracy, target, 1 if guess is None else guess])
    axes.set(xlim=(0, None), ylim=(max(0, lowest - 0.05), 1.005))
    axes.legend(loc="lower right")
    return figure


def kernel_on_meshes(
    shape: tuple[int, int], panels: dict[str, list[list[tuple[int, int]]]]
) -> plt.Figure:
    """A matrix as it is cut on several meshes: blocks with the numbers of their devices.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns of the matrix.
    panels : dict of list
        By title: for each device its rows and its columns, as (start, stop).

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, all_axes = plt.subplots(1, len(panels), sharey=True, squeeze=False)
    colours = plt.get_cmap("cividis")
    for axes, (title, parts) in zip(all_axes.flat, panels.items(), strict=True):
        holders: dict = {}
        for device, part in enumerate(parts):
            holders.setdefault(tuple(map(tuple, part)), []).append(str(device))
        for number, ((rows, columns), devices) in enumerate(holders.items()):
            width, height = columns[1] - columns[0], rows[1] - rows[0]
            face = colours(0.55 + 0.45 * number / len(holders))  # dark text on light blocks
            block = plt.Rectangle(
                (columns[0], rows[0]), width, height, facecolor=face, edgecolor="black"
            )
            axes.add_patch(block)
            # In a narrow block the devices are listed one below the other.
            text = ("\n" if width < shape[1] / 2 else ", ").join(devices)
            centre = columns[0] + width / 2, rows[0] + height / 2
            axes.text(*centre, text, ha="center", va="center")
        axes.set(xlim=(0, shape[1]), ylim=(shape[0], 0), xlabel="column", title=title)
        axes.grid(False)
    all_axes[0, 0].set_ylabel("row")
    return figure
