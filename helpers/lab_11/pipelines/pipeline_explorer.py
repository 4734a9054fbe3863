"""A pipeline of any size: its time line, with sliders in JupyterLab."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

from callbacks.live.place import in_jupyterlab
from helpers.figures import show_beside, show_figure
from helpers.lab_11.pipelines.pipeline_figures import draw_legend, draw_time_line
from helpers.lab_11.pipelines.pipeline_schedule import (
    Box,
    Work,
    idle_share,
    peak_held,
    simulate,
)

if TYPE_CHECKING:
    import ipywidgets as widgets
    from matplotlib.figure import Figure

SIZE = 8, 8  # stages and micro-batches at the beginning
MOST = 12, 32


def explore(order: Callable, caption: str) -> None:
    """Show what the stages of a pipeline do, if only the computing takes time.

    Parameters
    ----------
    order : callable
        An answer to exercise 11.5.
    caption : str
        As `show_figure` takes it.
    """
    if in_jupyterlab():
        moved = []  # called with the summary after each change
        figure, controls = live(order, moved)
        moved.append(show_beside(controls, figure, _planned(order, *SIZE)[1], caption))
    else:
        boxes, summary = _planned(order, *SIZE)
        show_figure(_drawn(boxes), summary, caption)


def live(order: Callable, moved: Sequence[Callable] = ()) -> "tuple[Figure, widgets.VBox]":
    """A time line and the sliders that change it.

    Parameters
    ----------
    order : callable
    moved : iterable of callable
        Each is given the summary after every change.

    Returns
    -------
    figure : matplotlib.figure.Figure
    controls : ipywidgets.VBox
        A slider for the stages, one for the micro-batches, and the summary.
    """
    import ipywidgets as widgets

    wide = {
        "layout": {"width": "26em", "max_width": "calc(100% - 4px)"},
        "style": {"description_width": "8em"},
    }
    sliders = [
        widgets.IntSlider(start, min=1, max=most, description=label, **wide)
        for label, start, most in zip(("stages", "micro-batches"), SIZE, MOST, strict=True)
    ]
    text = widgets.HTML()
    figure = _drawn(_planned(order, *SIZE)[0])
    [axes] = figure.axes

    def draw(change=None):
        boxes, summary = _planned(order, *(slider.value for slider in sliders))
        axes.clear()
        _draw(axes, boxes)
        text.value = summary
        figure.canvas.draw_idle()
        for tell in moved:
            tell(summary)

    for slider in sliders:
        slider.observe(draw, "value")
    draw()
    return figure, widgets.VBox([*sliders, text])


def _planned(order: Callable, stages: int, micro_batches: int) -> tuple[list[Box], str]:
    work: list[Work] = [order(stage, stages, micro_batches) for stage in range(stages)]
    boxes = simulate(work)
    return boxes, (
        f"Simulated, stages: {stages}, micro-batches: {micro_batches}, idle: "
        f"{100 * idle_share(boxes):.1f}%, held by stage 0: {peak_held(work[0])}."
    )


def _drawn(boxes):
    figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
    _draw(axes, boxes)
    return figure


def _draw(axes, boxes):
    draw_time_line(axes, "simulated", boxes)
    draw_legend(axes)
    axes.set_xlabel("time [forwards]")
