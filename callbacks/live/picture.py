"""A picture in a notebook, with the text for readers who cannot see it."""

import base64
import html
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipywidgets import Widget
    from matplotlib.backends.backend_agg import FigureCanvasAgg

SYNTHETIC = "SYNTHETIC DATA"
# A kernel that restarts leaves its widgets on the page, dead, each with a red symbol. What
# is kept takes their place. An output without its model becomes a widget itself.
_DEAD = """.jp-OutputArea-child:has(> .jp-OutputArea-output > .jupyter-widgets-disconnected,
> .jp-OutputArea-output.jupyter-widgets)"""
WHEN_DEAD = f"""<style class="labs-live">
{_DEAD}:has(+ .jp-OutputArea-child .labs-kept), {_DEAD}:has(.labs-hint) {{display: none}}
{_DEAD} + .jp-OutputArea-child .labs-kept {{display: block}}
{_DEAD}:has(.widget-slider, .widget-radio) + .jp-OutputArea-child .labs-kept::before
{{content: "Not live any more: run this cell again to use it."}}
</style>"""
# While the widget lives, a script gives it names for screen readers.
ACCESSIBLE = Path(__file__).with_name("accessible.js").read_text(encoding="utf-8")
# ipywidgets hardly shows where the focus is. A box would cut the ring around its widgets,
# so it has room for that.
FOCUS = """<style class="labs-live">
.jp-OutputArea-output
:is(button, input, select, .noUi-handle, .widget-readout):focus-visible
{outline: 3px solid var(--jp-brand-color1) !important; outline-offset: 1px !important}
.labs-refused :is(input, select, .widget-toggle-button)
{border: 2px solid var(--jp-error-color1) !important}
.labs-prediction, .widget-vbox:has(> .widget-slider) {padding: 3px}
.labs-prediction .widget-toggle-button.mod-active
{background: var(--jp-brand-color1); color: var(--jp-ui-inverse-font-color1)}
.labs-problem {border-left: 4px solid var(--jp-error-color1); padding-left: 8px}
</style>"""
WHILE_ALIVE = f'{FOCUS}<script class="labs-live">{ACCESSIBLE}</script>'


# A kept figure is as wide as a live one. A dark JupyterLab shows figures light on dark:
# half a turn gives each colour its hue back, and the sheet takes the page's ground. Photos,
# whose texts begin with "The first", must not be turned over.
IN_THE_DARK = """<style>
.labs-kept img {max-width: min(100%, 800px)}
[data-jp-theme-light="false"] :is(
.labs-kept img:not([alt^="The first"], [alt^="SYNTHETIC DATA: The first"]),
.jupyter-matplotlib-canvas-div:not([aria-label^="The first"],
[aria-label^="SYNTHETIC DATA: The first"]) canvas)
{filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen}
</style>"""


def picture_html(png: bytes, summary: str, caption: str) -> str:
    """An image that holds its own data.

    Parameters
    ----------
    png : bytes
    summary : str
        What the picture shows: its alternative text.
    caption : str
        The one in the picture. If it says that data are synthetic, so does the
        alternative text.

    Returns
    -------
    str
    """
    text = f"{SYNTHETIC}: {summary}" if SYNTHETIC in caption else summary
    encoded = base64.b64encode(png).decode()
    return f'<img alt="{html.escape(text)}" src="data:image/png;base64,{encoded}">'


def stored_copy(page: str) -> str:
    """The picture in place of a widget, as HTML: nobody sees it while the widget lives.

    kit/jupyter/stored_widgets.py takes out style, script and ``hidden`` when a notebook is
    saved.

    Parameters
    ----------
    page : str

    Returns
    -------
    str
    """
    return (
        f'{WHEN_DEAD}{WHILE_ALIVE}<div class="labs-kept" hidden>{IN_THE_DARK}{page}</div>'
    )


def display_live(widget: "Widget") -> Callable[[str], None]:
    """Show a widget, and below it what is kept of it, which is seen when it is dead.

    Parameters
    ----------
    widget : ipywidgets.Widget

    Returns
    -------
    callable
        ``keep(html)`` changes what is kept; at first there is nothing.
    """
    from IPython.display import display

    # Not its own bundle: that of a canvas draws it once more.
    view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    live = {"application/vnd.jupyter.widget-view+json": view, "text/plain": ""}
    display(live, raw=True)
    place = display({"text/plain": "", "text/html": ""}, raw=True, display_id=True)

    def keep(page):
        place.update({"text/plain": "", "text/html": stored_copy(page)}, raw=True)

    return keep


def pixels_png(canvas: "FigureCanvasAgg") -> bytes:
    """The picture of a canvas, as PNG bytes: without `savefig`, which would disturb it."""
    from matplotlib.image import imsave

    data = io.BytesIO()
    imsave(data, canvas.buffer_rgba(), format="png")
    return data.getvalue()
