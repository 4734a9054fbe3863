"""What the card at a lab's end says of checks, quiz and predictions, and where they are."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from helpers.files import REPOSITORY
from helpers.notebook.notebooks import address_in, read_notebook
from helpers.run_card import predictions


def lines(content: dict, texts: dict, left: list[str]) -> Iterator[str | list]:
    """The card's lines: what is done, and links to what is left.

    `helpers.notebook.messages.box` takes them.

    Parameters
    ----------
    content : dict
        A run card's.
    texts : dict
        See `helpers.texts.read_texts`.
    left : list of str
        The exercises that are still open.

    Yields
    ------
    str or list
    """
    notebook = _this_notebook(content["lab"])
    yield from _left("Still open", [_place(notebook, rf'check\("{n}"', n) for n in left])
    if not content["solution"]:  # nobody answers or predicts there
        yield from _quiz(content, len(texts["quiz"]), notebook)
        yield from _predictions(content, texts["predictions"], notebook)
    yield from _own_figure(content)


def _this_notebook(lab):
    """The notebook that runs here, or where nobody says which, the one handed out."""
    path = os.environ.get("JPY_SESSION_NAME")
    ours = REPOSITORY / "notebooks" / f"{lab}.ipynb"
    return (path and read_notebook(Path(path))) or read_notebook(ours)


def _place(notebook, pattern, text):
    """A link to a place in the notebook, or only its text where there is no such place."""
    address = address_in(notebook, pattern)
    return (address, text) if address else text


def _left(what, places):
    """A line on what is left, with links; nothing if nothing is."""
    if places:
        yield [f"{what}: ", *[part for place in places for part in (", ", place)][1:]]


def _quiz(content, asked, notebook):
    """A line on the answers that were given, and the way to the others."""
    answers = content.get("quiz", {})
    right = sum(answer["first"]["right"] for answer in answers.values())
    said = f"Quiz: {len(answers)} of {asked} answered, {right} right at once"
    if asked:
        left = [str(n) for n in range(1, asked + 1) if str(n) not in answers]
        which = f"question{'s' * (len(left) > 1)} {', '.join(left)}"
        there = _place(notebook, r"quiz\(", which)
        yield [said, *(["; still open: ", there] if left else [])]


def _predictions(content, names, notebook):
    """A line on the predictions, and one each on those not made."""

    def places(left):
        patterns = ((re.sub(r"_\d+$", "", name), name) for name in left)
        return [
            _place(notebook, rf'card\.predict\(f?"{start}', name.replace("_", " "))
            for start, name in patterns
        ]

    asked, still_open, too_late = predictions.asked_and_left(content, names)
    if asked:
        made = asked - len(still_open) - len(too_late)
        near = predictions.how_near(content)
        yield ", ".join([f"Predictions: {made} of {asked} made", *near])
        yield from _left("To predict yet", places(still_open))
        yield from _left("Measured without one, the next run asks again", places(too_late))


def _own_figure(content):
    """The first rate that this run measured: one figure of one's own."""
    for name, value in content["measurements"].items():
        if name.endswith("_per_second") and isinstance(value, int | float):
            what = name.removesuffix("_per_second").replace("_", " ")
            yield f"Your machine: {predictions.number(value)} {what} per second"
            return
