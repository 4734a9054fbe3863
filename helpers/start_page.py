"""What notebooks/index.ipynb shows: the labs, what is done, this machine, what is next."""

import json
import os
import re
import time
from collections import Counter
from html import escape
from typing import NamedTuple

from helpers.coach.texts import read_texts
from helpers.files import REPOSITORY
from helpers.machine import computer
from helpers.predictions import how_they_went, number, typical_factor
from helpers.records import cards_of

LEFT = 'style="text-align: left"'  # JupyterLab would align it right


class LabState(NamedTuple):
    """A lab, and what this student has done in it."""

    name: str  # "02_throughput"
    title: str
    run: dict  # of the stored solution: device, minutes, scale; or empty
    exercises: tuple  # "2.1" and so on
    questions: tuple  # of the quiz: "1" and so on
    passed: frozenset  # of the exercises, in any run
    answered: frozenset  # of the questions
    last_unix_seconds: float  # when the last run was started; 0.0: never
    predictions: str  # how those of the newest run that has any went; or empty
    factor_off: float | None  # of the same run, the median

    @property
    def open_exercises(self):
        return [name for name in self.exercises if name not in self.passed]

    @property
    def done(self):
        return not self.open_exercises and self.answered >= set(self.questions)

    def link(self, text):
        """A link to its notebook, relative to the page in the same folder."""
        return f'<a href="{self.name}.ipynb">{escape(text)}</a>'


def show():
    """Show the page's state; the cell of the start page calls it."""
    from IPython.display import HTML, display

    display(HTML(page()))


def page():
    """The state as HTML; identical as long as nothing changes."""
    states = lab_states()
    parts = [
        f"<p><strong>Next:</strong> {what_next(states)}</p>",
        *_calibration(states),
        *_table(states),
        _machine(),
    ]
    return "\n".join(parts)


def lab_states():
    """Every lab that has a notebook, in order, with what the run cards say.

    Returns
    -------
    list of LabState
    """
    folder = REPOSITORY / "notebooks"
    names = [path.stem for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))]
    return [_state(name) for name in names if re.fullmatch(r"\w+", name)]


def what_next(states):
    """One sentence, as HTML: what to do next.

    First the lab that was begun last, then those after it, then those before it.

    Parameters
    ----------
    states : list of LabState
    """
    last = max(states, key=lambda state: state.last_unix_seconds)
    if not last.last_unix_seconds:
        return f"begin with {_short_link(states[0])}."
    if last.open_exercises:
        *first, one = last.open_exercises
        several = f"{', '.join(first)} and {one}" if first else one
        return f"solve {several} in {_short_link(last)}."
    if not last.done:
        return f"answer the quiz at the end of {_short_link(last)}."
    place = states.index(last)
    for state in states[place:] + states[:place]:
        if not state.done:
            return f"open {_short_link(state)}."
    return "you have done all there is; run a lab on another machine, and compare."


def _short_link(state):
    return state.link(state.title.partition(":")[0])


def _state(name):
    texts = read_texts(name[:2])
    passed, answered, last, predictions, factor_off = set(), set(), 0.0, "", None
    for card in cards_of(name):
        # `labs run` and an opened solution pass everything: that is not the student's work.
        if card.get("solution"):
            continue
        checks = card.get("checks", {})
        passed |= {number for number, check in checks.items() if check["passed"]}
        answered |= set(card.get("quiz", {}))
        last = max(last, card.get("started_unix_seconds", 0.0))
        if said := how_they_went(card):
            predictions, factor_off = said, typical_factor(card)
    solution = _notebook(REPOSITORY / "solutions" / f"{name}.ipynb")
    return LabState(
        name=name,
        title=_title(_notebook(REPOSITORY / "notebooks" / f"{name}.ipynb")) or name,
        run=solution.get("metadata", {}).get("labs", {}),
        exercises=tuple(texts["hints"]),
        questions=tuple(str(n) for n in range(1, len(texts["quiz"]) + 1)),
        passed=frozenset(passed),
        answered=frozenset(answered),
        last_unix_seconds=last,
        predictions=predictions,
        factor_off=factor_off,
    )


def _notebook(path):
    """A notebook as plain JSON; empty if it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


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


def _table(states):
    yield "<table>"
    yield "<caption>The labs in their order, and what you have done so far</caption>"
    headings = (
        "lab", "minutes", "exercises passed", "quiz answered", "predictions", "last begun",
    )  # fmt: skip
    cells = "".join(f'<th scope="col" {LEFT}>{heading}</th>' for heading in headings)
    yield f"<thead><tr>{cells}</tr></thead>"
    yield "<tbody>"
    for state in states:
        cells = [
            f"{state.run['minutes']:g}" if state.run else "?",
            _part(state.passed, state.exercises),
            _part(state.answered, state.questions),
            escape(state.predictions) or "none yet",
            _day(state.last_unix_seconds),
        ]
        row = "".join(f"<td {LEFT}>{cell}</td>" for cell in cells)
        yield f'<tr><th scope="row" {LEFT}>{state.link(state.title)}</th>{row}</tr>'
    yield "</tbody>"
    yield "</table>"
    runs = Counter((s.run["scale"], s.run["device"]) for s in states if s.run)
    for (scale, device), _ in runs.most_common(1):
        text = f"Minutes: of the solution, at {scale} scale, on {device}."
        yield f"<p>{escape(text)} Yours will differ.</p>"


def _part(of_it, all_of_it):
    return f"{len(of_it & set(all_of_it))} of {len(all_of_it)}"


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
