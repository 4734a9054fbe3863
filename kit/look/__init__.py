"""One look for all pages: design tokens, a style sheet, the mark, and page templates."""

import base64
import functools
import hashlib
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

HERE = Path(__file__).parent


def render(template: Path, **values: object) -> str:
    """Fill in a page's template; it has `style` and `mark` besides its own values.

    Parameters
    ----------
    template : Path
        A Jinja template; what it includes is beside it, or in this folder.
    **values
        Escaped where they are inserted.

    Returns
    -------
    str
    """
    return environment(template.parent).get_template(template.name).render(**values)


def content_hash(script: str) -> str:
    """What a page's Content-Security-Policy says of the one script that may run in it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@functools.cache
def environment(folder: Path) -> jinja2.Environment:
    """The environment of a folder's templates, for filters and globals of its own."""
    loader = jinja2.FileSystemLoader([folder, HERE])
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    sheets = [_read("tokens.css"), _read("pages.css")]
    shared: dict[str, Any] = environment.globals
    shared["style"] = Markup("\n".join(sheets))
    shared["mark"] = Markup(_read("mark.svg"))
    return environment


def _read(name):
    return (HERE / name).read_text(encoding="utf-8")
