"""Our solution of an exercise, beside the student's own cell."""

import inspect
from html import escape

from helpers.exercise import find_exercise
from helpers.notebook import cell_errors, messages, session
from helpers.notebook.listing import in_colour

COLUMNS = "display: flex; flex-wrap: wrap; gap: 4px 20px"
COLUMN = "flex: 1 1 26em; min-width: 0"
WRAPPED = "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
STRONGEST = 3  # the hint after which the solution may be seen
NOT_RUN = "# Your cell has not been run in this kernel.\n"


def may_be_shown(exercise: str) -> bool:
    """Whether an exercise was passed, or its strongest hint read, in any run."""
    if not session.current_card():
        return False
    done = session.done_so_far()
    return exercise in done.passed or done.hints.get(exercise, 0) >= STRONGEST


def show_solution(exercise: str) -> None:
    """Show our solution beside the student's cell, once that spoils nothing.

    Parameters
    ----------
    exercise : str
        Its number, ``"2.1"``.
    """
    if not may_be_shown(exercise):
        print(
            f"The solution of {exercise} is shown once your answer passes, or after "
            f'the third hint: hint("{exercise}") gives the next one.'
        )
        return
    messages.show(*side_by_side(exercise))


def side_by_side(exercise: str) -> tuple[str, str]:
    """The student's cell and our solution, as text and as HTML."""
    own = cell_errors.source_of_answer(exercise) or NOT_RUN
    ours = inspect.getsource(find_exercise(exercise).reference).replace("  # fmt: skip", "")
    columns = {f"Your cell for {exercise}": own, f"Our solution of {exercise}": ours}
    text = "\n\n".join(f"{title}:\n\n{code.rstrip()}" for title, code in columns.items())
    panels = "".join(
        f'<div style="{COLUMN}"><strong>{escape(title)}</strong>'
        f"{_wrapped(in_colour(code, line_numbers=False))}</div>"
        for title, code in columns.items()
    )
    # callbacks/live/accessible.js moves the focus here from the button.
    label = f'tabindex="-1" role="group" aria-label="Our solution of {exercise}"'
    return text, f'<div class="labs-solution" {label} style="{COLUMNS}">{panels}</div>'


def _wrapped(page):
    """A listing whose long lines wrap, because its column is narrow."""
    return page.replace("white-space: pre;", f"{WRAPPED};")
