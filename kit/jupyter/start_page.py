"""The start page: what is next, the labs, what is done, this machine."""

import os
import re
import time
from collections import Counter
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from helpers.files import REPOSITORY
from helpers.machine import computer
from helpers.notebook.notebooks import (
    LAB_NAME,
    address_in,
    labs_in,
    read_notebook,
    students_folder,
)
from helpers.plain_json import storable
from helpers.run_card import progress
from helpers.run_card.predictions import factor_text, how_they_went, typical_factor
from helpers.run_card.progress import Progress
from helpers.texts import HELPERS
from kit import look, working_time
from kit.labs import all_labs

TEMPLATES = Path(__file__).parent
AT_ITS_TOP = r"(?!)"  # matches no cell
# The headings of the page: the first lab of each part, its title, the hue of its pictures.
PARTS = (
    ("00", "One device", "blue"),
    ("05", "Several devices", "orange"),
    ("08", "Faster, and on many machines", "green"),
)


class LabState(NamedTuple):
    """A lab, and what this student has done in it."""

    name: str  # "02_throughput"
    file: str  # of its notebook, whatever its name is by now; empty: it is gone
    title: str
    minutes: int  # of a person: an estimate
    work: Progress  # of this student, in all runs
    rivals: tuple[
        str, ...
    ] = ()  # files of several notebooks, if nothing says which one is meant

    @property
    def question(self) -> str:
        """Its title without "Lab 02: "."""
        return self.title.partition(": ")[2] or self.title

    def links(self, folder: str, text: str, more: str = "") -> str:
        """A link to its notebook; where nobody knows which one it is, to each of them.

        Parameters
        ----------
        folder, text : str
            Where the notebooks are opened; what the link says.
        more : str
            Attributes of the link, as HTML.
        """
        text = escape(text)
        if not self.rivals:
            file = quote(os.fsencode(self.file))  # whatever bytes are in it
            return Markup(f'<a {more}href="{folder}{file}">{text}</a>')
        each = [
            f'<a {more}href="{folder}{quote(os.fsencode(file))}">{escape(name)}</a>'
            for file, name in zip(self.rivals, map(storable, self.rivals), strict=True)
        ]
        return Markup(f"{text}: {', '.join(each[:-1])} or {each[-1]}?")


def page(folder: str = "") -> str:
    """The state as HTML; identical as long as nothing changes.

    Parameters
    ----------
    folder : str
        Where the notebooks are opened: before each link.
    """
    states = lab_states()
    return look.render(
        TEMPLATES / "state.html.j2",
        way_on=_button(states, folder),
        done=sum(state.work.counted[0] for state in states),
        of=sum(state.work.counted[1] for state in states),
        spent=_spent(states),
        calibration=_calibration(states),
        parts=_parts(states, folder),
        assumptions=working_time.ASSUMPTIONS,
        machine=_machine(),
    )


def _button(states, folder):
    """A link to what is next."""
    text, state, cell = way_on(states)
    if not state or not state.file:
        return Markup(f"<strong>{escape(text)}</strong>")
    # JupyterLab 4.6.6 goes to a place in a notebook only where it is open already when
    # it reads the address: so start.html opens it, and tells it the place afterwards.
    place = address_in(read_notebook(students_folder() / state.file), cell) or ""
    button = state.links(folder, text, f'class="button" data-place="{escape(place)}" ')
    if state.rivals:
        button += " From then on the course uses the one whose first cells you run next."
    return button


def _spent(states):
    """Hours so far, and what the labs that are not done may still take."""
    spent = sum(state.work.seconds for state in states) / 60
    left = sum(map(_minutes_left, states))
    parts = [f"{working_time.in_hours(round(spent))} so far"] if spent >= 1 else []
    return ", ".join(
        [*parts, *([f"about {working_time.in_hours(left)} to go"] if left else [])]
    )


def _minutes_left(state):
    """Of a lab that has begun, the share of what is still open; in steps of 5."""
    done, of = state.work.counted
    return 5 * round(state.minutes * (of - done) / of / 5) if of else state.minutes


def _parts(states, folder):
    """The labs under their headings, in order; a heading without labs is left out."""
    labs = {first: [] for first, _, _ in PARTS}
    for state in states:
        labs[max(first for first in labs if first <= state.name[:2])].append(
            _card(state, folder)
        )
    return [
        {"title": title, "hue": hue, "first": first, "labs": labs[first]}
        for first, title, hue in PARTS
        if labs[first]
    ]


def _card(state, folder):
    """The page's part about one lab."""
    done, of = state.work.counted
    spent_minutes = round(state.work.seconds / 60)
    return {
        "heading": state.links(folder, state.question) if state.file else state.question,
        "gone": not state.file,
        # Such as a copy, whose first cells were run last.
        "own_file": ""
        if state.rivals or state.file == f"{state.name}.ipynb"
        else storable(state.file),
        "picture": lab_picture(state.name),
        "number": state.name[:2],
        "minutes": working_time.in_hours(state.minutes),
        "spent": working_time.in_hours(spent_minutes) if spent_minutes else "",
        "done": done,
        "of": of,
        "finished": state.work.done,
        "begun": _day(state.work.last_unix_seconds),
        "predictions": how_they_went(state.work.together),
        "measured": state.work.measured,
    }


def lab_picture(name: str) -> str:
    """The drawing in a lab's folder, or nothing."""
    path = HELPERS / f"lab_{name[:2]}" / "picture.svg"
    return Markup(path.read_text(encoding="utf-8")) if path.is_file() else ""


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
    known = {lab.name for lab in all_labs()}  # "08_notes" is a student's own
    return [_state(name, *found[name]) for name in sorted(found) if name in known]


def way_on(states: list[LabState]) -> tuple[str, LabState | None, str]:
    """The next step, in a few words, and the state of the lab where.

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
    last = max(states, key=lambda state: state.work.last_unix_seconds)
    if not last.work.last_unix_seconds:
        return f"Begin: {_short(states[0])}", states[0], AT_ITS_TOP
    if last.work.open_exercises:
        number = last.work.open_exercises[0]
        cell = f'check\\("{re.escape(number)}"'
        return f"Continue: {_short(last)}, exercise {number}", last, cell
    if not last.work.done:
        return f"Continue: {_short(last)}, the quiz at its end", last, r"quiz\("
    place = states.index(last)
    for state in states[place:] + states[:place]:
        if not state.work.done:
            return f"Continue: {_short(state)}", state, AT_ITS_TOP
    all_done = "You have finished every lab: run one on another machine, and compare."
    return all_done, None, AT_ITS_TOP


def _short(state):
    return state.title.partition(":")[0]


def _state(name, file, notebook, rivals):
    return LabState(
        name=name,
        file=file,
        title=_title(notebook) or name,
        minutes=_minutes(name, notebook),
        work=progress.of_student(name),
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
        f"{factor_text(factor)} in lab {state.name[:2]}"
        for state in states
        if (factor := typical_factor(state.work.together))
    ]
    if len(found) < 2:
        return ""
    return f"{', '.join(found[:-1])} and {found[-1]}"


def _minutes(name, notebook):
    solution = read_notebook(REPOSITORY / "solutions" / f"{name}.ipynb")
    run_minutes = solution.get("metadata", {}).get("labs", {}).get("minutes", 0)
    return working_time.working_minutes(name[:2], notebook, run_minutes)


def _day(unix_seconds):
    if not unix_seconds:
        return ""
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
            " It has no GPU, and needs none, because the labs adapt to its size. Where a "
            "lab is about several devices, they are simulated."
        )
    return text
