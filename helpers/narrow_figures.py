"""Live figures in a narrow window: drawn again at the width that is there."""

import textwrap
from typing import TYPE_CHECKING

from callbacks.live.style import CAPTION

if TYPE_CHECKING:
    import ipywidgets
    from ipympl.backend_nbagg import Canvas
    from matplotlib.figure import Figure
    from matplotlib.text import Text

LINE_INCHES = 1.3 * CAPTION["fontsize"] / 72
NARROWEST = 240  # pixels of the page; of less nothing can be read
PANEL = 280  # pixels of the page; narrower panels stand below each other
LETTER_INCHES = 0.6 * CAPTION["fontsize"] / 72


def leave_room(figure: "Figure", lines: int) -> None:
    """Let a figure's axes end above its caption of so many lines."""
    below = 0.035 + LINE_INCHES / figure.get_figheight() * (lines - 1)
    figure.set_layout_engine("constrained", rect=(0, below, 1, 1 - below))


def _panels(figure):
    """How many panels stand in a row, and what puts them below each other, and back.

    One panel, a grid or a colour bar stays as it is.
    """
    specs = {axes: axes.get_subplotspec() for axes in figure.axes}
    grids = {spec and spec.get_gridspec() for spec in specs.values()}
    grid = grids.pop() if len(grids) == 1 else None
    if not grid or grid.nrows > 1 or grid.ncols == 1:
        return 1, lambda: None, lambda: None
    below = figure.add_gridspec(grid.ncols, 1)
    labelled = {axes: axes.yaxis.get_tick_params().get("labelleft", True) for axes in specs}

    def stack():
        for axes, spec in specs.items():
            axes.set_subplotspec(below[spec.colspan.start])
            axes.tick_params(labelleft=True)  # a shared axis has them at the left only

    def put_back():
        for axes, spec in specs.items():
            axes.set_subplotspec(spec)
            axes.tick_params(labelleft=labelled[axes])

    return grid.ncols, stack, put_back


def width_field(canvas: "Canvas", caption: "Text") -> "ipywidgets.IntText":
    """A field that nobody sees, in which callbacks/live/accessible.js writes the width.

    Parameters
    ----------
    canvas : ipympl.backend_nbagg.Canvas
        Is drawn at that width, but never wider than it is now, and not narrower than
        `NARROWEST`. Its height stays, unless its panels stand below each other.
    caption : matplotlib.text.Text
        Gets more lines where there is less room.
    """
    import ipywidgets

    figure, text = canvas.figure, caption.get_text()
    # In pixels of the page, which may have several on the screen each.
    usual, height = (one / canvas.device_pixel_ratio for one in figure.bbox.size)
    panels, stack, put_back = _panels(figure)

    def fit(change):
        width = min(usual, max(NARROWEST, change["new"]))
        is_stacked = panels > 1 and width < min(usual, PANEL * panels)
        (stack if is_stacked else put_back)()
        drawn = height * (min(panels, width * panels**2 / usual) if is_stacked else 1)
        inches = width * canvas.device_pixel_ratio / figure.dpi
        letters = int(inches / LETTER_INCHES)
        lines = [
            part
            for line in text.splitlines()
            for part in (textwrap.wrap(line, letters) if width < usual else [line])
        ]
        caption.set_text("\n".join(lines))
        figure.set_figheight(drawn * canvas.device_pixel_ratio / figure.dpi)
        leave_room(figure, len(lines))
        canvas.handle_resize({"width": width, "height": drawn})

    field = ipywidgets.IntText(layout={"display": "none"})
    field.add_class("labs-width")
    field.observe(fit, "value")
    return field
