"""The coach's texts: one TOML file for each lab, beside this one."""

import html
import re
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent


def read_texts(number):
    """Hints and quiz of a lab.

    Parameters
    ----------
    number : str
        ``"02"``.

    Returns
    -------
    dict
        `hints`: for each exercise its three hints; `quiz`: a list of questions, each
        with `question` and `choices`, which have `text`, `why` and perhaps `right`.
        Both are empty for a lab without such a file.
    """
    path = FOLDER / f"lab_{number}.toml"
    if not path.is_file():
        return {"hints": {}, "quiz": []}
    with open(path, "rb") as file:
        return tomllib.load(file)


def labs_with_texts():
    """The numbers of the labs that have texts, in order: ``["00", "02", ...]``."""
    return sorted(path.stem.removeprefix("lab_") for path in FOLDER.glob("lab_??.toml"))


def as_html(text):
    """Escaped for HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
