"""Show the source of a function with line numbers, in colour where colours can be seen."""

import inspect
from collections.abc import Callable

from helpers.notebook import messages

UNBROKEN = "white-space: pre; font-size: 0.9em"
FRAME = "max-width: 60em; overflow-x: auto; line-height: 1.35"


def numbered(function: Callable) -> str:
    """The source of a function with a number before each line, from 1."""
    lines = _source(function).splitlines()
    return "\n".join(f"{n:2}  {line}".rstrip() for n, line in enumerate(lines, start=1))


def show_listing(function: Callable) -> None:
    """Show a listing: coloured in a notebook, as plain lines elsewhere.

    Parameters
    ----------
    function : callable
    """
    messages.show(numbered(function), in_colour(_source(function)))


def _source(function):
    """Without what it says to a formatter of code."""
    return inspect.getsource(function).replace("  # fmt: skip", "")


def in_colour(source: str, line_numbers: bool = True) -> str:
    """Python's code as HTML, in colour.

    Parameters
    ----------
    source : str
    line_numbers : bool

    Returns
    -------
    str
    """
    # Here, for a sandbox imports this module and shows nothing.
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    # Dark letters on a background of their own, so that a dark theme can be read, too.
    paper = "background: #fff; color: #000; padding: 6px 12px; margin: 0"
    formatter = HtmlFormatter(
        linenos="inline" if line_numbers else False,
        noclasses=True, style="xcode", cssstyles=FRAME,
        prestyles=paper if line_numbers else f"{paper}; {UNBROKEN}",
    )  # fmt: skip
    return highlight(source, PythonLexer(), formatter)
