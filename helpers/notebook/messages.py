"""Messages of the kit in a notebook, each a small box of HTML.

Its colours are JupyterLab's own variables, light and dark, with values for other places.
Styles are in the elements: nothing else survives in a stored notebook everywhere.
"""

from collections.abc import Callable, Sequence
from html import escape

from helpers.texts import as_html

MOST_LETTERS = 600  # of one line
MOST_LINES = 40
# For each kind its edge: JupyterLab's colour, and one where there is none.
EDGES = {
    "passed": "var(--jp-success-color1, #0a7a5a)",
    "open": "var(--jp-warn-color1, #b34a09)",
    "hint": "var(--jp-info-color1, #7a3e9d)",
    "prediction": "var(--jp-brand-color1, #0b5cad)",
    "quiz": "var(--jp-brand-color1, #0b5cad)",
    "end": "var(--jp-success-color1, #0a7a5a)",
    "unfinished": "var(--jp-brand-color1, #0b5cad)",
    "progress": "var(--jp-brand-color1, #0b5cad)",
}
# A verdict's text has its own. Of the usual fonts: few have pictures in colour.
ICONS = {"hint": "☞", "prediction": "◎", "end": "⚑", "unfinished": "⚑", "progress": "⚐"}
# As wide as its cell. The tint is its edge's colour, on whatever the page's ground is.
STYLE = (
    "border-left: 4px solid {edge}; border-radius: 4px 10px 10px 4px; "
    "background: color-mix(in srgb, {edge} 9%, transparent); "
    "padding: 10px 16px; margin: 6px 0; line-height: 1.55"
)
UNDERLINED = "text-decoration: underline"
# JupyterLab breaks what is printed, and errors, in the middle of a word, and ends a page
# before the cell's edge. A form and a quiz look like messages. The colours of verdicts
# are those of kit/look/tokens.css.
SHEET = """<style>
.jp-OutputArea-output pre
{word-break: normal !important; overflow-wrap: anywhere !important}
.jp-OutputArea-output.jp-RenderedHTMLCommon:has(.labs-message) {padding-right: 0}
:is(.labs-prediction, .labs-quiz).widget-box {margin: 0 0 6px; padding: 6px 16px;
border-left: 4px solid var(--jp-brand-color1); border-radius: 4px 10px 10px 4px;
background: color-mix(in srgb, var(--jp-brand-color1) 9%, transparent)}
.labs-right {color: #0a7a5a} .labs-wrong {color: #a3201a}
[data-jp-theme-light="false"] .labs-right {color: #5fcfa8}
[data-jp-theme-light="false"] .labs-wrong {color: #ff9a93}
</style>"""
LINE = '<div style="overflow-wrap: anywhere; white-space: pre-wrap">{}</div>'


def box(
    kind: str,
    title: str,
    rest: str = "",
    lines: Sequence[str | list] = (),
    link: tuple[str, str] | None = None,
) -> str:
    """A message as HTML, with everything in it escaped and bounded.

    What stands between backticks becomes code.

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
    html_lines = [f"{icon}<strong>{_bounded(title)}</strong>{_bounded(rest)}"]
    for line in lines[:MOST_LINES]:
        parts = line if isinstance(line, list) else [line]
        html_lines.append("".join(map(_part, parts)))
    if link:
        html_lines.append(_part(link))
    return card(kind, "\n".join(map(LINE.format, html_lines)))


def card(kind: str, inside: str) -> str:
    """The frame of a message, around HTML."""
    style = STYLE.format(edge=EDGES[kind])
    return (
        f'<div class="labs-message labs-message-{kind}" style="{style}">\n{inside}\n</div>'
    )


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
    from callbacks.live.place import current_shell, in_jupyterlab

    if not hasattr(current_shell(), "kernel"):
        print(text)
        return
    from IPython.display import display

    if in_jupyterlab():  # a screen reader reads it out
        page = f'{SHEET}<div role="status">{page}</div>'
    display({"text/plain": text, "text/html": page}, raw=True)


def show_changing(text: str, page: str) -> Callable[[str, str], None]:
    """Show a message in a notebook, which can say something else later.

    Parameters
    ----------
    text, page : str
        See `show`.

    Returns
    -------
    callable
        ``change(text, page)``
    """
    from IPython.display import display

    first = {"text/plain": text, "text/html": page}
    place = display(first, raw=True, display_id=True)

    def change(text, page):
        place.update({"text/plain": text, "text/html": page}, raw=True)

    return change


def show_prediction(line: str) -> None:
    """Show what a run card says of a prediction, with its first part in bold.

    Parameters
    ----------
    line : str
    """
    show(*prediction(line))


def prediction(line: str) -> tuple[str, str]:
    """The text and the page of `show_prediction`."""
    title, colon, rest = line.partition(": ")
    return line, box("prediction", title + colon.strip(), " " * bool(colon) + rest)


def confirm_prediction(line: str) -> None:
    """As `show_prediction`, where somebody reads it: stored notebooks do without.

    Parameters
    ----------
    line : str
    """
    from callbacks.live.place import in_jupyterlab  # and so Keras

    if in_jupyterlab():
        show_prediction(line)


def _part(part):
    if isinstance(part, str):
        return _bounded(part)
    address, text = part
    # A link needs more than a colour.
    return f'<a href="{escape(address)}" style="{UNDERLINED}">{_bounded(text)}</a>'


def _bounded(text):
    # JupyterLab would set what stands between two dollars as mathematics.
    short = text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + " ..."
    return as_html(short).replace('"', "&quot;").replace("$", "&#36;<wbr>")
