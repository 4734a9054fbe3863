"""Hints for an exercise; each call gives a stronger one."""

import textwrap
from collections import Counter

from helpers.exercise import find_exercise, numbers_of
from helpers.notebook import messages, session
from helpers.texts import labs_with_texts

KINDS = ("a question", "the tool", "the way")
_asked = Counter()  # calls for each exercise in this kernel


def hint(exercise: str | float | None = None) -> None:
    """Show a hint: first a leading question, then the tool, then the way.

    Each call in a kernel gives the next stronger one, and is noted on the run card.

    Parameters
    ----------
    exercise : str
        Its number, ``"2.1"``.
    """
    if exercise is None:
        print(_which(session.current_card()))
        return
    exercise = str(exercise)  # hint(2.1) works too
    numbers = numbers_of(_lab_of(exercise))
    if exercise not in numbers:
        print(_unknown(exercise, numbers))
        return
    messages.show(*_next_hint(exercise))
    if _asked[exercise] < len(KINDS):
        offer_hint(exercise)


def offer_hint(exercise: str) -> None:
    """Show a button for the next hint, where there are buttons, and its place below.

    What it shows is an output like others: it stays in the notebook, the button does not.

    Parameters
    ----------
    exercise : str
    """
    from callbacks.live.picture import WHEN_DEAD  # and so Keras
    from callbacks.live.place import in_jupyterlab

    if not in_jupyterlab() or exercise not in numbers_of(_lab_of(exercise)):
        return
    from IPython.display import display
    from ipywidgets import Button

    button = Button(description="Hint", tooltip=f"The next hint for {exercise}")
    button.add_class("labs-hint")
    display(button._repr_mimebundle_() | {"text/plain": ""}, raw=True)
    nothing = {"text/plain": "", "text/html": WHEN_DEAD}
    place = display(nothing, raw=True, display_id=True)
    pages = []

    def clicked(_):
        text, page = _next_hint(exercise)
        pages.append(page)
        # A screen reader reads out what is inserted as an alert.
        page = f'{WHEN_DEAD}<div role="alert">{"".join(pages)}</div>'
        place.update({"text/plain": text, "text/html": page}, raw=True)
        button.disabled = _asked[exercise] >= len(KINDS)

    button.on_click(clicked)


def _next_hint(exercise):
    """The next stronger hint, as text and as a card; noted on the run card."""
    _asked[exercise] += 1
    strength = min(_asked[exercise], len(KINDS))
    if card := session.current_card():
        card.hint(exercise, strength)
    title = f"Hint {strength} of {len(KINDS)} for {exercise}, {KINDS[strength - 1]}:"
    lines = find_exercise(exercise).hints[strength - 1].strip().splitlines()
    more = "This is the strongest hint."
    if strength < len(KINDS):
        more = f'A stronger one: call hint("{exercise}") again.'
    wrapped = [
        textwrap.fill(line, 86, initial_indent="  ", subsequent_indent="  ")
        for line in lines
    ]
    page = messages.box("hint", title, "", [*lines, more])
    return "\n".join([title, *wrapped, more]), page


def _which(card):
    """What to say where no exercise is named."""
    known = numbers_of(card.content["lab"][:2]) if card else []
    there_are = f"; there are {', '.join(known)}" if known else ""
    return f'hint needs the number of an exercise, as hint("2.1"){there_are}.'


def _lab_of(exercise):
    """The lab's number: "2.1" is one of lab "02"."""
    return exercise.partition(".")[0].zfill(2)


def _unknown(exercise, numbers):
    there_are = numbers or [n for lab in labs_with_texts() for n in numbers_of(lab)]
    return f"There is no exercise {exercise!r}; there are {', '.join(there_are)}."
