"""A picture in a notebook, with the text for readers who cannot see it."""

import base64
import html
import io

SYNTHETIC = "SYNTHETIC DATA"
# Around what stands in for a widget in a stored notebook: nobody sees it while the widget
# lives, and kit/stored_widgets.py takes the word out when the notebook is saved.
KEPT = '<div class="labs-kept" hidden>{}</div>'


def picture_html(png, summary, caption):
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


def display_live(widget):
    """Show a widget, and below it, in a stored notebook only, what is kept of it.

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
        place.update({"text/plain": "", "text/html": KEPT.format(page)}, raw=True)

    return keep


def pixels_png(canvas):
    """What a canvas shows now, as PNG bytes: without `savefig`, which would disturb it."""
    from matplotlib.image import imsave

    data = io.BytesIO()
    imsave(data, canvas.buffer_rgba(), format="png")
    return data.getvalue()
