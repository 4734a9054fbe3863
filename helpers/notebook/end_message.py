"""The first and the last message of a lab: what is done and left, with links."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from helpers.files import REPOSITORY
from helpers.machine import other_load
from helpers.notebook import celebration, messages
from helpers.notebook.notebooks import address_in, heading_above, read_notebook
from helpers.run_card import predictions
from helpers.run_card.progress import Progress

# Where students write to the owner of the course; see docs/maintain.md.
FEEDBACK = "LABS_FEEDBACK_URL"
PROJECT = REPOSITORY / "pyproject.toml"


def at_the_start(lab: str, done: Progress, home: str) -> tuple[str, str]:
    """The first message of a lab, as text and as HTML: how far the student has come.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    done : Progress
    home : str
        The address of the start page, or nothing.
    """
    count, of = done.counted
    title = f"Lab {lab[:2]}: {count} of {of} exercises and questions done"
    notebook = _this_notebook(lab)
    lines = list(_exercises(done, notebook))
    if done.open_questions and count:
        lines.append(_quiz(done, notebook))
    link = (home, "Start page") if home else None
    return title, messages.box("progress", title, "", lines, link)


def lines(content: dict, done: Progress, home: str = "") -> Iterator[str | list]:
    """The last message's lines: what is done, and links to what is left.

    `page` takes them.

    Parameters
    ----------
    content : dict
        A run card's: of the run that ends.
    done : Progress
    home : str
        The address of the start page, or nothing.

    Yields
    ------
    str or list
    """
    notebook = _this_notebook(content["lab"])
    yield from _exercises(done, notebook)
    if not content["solution"]:  # nobody answers or predicts there
        if done.questions:
            yield _quiz(done, notebook)
        yield from _predictions(done.together, notebook)
    if done.measured:
        yield f"Your machine: {done.measured}"
    if busy := other_load.report(content):
        yield busy
    if home:
        certificate = (f"{home}/certificate", "Your certificate")
        yield [(home, "Start page"), *([", ", certificate] if done.done else [])]
    address = feedback_address()
    if address and not why_no_address(address):
        yield [(address, f"Send feedback on lab {content['lab'][:2]}")]


def feedback_address() -> str:
    """What the owner of this copy has set as the address for feedback, or ""."""
    if FEEDBACK in os.environ:
        return os.environ[FEEDBACK]
    try:
        own = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["scaling-labs"]
        return str(own.get("feedback", ""))
    except (OSError, ValueError, LookupError, AttributeError):
        return ""  # a box has no such file, and most owners give no address


def why_no_address(text: str) -> str:
    """Why no link can lead there, in a sentence; "" if one can."""
    if re.match("https?://.|mailto:.+@", text):
        return ""
    return (
        f"The address for feedback, {text[:80]!r}, begins with neither https:// nor "
        "mailto:, so labs end without a link."
    )


def page(title: str, done: Progress, lines: Iterable, way_on: tuple[str, str]) -> str:
    """The last message as HTML: a celebration once all is done, and right.

    Parameters
    ----------
    title : str
    done : Progress
    lines : iterable of str or list
        See `lines`.
    way_on : tuple of str
        An address and its text.
    """
    if done.done:
        lab = int(done.exercises[0].partition(".")[0])
        whole = f"You have done all of lab {lab:02}"
        if left := len(done.still_wrong):
            whole += f", but {left} answer{'s are' * (left > 1) or ' is'} not right yet. "
            return messages.box("end", whole, title, [[way_on], *lines])
        box = messages.box("end", f"{whole}! ", title, [[way_on], *lines])
        return box.replace("\n", f"\n{celebration.garland()}\n", 1)
    kind = "unfinished" if done.open_exercises else "end"
    return messages.box(kind, title, "", list(lines), way_on)


def _this_notebook(lab):
    """The notebook that runs here, or where nobody says which, the one handed out."""
    path = os.environ.get("JPY_SESSION_NAME")
    ours = REPOSITORY / "notebooks" / f"{lab}.ipynb"
    return (path and read_notebook(Path(path))) or read_notebook(ours)


def _place(notebook, pattern, text):
    """A link to a place in the notebook, or only its text where there is no such place."""
    address = address_in(notebook, pattern)
    return (address, text) if address else text


def _left(what, places, between=", "):
    """A line on what is left, with links; nothing if nothing is."""
    if places:
        yield [f"{what}: ", *[part for place in places for part in (between, place)][1:]]


def _exercises(done, notebook):
    left = done.open_exercises
    yield from _left("Still open", [_place(notebook, rf'check\("{n}"', n) for n in left])


def _quiz(done, notebook):
    """A line on the answers that were given, and the way to the others."""
    asked, left = len(done.questions), done.open_questions
    answered = asked - len(left)
    quiz_line = f"Quiz: {answered} of {asked} answered"
    if answered:
        quiz_line += f", {done.right_at_once} right at once"
    lists = {"still open": left, "not yet right": done.still_wrong}
    parts = [quiz_line]
    for what, numbers in lists.items():
        if numbers:
            which = f"question{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
            parts += [f"; {what}: ", _place(notebook, r"quiz\(", which)]
    return parts


def _predictions(together, notebook):
    """A line on the predictions, and one each on those not made: where they are asked."""

    def places(left):
        starts = [re.sub(r"_\d+$", "", name) for name in left]
        patterns = [rf'card\.predict\(f?"{start}' for start in starts]
        found = [
            _place(notebook, pattern, heading)
            for pattern in patterns
            if (heading := heading_above(notebook, pattern))
        ]
        return list(dict.fromkeys(found))

    asked, still_open, too_late = predictions.asked_and_left(together)
    if asked:
        made = asked - len(still_open) - len(too_late)
        near = predictions.how_near(together)
        yield ", ".join([f"Predictions: {made} of {asked} made", *near])
        yield from _left("Not predicted yet, under", places(still_open), " · ")
        late = "Measured without a prediction, so the next run asks again, under"
        yield from _left(late, places(too_late), " · ")
