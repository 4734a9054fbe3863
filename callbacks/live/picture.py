"""A picture in a notebook, with the text for readers who cannot see it."""

import base64
import html

SYNTHETIC = "SYNTHETIC DATA"


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
