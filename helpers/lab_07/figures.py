"""The figures of lab 07: TPU cores."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, ORANGE, RED


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
        What the student expected, drawn as a line; None: there is no prediction.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    style: dict = {"color": BLUE, "marker": "o", "markersize": 4}
    axes.plot(wall_seconds, accuracy, label="measured, a marker for each epoch", **style)
    axes.axhline(target, color=RED, linewidth=1, label=f"target {target:g}")
    if guess is not None:
        axes.axhline(guess, color=ORANGE, linestyle="--", label=f"your guess {guess:g}")
    axes.set(xlabel="wall time, tests included [s]", ylabel="test accuracy")
    # An accuracy has no more than 1 to reach, and a marker there is drawn whole.
    lowest = min([*accuracy, target, 1 if guess is None else guess])
    axes.set(xlim=(0, None), ylim=(max(0, lowest - 0.05), 1.005))
    axes.legend(loc="lower right")
    return figure


def prediction_grid(
    images: np.ndarray,
    labels: np.ndarray,
    predicted: np.ndarray,
    classes: Sequence[str],
    side: int = 5,
) -> plt.Figure:
    """Images with predicted and true class; right and wrong have marks and frames.

    Parameters
    ----------
    images : array, shape (n, height, width, 1)
    labels, predicted : array, shape (n,)
    classes : sequence of str
    side : int
        Rows and columns; so `side` squared images are shown.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(side, side, figsize=(8, 8.6))
    shown = zip(axes.flat, images, labels, predicted, strict=False)
    for axis, image, label, said in shown:
        right = label == said
        axis.imshow(image[..., 0], cmap="gray_r")
        axis.set(xticks=[], yticks=[])
        title = f"{'✓' if right else '✗'} {classes[said]}\nis {classes[label]}"
        # A solid thin frame or a dashed thick one: colour alone is not enough.
        colour, width, line = (BLUE, 1, "-") if right else (RED, 4, (0, (2, 1)))
        axis.set_title(title, fontsize=9, color=colour)
        axis.spines[:].set(color=colour, linewidth=width, linestyle=line, capstyle="butt")
    return figure
