"""Find the figures that are stored in an executed notebook."""

import re
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

CLOSING = ("## Explain your figure", "## Going further")


def main_picture(notebook: Mapping[str, Any], named: str = "") -> tuple[str, str] | None:
    """The figure that answers a lab's question.

    Parameters
    ----------
    notebook : mapping
        An executed lab: its `cells` with `source` and `outputs`, as `nbformat` reads it.
    named : str
        A part of the figure's alternative text; the first figure with it counts.

    Returns
    -------
    (str, str) or None
        As in `pictures`; where no figure has this name, the last one before the lab's
        closing parts.
    """
    if named:
        for picture in pictures(notebook["cells"]):
            if named in picture[1]:
                return picture
    sources = [cell["source"] for cell in notebook["cells"]]
    ends = [n for n, source in enumerate(sources) if source.startswith(CLOSING)]
    before = pictures(notebook["cells"][: min(ends, default=None)])
    return (before or pictures(notebook["cells"]) or [None])[-1]


def pictures(cells: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The figures of executed cells, as (picture's source, alternative text)."""
    found = []
    for cell in cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html", "")
            found += re.findall(r'<img alt="([^"]*)" src="(data:image/png[^"]+)"', html)
    return [(source, "; ".join(unescape(alt).splitlines())) for alt, source in found]
