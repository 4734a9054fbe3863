"""Lab 01's sliders: how a path of gradient descent depends on the settings."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from callbacks.live.place import in_jupyterlab
from helpers.figures import show_beside, show_figure
from helpers.lab_01.figures import Box, descent_paths, loss_surface, path_on
from helpers.notebook.players import play_through

if TYPE_CHECKING:
    import ipywidgets as widgets

DRAW = "Draw step by step"


def explore(
    train: Callable,
    loss: Callable,
    settings: list[tuple[float, int]],
    steps: int,
    box: Box,
    caption: str,
) -> None:
    """Show paths on the contours of their loss, with sliders or at given settings.

    In JupyterLab there are sliders for the learning rate, the batch size and the steps
    drawn, and a button that draws the path step by step. Elsewhere the figure has one
    panel per setting.

    Parameters
    ----------
    train : callable
        ``train(learning_rate, batch_size, steps) -> path``, an array of shape
        (steps + 1, 2): slope and intercept before the first step and after each.
    loss : callable
        From the weights (slope, intercept) to the loss over all points.
    settings : list of pair
        Learning rate and batch size of each panel. The sliders start at the last pair, and
        end at the largest of the batch sizes.
    steps : int
        Number of steps of each path.
    box : pair of pair of float
        The area to draw: lowest and highest slope, lowest and highest intercept.
    caption : str
        As `show_figure` takes it.
    """
    paths = {setting: train(*setting, steps) for setting in settings}
    texts = [f"{name_of(*setting)}: {outcome(paths[setting], loss)}" for setting in paths]
    if in_jupyterlab():
        moved = []  # called with the outcome after each change
        figure, controls = live(train, loss, settings, steps, box, moved)
        moved.append(show_beside(controls, figure, texts[-1], caption))
    else:
        panels = {
            name_of(*setting).replace(", ", "\n"): path for setting, path in paths.items()
        }
        figure = descent_paths(loss, panels, box)
        show_figure(figure, "\n".join(texts), caption)


def live(
    train: Callable,
    loss: Callable,
    settings: list[tuple[float, int]],
    steps: int,
    box: Box,
    moved: Sequence[Callable] = (),
) -> "tuple[plt.Figure, widgets.VBox]":
    """A figure with one path, and the widgets that change it; arguments as in `explore`.

    After every change, each function in `moved` is called with the new outcome.

    Returns
    -------
    figure : matplotlib.figure.Figure
    controls : ipywidgets.VBox
        The sliders, a button that starts or stops drawing step by step, and the
        outcome as text.
    """
    import ipywidgets as widgets

    rate_now, size_now = settings[-1]
    most = max(size for _, size in settings)
    sizes = sorted(
        {2**i for i in range(most.bit_length()) if 2**i < most} | {most, size_now}
    )
    wide = {
        "layout": {"width": "23em", "max_width": "calc(100% - 4px)"},
        "style": {"description_width": "7em"},
    }
    rate = widgets.FloatLogSlider(
        rate_now, min=-3, max=0.25, step=0.05, description="learning rate", **wide
    )
    size = widgets.SelectionSlider(
        options=sizes, value=size_now, description="batch size", **wide
    )
    drawn = widgets.IntSlider(steps, min=0, max=steps, description="steps drawn", **wide)
    path = train(rate.value, size.value, steps)
    play, button = play_through(drawn, DRAW, 150)
    text = widgets.HTML()
    text.add_class("labs-descent-text")

    figure, axes = plt.subplots(figsize=(5, 4.7))
    loss_surface(axes, loss, box)
    line, end = path_on(axes, path, "path")
    axes.legend(loc="upper right", frameon=True, framealpha=0.85)

    def draw(change=None):
        path_so_far = path[: drawn.value + 1]
        line.set_data(*path_so_far.T)
        end.set_data(*path_so_far[-1:].T)
        result = f"{name_of(rate.value, size.value)}: {outcome(path_so_far, loss)}."
        # While a path is drawn, a screen reader does not read out every step.
        text.value = result if play.playing and drawn.value < steps else _announced(result)
        figure.canvas.draw_idle()
        for tell in moved:
            tell(result)

    def train_again(change):
        nonlocal path
        path = train(rate.value, size.value, steps)
        draw()

    rate.observe(train_again, "value")
    size.observe(train_again, "value")
    drawn.observe(draw, "value")
    play.observe(draw, "playing")
    draw()
    parts = [rate, size, drawn, button, play, text]
    controls = widgets.VBox(parts, layout={"width": "24em", "max_width": "100%"})
    controls.add_class("labs-descent")
    return figure, controls


def name_of(learning_rate: float, batch_size: int) -> str:
    """A setting in words: "learning rate 0.1, batch size 16"."""
    return f"learning rate {learning_rate:.3g}, batch size {batch_size}"


def outcome(path: np.ndarray, loss: Callable) -> str:
    """Say where a path led: the loss at its end, and whether it was thrown out.

    Parameters
    ----------
    path : array, shape (steps + 1, 2)
    loss : callable

    Returns
    -------
    str
    """
    steps = len(path) - 1
    first, last = loss(path[0]), loss(path[-1])
    if thrown_out(path, loss):
        highest = max(map(loss, path))
        return (
            f"thrown out, up to {highest / first:.1e} times the first loss, "
            f"{last / first:.1e} times after {steps} steps"
        )
    return f"loss {last:.3f} after {steps} steps, {first:.3f} at the start"


def thrown_out(path: np.ndarray, loss: Callable) -> bool:
    """Whether the loss is anywhere more than ten times what it is at the start.

    A path that diverges is thrown out, but a path that is thrown out may come back.

    Parameters
    ----------
    path : array, shape (steps + 1, 2)
    loss : callable

    Returns
    -------
    bool
    """
    return any(loss(weights) > 10 * loss(path[0]) for weights in path)


def _announced(text):
    """Make text an alert: screen readers announce no other new live regions."""
    return f'<div role="alert">{text}</div>'
