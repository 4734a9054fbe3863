"""A canvas for a live figure, which answers the browser however early it asks."""

import functools
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipympl.backend_nbagg import Canvas
    from matplotlib.figure import Figure

_being_made = threading.RLock()


@functools.cache
def _canvas_class():
    from ipympl.backend_nbagg import Canvas

    class LiveCanvas(Canvas):
        def _handle_msg(self, msg):
            with _being_made:
                pass  # now it is made
            super()._handle_msg(msg)

    return LiveCanvas


def live_canvas(figure: "Figure") -> "Canvas":
    """Give a figure an ipympl canvas with nothing above it.

    The browser asks for the picture as soon as there is a canvas, and ipykernel answers
    from another thread. On a busy machine, that thread can be quicker than the one that
    makes the canvas. A canvas without a manager would lose the question and stay blank, so
    messages wait until it has one.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Belongs to this canvas from now on: another one gets no answer.
    """
    from ipympl.backend_nbagg import FigureManager

    with _being_made:
        canvas = _canvas_class()(figure)
        canvas.header_visible = False
        canvas.toolbar_position = "bottom"  # elsewhere it would cover points or labels
        FigureManager(canvas, 0)
    return canvas
