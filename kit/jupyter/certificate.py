"""A page to print: what a student has done, when, and what this machine measured."""

import time
from pathlib import Path

from helpers.coach.solutions import STRONGEST
from helpers.files import reports_folder, write_atomically
from helpers.run_card.predictions import how_they_went
from kit import look, working_time
from kit.jupyter.start_page import LabState, lab_states

TEMPLATE = Path(__file__).with_name("certificate.html.j2")
FILE = "certificate.html"
SCRIPT = 'document.getElementById("print").addEventListener("click", () => print());'


def page() -> str:
    """The certificate as HTML, from the run cards of this machine.

    Returns
    -------
    str
    """
    states = lab_states()
    begun = [state for state in states if state.work.counted[0]]
    days = [
        unix_seconds
        for state in begun
        for unix_seconds in (state.work.first_unix_seconds, state.work.last_unix_seconds)
    ]
    return look.render(
        TEMPLATE,
        script=SCRIPT,
        script_hash=look.content_hash(SCRIPT),
        done=sum(state.work.counted[0] for state in states),
        of=sum(state.work.counted[1] for state in states),
        finished=sum(state.work.done for state in states),
        labs_in_all=len(states),
        days=_days(min(days), max(days)) if days else [],
        labs=[_row(state) for state in begun],
        printed=_day(time.time()),
    )


def write() -> Path:
    """Write the certificate among the reports.

    Returns
    -------
    Path
    """
    path = reports_folder() / FILE
    write_atomically(path, page())
    return path


def _row(state: LabState):
    work = state.work
    answered = len(work.questions) - len(work.open_questions)
    return {
        "number": state.name[:2],
        "question": state.question,
        "finished": work.done,
        "exercises": f"{len(work.passed)} of {len(work.exercises)}",
        "hints": sum(work.hints.values()),
        "strongest": ", ".join(
            number for number in work.exercises if work.hints.get(number, 0) >= STRONGEST
        ),
        "quiz": f"{answered} of {len(work.questions)}, {work.right_at_once} right at once",
        "predictions": how_they_went(work.together),
        "measured": work.measured,
        "measured_on": work.measured_on,
        "days": " to ".join(_days(work.first_unix_seconds, work.last_unix_seconds)),
        "spent": working_time.in_hours(max(1, round(work.seconds / 60))),
    }


def _days(first, last):
    return list(dict.fromkeys([_day(first), _day(last)]))


def _day(unix_seconds):
    return time.strftime("%Y-%m-%d", time.localtime(unix_seconds))
