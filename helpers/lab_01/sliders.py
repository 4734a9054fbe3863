"""Lab 01's sliders: how a path of gradient descent depends on the settings."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from callbacks.live.place import in_jupyterlab
from helpers.figures import show_beside, show_figure
from helpers.lab_01.figures import Box, descent_paths, loss_surface, path_on

if TYPE_CHECKING:
    import ipywidgets as widgets


def explore(
    train: Callable,
    loss: Callable,
    settings: list[tuple[float, int]],
    steps: int,
    box: Box,
    caption: str,
) -> None:
    """Show paths on the contours of their loss: with sliders, or at some settings.

    In JupyterLab there are sliders for the learning rate, the batch size and the steps
    drawn, and a button that draws the path step by step. Elsewhere the figure has a
    panel for each of the settings.

    Parameters
    ----------
    train : callable
        ``train(learning_rate, batch_size, steps) -> path``, an array of shape
        (steps + 1, 2): slope and intercept before the first step and after each.
    loss : callable
        From the weights (slope, intercept) to the loss over all points.
    settings : list of pair
        Learning rate and batch size of each panel; the sliders start at the last. The
        largest batch size is the largest on the slider.
    steps : int
        Of each path.
    box : pair of pair of float
        What is drawn: lowest and highest slope, lowest and highest intercept.
    caption : str
        As `show_figure` takes it.
    """
    paths = {setting: train(*setting, steps) for setting in settings}
    texts = [f"{name_of(*setting)}: {outcome(paths[setting], loss)}" for setting in paths]
    if in_jupyterlab():
        moved = []  # called with the outcome after each change
        figure, controls = live(train, loss, settings, steps, box, moved)
        moved.append(show_beside(controls, figure, "\n".join(texts), caption))
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

    `moved` has functions: each is given the outcome after every change.

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
    wide = {"layout": {"width": "23em"}, "style": {"description_width": "7em"}}
    rate = widgets.FloatLogSlider(
        rate_now, min=-3, max=0.25, step=0.05, description="learning rate", **wide
    )
    size = widgets.SelectionSlider(
        options=sizes, value=size_now, description="batch size", **wide
    )
    drawn = widgets.IntSlider(steps, min=0, max=steps, description="steps drawn", **wide)
    path = train(rate.value, size.value, steps)
    # It counts in the browser. Its own buttons have no names: another one starts it.
    play = widgets.Play(steps, min=0, max=steps, interval=150, layout={"display": "none"})
    widgets.link((play, "value"), (drawn, "value"))
    button = widgets.Button(description="Draw step by step", layout={"width": "11em"})
    text = widgets.HTML()
    text.add_class("labs-descent-text")

    figure, axes = plt.subplots(figsize=(5, 4.7))
    loss_surface(axes, loss, box)
    line, end = path_on(axes, path, "path")
    axes.legend(loc="upper right", fontsize=8)

    def draw(change=None):
        shown = path[: drawn.value + 1]
        line.set_data(*shown.T)
        end.set_data(*shown[-1:].T)
        result = f"{name_of(rate.value, size.value)}: {outcome(shown, loss)}."
        # While a path is drawn, a screen reader does not read out every step.
        text.value = result if play.playing and drawn.value < steps else _announced(result)
        figure.canvas.draw_idle()
        for tell in moved:
            tell(result)

    def train_again(change):
        nonlocal path
        path = train(rate.value, size.value, steps)
        draw()

    def start_or_stop(clicked):
        if not play.playing:
            # Before it plays: then the browser counts, and ignores values from here.
            drawn.value = 0
        play.playing = not play.playing

    rate.observe(train_again, "value")
    size.observe(train_again, "value")
    drawn.observe(draw, "value")
    play.observe(draw, "playing")
    button.on_click(start_or_stop)
    draw()
    parts = [rate, size, drawn, button, play, text]
    controls = widgets.VBox(parts, layout={"width": "24em"})
    controls.add_class("labs-descent")
    return figure, controls


def name_of(learning_rate: float, batch_size: int) -> str:
    """A setting in words: "learning rate 0.1, batch size 16"."""
    return f"learning rate {learning_rate:.3g}, batch size {batch_size}"


def outcome(path: np.ndarray, loss: Callable) -> str:
    """Where a path led, in words: the loss at its end, and whether it was thrown out.

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

    A path that diverges is; but one that is may come back.

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
    """For screen readers: they read out a new alert, but not other new live regions."""
    return f'<div role="alert">{text}</div>'
