"""The start page: what is next, the labs, what is done, this machine."""

import os
import re
import time
from collections import Counter
from html import escape
from typing import NamedTuple
from urllib.parse import quote

from helpers.exercise import numbers_of
from helpers.files import REPOSITORY
from helpers.machine import computer
from helpers.notebook.notebooks import (
    LAB_NAME,
    address_in,
    labs_in,
    read_notebook,
    students_folder,
)
from helpers.run_card import reset_exercises
from helpers.run_card.predictions import how_they_went, number, typical_factor
from helpers.run_card.records import cards_of
from helpers.texts import read_texts

AT_ITS_TOP = r"(?!)"  # matches no cell
# What a person needs, as an estimate: nobody was timed.
WORDS_PER_MINUTE, MINUTES_PER_EXERCISE, MINUTES_PER_QUESTION = 150, 15, 1


class LabState(NamedTuple):
    """A lab, and what this student has done in it."""

    name: str  # "02_throughput"
    file: str  # of its notebook, whatever its name is by now; empty: it is gone
    title: str
    minutes: int  # of a person: an estimate
    spent_minutes: float  # by this student, in all runs: from the first line to the last
    exercises: tuple[str, ...]  # "2.1" and so on
    questions: tuple[str, ...]  # of the quiz: "1" and so on
    passed: frozenset[str]  # of the exercises, in any run, and not given back since
    answered: frozenset[str]  # of the questions
    last_unix_seconds: float  # when the last run was started; 0.0: never
    predictions: str  # how those of the newest run that has any went; or empty
    factor_off: float | None  # of the same run, the median
    rivals: tuple[
        str, ...
    ] = ()  # files of several notebooks, if nothing says which one is meant

    @property
    def open_exercises(self) -> list[str]:
        return [name for name in self.exercises if name not in self.passed]

    @property
    def done(self) -> bool:
        return not self.open_exercises and self.answered >= set(self.questions)

    @property
    def progress(self) -> tuple[int, int]:
        """Exercises and questions that are done, and how many there are."""
        quiz = self.answered & set(self.questions)
        done = len(self.exercises) - len(self.open_exercises) + len(quiz)
        return done, len(self.exercises) + len(self.questions)

    def links(self, folder: str, text: str, more: str = "") -> str:
        """A link to its notebook; where nobody knows which one it is, to each of them.

        Parameters
        ----------
        folder, text : str
            Where the notebooks are opened; what the link says, as HTML.
        more : str
            Attributes of the link.
        """
        if not self.rivals:
            return f'<a {more}href="{folder}{quote(self.file)}">{text}</a>'
        each = [
            f'<a {more}href="{folder}{quote(file)}">{escape(file)}</a>'
            for file in self.rivals
        ]
        return f"{text}: {', '.join(each[:-1])} or {each[-1]}?"


def page(folder: str = "") -> str:
    """The state as HTML; identical as long as nothing changes.

    Parameters
    ----------
    folder : str
        Where the notebooks are opened: before each link.
    """
    states = lab_states()
    text, state, cell = way_on(states)
    button = f"<strong>{escape(text)}</strong>"
    if state and state.file:
        # JupyterLab 4.6.6 goes to a place in a notebook only where it is open already when
        # it reads the address: so start.html opens it, and tells it the place afterwards.
        place = address_in(read_notebook(students_folder() / state.file), cell) or ""
        more = f'class="way-on" data-place="{escape(place)}" '
        button = state.links(folder, escape(text), more)
        if state.rivals:
            button += " The one whose first cells you run next is taken from then on."
    return "\n".join(
        [f"<p>{button}</p>", *_table(states, folder), *_calibration(states), _machine()]
    )


def lab_states() -> list[LabState]:
    """Every lab that has a notebook, in order, with what the run cards say.

    Returns
    -------
    list of LabState
    """
    found = {
        name: (own.path.name, own.notebook, own.rivals)
        for name, own in labs_in(students_folder()).items()
    }
    for path in (REPOSITORY / "solutions").glob("*.ipynb"):
        if LAB_NAME.fullmatch(path.stem):
            found.setdefault(path.stem, ("", read_notebook(path), ()))
    return [_state(name, *found[name]) for name in sorted(found)]


def way_on(states: list[LabState]) -> tuple[str, LabState | None, str]:
    """What to do next, in a few words, and the state of the lab where.

    First the lab that was begun last, then those after it, then those before it.

    Parameters
    ----------
    states : list of LabState

    Returns
    -------
    text : str
    state : LabState or None
        None: all is done.
    cell : str
        A regular expression for the cell where in its notebook; matches none for its top.
    """
    last = max(states, key=lambda state: state.last_unix_seconds)
    if not last.last_unix_seconds:
        return f"Begin: {_short(states[0])}", states[0], AT_ITS_TOP
    if last.open_exercises:
        number = last.open_exercises[0]
        cell = f'check\\("{re.escape(number)}"'
        return f"Continue: {_short(last)}, exercise {number}", last, cell
    if not last.done:
        return f"Continue: {_short(last)}, the quiz at its end", last, r"quiz\("
    place = states.index(last)
    for state in states[place:] + states[:place]:
        if not state.done:
            return f"Continue: {_short(state)}", state, AT_ITS_TOP
    all_done = "You have done all there is: run a lab on another machine, and compare."
    return all_done, None, AT_ITS_TOP


def _short(state):
    return state.title.partition(":")[0]


def _state(name, file, notebook, rivals):
    texts = read_texts(name[:2])
    passed, answered, last, predictions, factor_off = set(), set(), 0.0, "", None
    seconds = 0.0
    for card in cards_of(name):
        # `labs run` and an opened solution pass everything: that is not the student's work.
        if card.get("solution"):
            continue
        passed |= reset_exercises.passed(card)
        answered |= set(card.get("quiz", {}))
        seconds += card["wall_seconds"]
        last = max(last, card.get("started_unix_seconds", 0.0))
        if said := how_they_went(card):
            predictions, factor_off = said, typical_factor(card)
    return LabState(
        name=name,
        file=file,
        title=_title(notebook) or name,
        minutes=_minutes(name, notebook, texts),
        spent_minutes=seconds / 60,
        exercises=tuple(numbers_of(name[:2])),
        questions=tuple(str(n) for n in range(1, len(texts["quiz"]) + 1)),
        passed=frozenset(passed),
        answered=frozenset(answered),
        last_unix_seconds=last,
        predictions=predictions,
        factor_off=factor_off,
        rivals=rivals,
    )


def _title(notebook):
    for cell in notebook.get("cells", ()):
        if found := re.match(r"# (.+)", "".join(cell["source"])):
            return found[1]
    return None


def _calibration(states):
    """How the predictions of one lab after the other went: no trend from so few."""
    found = [
        f"{number(state.factor_off)} in lab {state.name[:2]}"
        for state in states
        if state.factor_off
    ]
    if len(found) > 1:
        yield (
            "<p>Where you predicted a number, you were typically off by this factor: "
            f"{', '.join(found[:-1])} and {found[-1]}. "
            "It is the median of a lab; 1 is exactly right.</p>"
        )


def _table(states, folder):
    yield "<table>"
    yield "<caption>The labs in their order, and what you have done so far</caption>"
    headings = (
        "lab", "progress", "done", "time for a person", "your time", "predictions",
        "last begun",
    )  # fmt: skip
    cells = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    yield f"<thead><tr>{cells}</tr></thead>"
    yield "<tbody>"
    for state in states:
        done, of = state.progress
        cells = [
            f'<progress max="{of}" value="{done}" aria-label="{done} of {of}"></progress> '
            f"{done} of {of}",
            "✓ done" if state.done else "",
            f"about {_hours(state.minutes)}",
            _hours(round(state.spent_minutes)) if state.spent_minutes >= 1 else "",
            escape(state.predictions) or "none yet",
            _day(state.last_unix_seconds),
        ]
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        title = escape(state.title)
        if state.file:
            title = state.links(folder, title)
        else:
            title += " (its notebook is gone: <code>labs lab</code> gives another)"
        yield f'<tr><th scope="row">{title}</th>{row}</tr>'
    yield "</tbody>"
    yield "</table>"
    yield (
        "<p>Progress counts exercises and questions of the quiz. The time for a person is "
        f"an estimate, nobody was timed: {WORDS_PER_MINUTE} words a minute, "
        f"{MINUTES_PER_EXERCISE} minutes for an exercise, {MINUTES_PER_QUESTION} for a "
        "question, and what the cells take to run. Your time is that between the first and "
        "the last thing that a run noted.</p>"
    )


def _minutes(name, notebook, texts):
    """Minutes of a person: to read, to solve, to answer, and to wait for the cells."""
    cells = notebook.get("cells", ())
    text = " ".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    solution = read_notebook(REPOSITORY / "solutions" / f"{name}.ipynb")
    minutes = (
        len(text.split()) / WORDS_PER_MINUTE
        + len(numbers_of(name[:2])) * MINUTES_PER_EXERCISE
        + len(texts["quiz"]) * MINUTES_PER_QUESTION
        + solution.get("metadata", {}).get("labs", {}).get("minutes", 0)
    )
    return max(5, 5 * round(minutes / 5))


def _hours(minutes):
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d} min" if hours else f"{rest} min"


def _day(unix_seconds):
    if not unix_seconds:
        return "not yet"
    return time.strftime("%Y-%m-%d", time.localtime(unix_seconds))


def _machine():
    """This machine's hardware. Only TensorFlow can say whether it sees all of it."""
    cores = computer.cores()
    parts = [
        computer.cpu_name(),
        f"{cores} core{'s' * (cores > 1)}",
        f"{computer.memory_bytes() / 2**30:.1f} GiB of memory",
    ]
    gpus = Counter(computer.nvidia_gpus())
    parts += [f"{count} × {name}" for name, count in gpus.items()]
    if os.environ.get("TPU_NAME"):
        parts.append("a TPU")
    text = f"This machine: {', '.join(parts)}."
    if not gpus and not os.environ.get("TPU_NAME"):
        text += (
            " It has no GPU, and needs none: the labs are cut to its size, and where "
            "several devices are the subject, they are simulated."
        )
    return f"<p>{escape(text)}</p>"
