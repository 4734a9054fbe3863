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
LETTER_INCHES = 0.6 * CAPTION["fontsize"] / 72


def leave_room(figure: "Figure", lines: int) -> None:
    """Let a figure's axes end above its caption of so many lines."""
    below = 0.035 + LINE_INCHES / figure.get_figheight() * (lines - 1)
    figure.set_layout_engine("constrained", rect=(0, below, 1, 1 - below))


def width_field(canvas: "Canvas", caption: "Text") -> "ipywidgets.IntText":
    """A field that nobody sees, in which callbacks/live/accessible.js writes the width.

    Parameters
    ----------
    canvas : ipympl.backend_nbagg.Canvas
        Is drawn at that width, but never wider than it is now, and not narrower than
        `NARROWEST`; its height stays.
    caption : matplotlib.text.Text
        Gets more lines where there is less room.
    """
    import ipywidgets

    figure, text = canvas.figure, caption.get_text()
    # In pixels of the page, which may have several on the screen each.
    usual, height = (one / canvas.device_pixel_ratio for one in figure.bbox.size)

    def fit(change):
        width = min(usual, max(NARROWEST, change["new"]))
        inches = width * canvas.device_pixel_ratio / figure.dpi
        letters = int(inches / LETTER_INCHES)
        lines = [
            part
            for line in text.splitlines()
            for part in (textwrap.wrap(line, letters) if width < usual else [line])
        ]
        caption.set_text("\n".join(lines))
        leave_room(figure, len(lines))
        canvas.handle_resize({"width": width, "height": height})

    field = ipywidgets.IntText(layout={"display": "none"})
    field.add_class("labs-width")
    field.observe(fit, "value")
    return field
