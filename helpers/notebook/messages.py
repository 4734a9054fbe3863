"""What the kit says in a notebook: messages, each a small box of HTML.

Its colours are JupyterLab's own variables, light and dark, with values for other places.
Styles are in the elements: nothing else survives in a stored notebook everywhere.
"""

from collections.abc import Sequence
from html import escape

MOST_LETTERS = 600  # of one line
MOST_LINES = 40
# For each kind its edge: JupyterLab's colour, and one where there is none.
EDGES = {
    "passed": "var(--jp-success-color1, #2e7d32)",
    "open": "var(--jp-warn-color1, #b85c00)",
    "hint": "var(--jp-info-color1, #0277bd)",
    "prediction": "var(--jp-brand-color1, #1565c0)",
    "end": "var(--jp-success-color1, #2e7d32)",
}
# A verdict's text has its own. Of the usual fonts: few have pictures in colour.
ICONS = {"hint": "☞", "prediction": "◎", "end": "⚑"}
STYLE = (
    "border: 1px solid var(--jp-border-color2, #bdbdbd); border-left: 5px solid {edge}; "
    "border-radius: 3px; padding: 6px 12px; margin: 4px 0; max-width: 50em; "
    "line-height: 1.5"
)
UNDERLINED = "text-decoration: underline"
LINE = '<div style="overflow-wrap: anywhere; white-space: pre-wrap">{}</div>'


def box(
    kind: str,
    title: str,
    rest: str = "",
    lines: Sequence[str | list] = (),
    link: tuple[str, str] | None = None,
) -> str:
    """A message as HTML, with everything in it escaped and bounded.

    Parameters
    ----------
    kind : str
        One of `EDGES`.
    title, rest : str
        Its first line, of which the title is bold.
    lines : sequence of str or list
        What stands below; a list has the parts of a line, each a str or a link.
    link : tuple of str, optional
        An address and its text: the way on.

    Returns
    -------
    str
    """
    icon = f'<span aria-hidden="true">{ICONS[kind]} </span>' if kind in ICONS else ""
    shown = [f"{icon}<strong>{_bounded(title)}</strong>{_bounded(rest)}"]
    for line in lines[:MOST_LINES]:
        parts = line if isinstance(line, list) else [line]
        shown.append("".join(map(_part, parts)))
    if link:
        address, text = link
        shown.append(f'<a href="{escape(address)}">{_bounded(text)}</a>')
    inside = "\n".join(map(LINE.format, shown))
    style = STYLE.format(edge=EDGES[kind])
    return f'<div class="labs-card labs-card-{kind}" style="{style}">\n{inside}\n</div>'


def show(text: str, page: str) -> None:
    """Show a message: as a box in a notebook, as lines elsewhere.

    Parameters
    ----------
    text : str
        What `print` gets outside of notebooks, and nbval compares.
    page : str
        See `box`.
    """
    # Not earlier: it loads Keras, and a lab has to quieten TensorFlow first.
    from callbacks.live.place import current_shell

    if not hasattr(current_shell(), "kernel"):
        print(text)
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": page}, raw=True)


def show_prediction(line: str) -> None:
    """Show what a run card says of a prediction, with its first part in bold.

    Parameters
    ----------
    line : str
    """
    title, colon, rest = line.partition(": ")
    show(line, box("prediction", title + colon.strip(), " " * bool(colon) + rest))


def _part(part):
    if isinstance(part, str):
        return _bounded(part)
    address, text = part
    # Among other words a link needs more than a colour.
    return f'<a href="{escape(address)}" style="{UNDERLINED}">{_bounded(text)}</a>'


def _bounded(text):
    # JupyterLab would set what stands between two dollars as mathematics.
    short = text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + " ..."
    return escape(short).replace("$", "&#36;<wbr>")
