"""How long a lab takes a person: an estimate, because no class has been timed."""

import re
from collections.abc import Iterator
from itertools import takewhile

from helpers.texts import read_texts

WORDS_PER_MINUTE = 100  # of a technical text, with its formulas and its code
MINUTES_PER_POINT = 8  # of an exercise, or of a figure that is explained in words
MINUTES_PER_QUESTION = 1  # of the quiz
MINUTES_PER_PREDICTION = 2
OPTIONAL = "## Going further"  # the heading of a lab's last part, which nobody has to read
ASSUMPTIONS = (
    f"{WORDS_PER_MINUTE} words a minute, {MINUTES_PER_POINT} minutes for each point of an "
    f"exercise, {MINUTES_PER_PREDICTION} for a prediction, {MINUTES_PER_QUESTION} for a "
    "question of the quiz, and the time that the cells take to run. Parts called "
    '"Going further" are left out'
)


def working_minutes(number: str, notebook: dict, run_minutes: float) -> int:
    """Minutes of a person: to read, to solve, to predict, to answer, and to wait.

    Parameters
    ----------
    number : str
        The lab's, ``"02"``.
    notebook : dict
        The student's, as plain JSON.
    run_minutes : float
        What the cells take.

    Returns
    -------
    int
        A multiple of five.
    """
    cells = notebook.get("cells", ())
    texts_of_cells = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    required = takewhile(lambda text: not text.startswith(OPTIONAL), texts_of_cells)
    text = " ".join(required)
    points = sum(
        cell.get("metadata", {}).get("nbgrader", {}).get("points", 0) for cell in cells
    )
    texts = read_texts(number)
    minutes = (
        len(text.split()) / WORDS_PER_MINUTE
        + points * MINUTES_PER_POINT
        + len(texts["predictions"]) * MINUTES_PER_PREDICTION
        + len(texts["quiz"]) * MINUTES_PER_QUESTION
        + run_minutes
    )
    return max(5, 5 * round(minutes / 5))


def places(notebook: dict) -> Iterator[tuple[float, str, str]]:
    """When a person comes to each heading and each prediction, by the same estimate.

    Parameters
    ----------
    notebook : dict
        The student's, as plain JSON.

    Yields
    ------
    tuple
        Minutes since the beginning, without those that the cells take; ``"heading"`` or
        ``"prediction"``; and the heading's text, or the prediction's name.
    """
    minutes = 0.0
    for cell in notebook.get("cells", ()):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if found := re.match(r"##+ (.+)", source):
                yield minutes, "heading", found[1]
            minutes += len(source.split()) / WORDS_PER_MINUTE
            continue
        for name in re.findall(r'card\.predict\(\s*f?"([^"]+)"', source):
            minutes += MINUTES_PER_PREDICTION
            yield minutes, "prediction", name
        points = cell.get("metadata", {}).get("nbgrader", {}).get("points", 0)
        minutes += points * MINUTES_PER_POINT


def in_hours(minutes: int) -> str:
    """A length of time in words, such as ``"1 h 40 min"``."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest:02d} min" if rest else f"{hours} h"
