"""Figures for a course: readable without colour, without a browser, without sight."""

import asyncio
import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from callbacks.live.figure_table import figure_table
from callbacks.live.live_canvas import live_canvas
from callbacks.live.picture import display_live, picture_html, pixels_png
from callbacks.live.place import in_jupyterlab
from callbacks.live.style import CAPTION, COLOURS, STYLE
from helpers.machine.other_load import note_figure
from helpers.narrow_figures import leave_room, width_field
from helpers.run_card.documents import is_a_solution

if TYPE_CHECKING:
    from ipywidgets import Widget

# Never colour alone: markers and lines differ, too.
BLUE, ORANGE, GREEN, VIOLET, GREY = COLOURS.values()
# Labels of axes on which no time is, nor a speed; pictures have none.
TIMELESS = re.compile(
    r"|.*accuracy|(mean |mean squared )?(error|loss)\b.*|epoch|steps?|steps so far"
    r"|x|y|slope|intercept|row|column|(learning|dropout) rate|.*memory\b.*"
    r"|.*\[([kMG]i?B|words|images)\]|newswires|(simulated )?replicas|(loss )?scale"
    r"|length of the first step .*|largest difference of a weight"
)
MARKERS = "osD^vP*X"
AT_THE_START = ", as it was at the start"
LINES = ("-", "--", "-.", ":")


def use_figures() -> None:
    """Choose how figures look; `show_figure` makes them live in JupyterLab."""
    mpl.use("agg")
    plt.rcParams.update(STYLE)


def guess_label(more: str = "") -> str:
    """A label for a predicted value: in a solved notebook, the guesses are examples."""
    return ("example" if is_a_solution() else "your") + f" prediction{more}"


def show_figure(figure: plt.Figure, summary: str, caption: str) -> None:
    """Show a figure with its caption, its data, and one sentence that says what it shows.

    "The data as a table" opens the data, as `figure_table` reads them.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    summary : str
        What a reader who cannot see the figure should know; also its
        alternative text.
    caption : str
        Device, replicas and scale: what the numbers are valid for.
    """
    _show(figure, summary, caption)


def show_beside(
    controls: "Widget", figure: plt.Figure, summary: str, caption: str
) -> Callable[[str], None]:
    """As `show_figure`, for a figure that changes, in JupyterLab: beside what changes it.

    Parameters
    ----------
    controls : ipywidgets.Widget
        Where the window is too narrow for both, they stand above the figure.

    Returns
    -------
    callable
        ``keep(summary)``, after each change: a stored notebook has the summary and the
        picture as they are a second after the last one.
    """
    return _show(figure, summary, caption, controls)


def _show(figure, summary, caption, controls=None):
    from IPython.display import HTML, display

    busy = note_figure(summary) if shows_times(figure) else ""
    lines = [caption, *([busy] if busy else [])]
    written = figure.text(0.01, 0.005, "\n".join(lines), **CAPTION)
    leave_room(figure, len(lines))
    image = picture_html(_png(figure), " ".join([summary, *lines[1:]]), caption)
    # What is below a figure with sliders stays as it is when they move.
    table = figure_table(figure, AT_THE_START if controls else "")
    plt.close(figure)
    if not in_jupyterlab():
        display(HTML(image + table))
        print(summary)
        return lambda now: None  # nothing can change here
    # As wide as all others; JupyterLab has no more room in a window of 1280 pixels.
    full = 800 / figure.get_figwidth()
    figure.set_dpi(min(figure.dpi, full) if controls else full)
    canvas = live_canvas(figure)  # last: see there
    parts = [*([controls] if controls else []), canvas, width_field(canvas, written)]
    keep = display_live(_beside(parts))
    keep(image)  # the picture stays in the notebook when the live one is gone
    display(HTML(table))
    print(f"At the start: {summary}" if controls else summary)

    def keep_now(now):
        FigureCanvasAgg.draw(canvas)
        keep(f"<p>{now}</p>{picture_html(pixels_png(canvas), now, caption)}")

    return _when_settled(keep_now)


def shows_times(figure: plt.Figure) -> bool:
    """Whether other programs may have spoiled a figure: not one of losses over steps.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    """
    labels = {
        label for axes in figure.axes for label in (axes.get_xlabel(), axes.get_ylabel())
    }
    return not all(TIMELESS.fullmatch(label) for label in labels)


def _png(figure):
    """The figure as PNG bytes, drawn once: `savefig` would draw all of it twice."""
    usual = figure.dpi
    figure.set_dpi(110)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    figure.set_dpi(usual)
    # 256 colours look the same, and a notebook full of contours is a third as large.
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(256)
    data = io.BytesIO()
    picture.save(data, format="png")
    return data.getvalue()


def _beside(parts):
    import ipywidgets

    parts[-2].layout.flex = "none"  # else it is squeezed where it could stand below
    layout = {"display": "flex", "flex_flow": "row wrap", "align_items": "flex-start"}
    return ipywidgets.Box(parts, layout=layout)


def _when_settled(function, seconds=1.0):
    """A function that calls another once, when it was not called for a while itself."""
    pending = None

    def call(*arguments):
        nonlocal pending
        if pending:
            pending.cancel()
        pending = asyncio.get_running_loop().call_later(seconds, function, *arguments)

    return call


def image_grid(
    images: np.ndarray, labels: np.ndarray, classes: Sequence[str], columns: int = 8
) -> plt.Figure:
    """A row of images with the names of their classes.

    Begin its summary in `show_figure` with "The first": dark pages turn other figures over,
    and know photographs by these words (`IN_THE_DARK` in callbacks/live/picture.py).

    Parameters
    ----------
    images : array, shape (n, height, width, 1)
    labels : array, shape (n,)
    classes : sequence of str
    """
    figure, axes = plt.subplots(1, columns, figsize=(9, 1.7))
    for axis, image, label in zip(axes, images, labels, strict=False):
        axis.imshow(image[..., 0], cmap="gray_r")
        axis.set_title(classes[label], fontsize=8)
        axis.axis("off")
    return figure
