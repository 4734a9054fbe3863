"""The texts of a lab besides its notebook: `quiz.toml` in each lab's folder."""

import html
import re
import tomllib
from pathlib import Path

HELPERS = Path(__file__).parent


def read_texts(number: str) -> dict:
    """The quiz of a lab, what its predictions are, and which figure a report shows.

    Parameters
    ----------
    number : str
        ``"02"``.

    Returns
    -------
    dict
        `quiz`: a list of questions, each with `question` and `choices`, which have
        `text`, `why` and perhaps `right`;
        `predictions`: for each its kind, see `helpers.run_card.prediction_kinds`;
        `prediction_choices`: for a prediction in words, the words that are possible;
        `prediction_titles`: what a form is about, where the name does not say it;
        `prediction_labels`: what a form says of each name, such as "batch size {}";
        `report_figure`: a part of the summary of the figure that answers the question;
        `explained_figure`: the same of the figure that students explain, if it is another.
        All are empty for a lab without such a file.
    """
    texts = {
        "quiz": [], "predictions": {}, "prediction_choices": {},
        "prediction_titles": {}, "prediction_labels": {},
        "report_figure": "", "explained_figure": "",
    }  # fmt: skip
    path = HELPERS / f"lab_{number}" / "quiz.toml"
    if not path.is_file():
        return texts
    with open(path, "rb") as file:
        return texts | tomllib.load(file)


def labs_with_texts() -> list[str]:
    """The numbers of the labs that have texts, in order: ``["00", "02", ...]``."""
    found = HELPERS.glob("lab_??/quiz.toml")
    return sorted(path.parent.name.removeprefix("lab_") for path in found)


def as_html(text: str) -> str:
    """Escape text for HTML; text between backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
