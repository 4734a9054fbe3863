"""Hints for an exercise; each call gives a stronger one, and the last our solution."""

import math
import textwrap
import time
from collections import Counter

from helpers.coach.solutions import may_be_shown, side_by_side
from helpers.exercise import find_exercise, numbers_of, unknown
from helpers.notebook import messages, session

KINDS = ("a question", "the tool", "the way")
SOLUTION = "Show our solution"
PAUSE_SECONDS = 0.5  # between two clicks on its button
_asked = Counter()  # calls for each exercise in this kernel
_buttons = {}  # for each exercise the last one that gives hints


def hint(exercise: str | float | None = None) -> None:
    """Show a hint: first a leading question, then the tool, then the way.

    Each call in a kernel gives the next stronger one, and is noted on the run card. After
    the strongest comes our solution.

    Parameters
    ----------
    exercise : str
        Its number, ``"2.1"``.
    """
    if exercise is None:
        print(_which(session.current_card()))
        return
    exercise = str(exercise)  # hint(2.1) works too
    if exercise not in numbers_of(_lab_of(exercise)):
        print(unknown(exercise))
        return
    messages.show(*_next_help(exercise))
    if exercise not in _buttons:  # there is one already, under the check
        _show_button(exercise)


def offers_help() -> bool:
    """Whether there are buttons here."""
    from callbacks.live.place import in_jupyterlab

    return in_jupyterlab()


def offer_help(exercise: str, passed: bool = False) -> None:
    """Show a button for the next hint, where there are buttons, and its place below.

    After the last hint it shows the solution. What it shows is an output like others: it
    stays in the notebook, the button does not. A check that is run again replaces them, so
    the hints that were read before, in any run, are there from the beginning, folded.

    Parameters
    ----------
    exercise : str
    passed : bool
        The solution comes at once.
    """
    if not offers_help():
        return
    if not passed and session.current_card():
        read = session.done_so_far().hints.get(exercise, 0)
        _asked[exercise] = max(_asked[exercise], min(read, len(KINDS)))
    _show_button(exercise, passed, 0 if passed else _asked[exercise])


def _show_button(exercise, passed=False, read=0):
    """The button, and its place below, which begins with the hints that were read."""
    if not offers_help() or exercise not in numbers_of(_lab_of(exercise)):
        return
    from IPython.display import display
    from ipywidgets import Button, Layout

    from callbacks.live.picture import FOCUS, WHEN_DEAD, WHILE_ALIVE  # and so Keras

    button = Button(layout=Layout(width="auto"))
    button.add_class("labs-hint")
    display(button._repr_mimebundle_() | {"text/plain": ""}, raw=True)
    before = _folded(exercise, min(read, len(KINDS)))
    at_first = {"text/plain": "", "text/html": f"{WHEN_DEAD}{WHILE_ALIVE}{before}"}
    place = display(at_first, raw=True, display_id=True)
    pages, clicked_at = [], [-math.inf]

    def clicked(_):
        if time.monotonic() - clicked_at[0] < PAUSE_SECONDS:
            return  # a double click, or a second one while the kernel was busy
        clicked_at[0] = time.monotonic()
        if passed or _is_solution_next(exercise):
            button.disabled = True
        text, page = side_by_side(exercise) if passed else _next_help(exercise)
        pages.append(page)
        # A screen reader reads out what is inserted as an alert.
        page = f'{WHEN_DEAD}{FOCUS}{before}<div role="alert">{"".join(pages)}</div>'
        place.update({"text/plain": text, "text/html": page}, raw=True)

    button.on_click(clicked)
    if passed:
        _name(button, exercise, SOLUTION)
    else:
        _buttons[exercise] = button
        _name(button, exercise, _what_is_next(exercise))


def _name(button, exercise, text):
    button.description, button.tooltip = text, f"{text}, exercise {exercise}"


def _what_is_next(exercise):
    if _is_solution_next(exercise):
        return f"{SOLUTION} (no hint left)"
    number = min(_asked[exercise] + 1, len(KINDS))
    left = len(KINDS) - number
    return f"Hint {number} of {len(KINDS)} ({left or 'none'} left after it)"


def _folded(exercise, read):
    """The hints up to a strength, behind one line that opens; nothing if there are none."""
    if not read:
        return ""
    pages = "".join(_page_of(exercise, strength) for strength in range(1, read + 1))
    what = "Hint 1, which you" if read == 1 else f"Hints 1 to {read}, which you"
    return f"<details><summary>{what} have read for {exercise}</summary>{pages}</details>"


def _is_solution_next(exercise):
    # Without a run card nothing says that the hints were read.
    return _asked[exercise] >= len(KINDS) and may_be_shown(exercise)


def _next_help(exercise):
    """The next stronger hint, or the solution after the last; as text and as HTML."""
    make_page = side_by_side if _is_solution_next(exercise) else _next_hint
    text, page = make_page(exercise)
    if button := _buttons.get(exercise):
        _name(button, exercise, _what_is_next(exercise))
    return text, page


def _next_hint(exercise):
    """The next stronger hint, as text and as HTML; noted on the run card."""
    _asked[exercise] += 1
    strength = min(_asked[exercise], len(KINDS))
    if card := session.current_card():
        card.hint(exercise, strength)
    title, lines = _title(exercise, strength), _lines(exercise, strength)
    more = f'This is the strongest hint. Our solution: call hint("{exercise}") again.'
    if strength < len(KINDS):
        more = f'A stronger one: call hint("{exercise}") again.'
    wrapped = [
        textwrap.fill(line, 86, initial_indent="  ", subsequent_indent="  ")
        for line in lines
    ]
    more_on_page = "" if offers_help() else more  # the button says it
    page = _page_of(exercise, strength, more_on_page)
    return "\n".join([title, *wrapped, more]), page


def _page_of(exercise, strength, more=""):
    """A hint as a message."""
    lines = [*_lines(exercise, strength), *([more] if more else [])]
    return messages.box("hint", _title(exercise, strength), "", lines)


def _title(exercise, strength):
    return f"Hint {strength} of {len(KINDS)} for {exercise}, {KINDS[strength - 1]}:"


def _lines(exercise, strength):
    return find_exercise(exercise).hints[strength - 1].strip().splitlines()


def _which(card):
    """The reply to a call that names no exercise."""
    known = numbers_of(card.content["lab"][:2]) if card else []
    there_are = f"; there are {', '.join(known)}" if known else ""
    return f'hint needs the number of an exercise, as hint("2.1"){there_are}.'


def _lab_of(exercise):
    """The lab's number: "2.1" is one of lab "02"."""
    return exercise.partition(".")[0].zfill(2)
