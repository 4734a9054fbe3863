"""Hints for an exercise; each call gives a stronger one."""

import textwrap
from collections import Counter

from helpers.notebook import messages, session
from helpers.texts import labs_with_texts, read_texts

KINDS = ("a question", "the tool", "the way")
_asked = Counter()  # calls for each exercise in this kernel


def hint(exercise=None):
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
    hints = read_texts(_lab_of(exercise))["hints"]
    if exercise not in hints:
        print(_unknown(exercise, hints))
        return
    messages.show(*_next_hint(exercise, hints[exercise]))
    if _asked[exercise] < len(KINDS):
        offer_hint(exercise)


def offer_hint(exercise):
    """Show a button for the next hint, where there are buttons, and its place below.

    What it shows is an output like others: it stays in the notebook, the button does not.

    Parameters
    ----------
    exercise : str
    """
    from callbacks.live.picture import WHEN_DEAD  # and so Keras
    from callbacks.live.place import in_jupyterlab

    hints = read_texts(_lab_of(exercise))["hints"]
    if not in_jupyterlab() or exercise not in hints:
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
        text, page = _next_hint(exercise, hints[exercise])
        pages.append(page)
        # A screen reader reads out what is inserted as an alert.
        page = f'{WHEN_DEAD}<div role="alert">{"".join(pages)}</div>'
        place.update({"text/plain": text, "text/html": page}, raw=True)
        button.disabled = _asked[exercise] >= len(KINDS)

    button.on_click(clicked)


def _next_hint(exercise, hints):
    """The next stronger hint, as text and as a card; noted on the run card."""
    _asked[exercise] += 1
    strength = min(_asked[exercise], len(KINDS))
    if card := session.current_card():
        card.hint(exercise, strength)
    title = f"Hint {strength} of {len(KINDS)} for {exercise}, {KINDS[strength - 1]}:"
    lines = hints[strength - 1].strip().splitlines()
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
    known = [*read_texts(card.content["lab"][:2])["hints"]] if card else []
    there_are = f"; there are {', '.join(known)}" if known else ""
    return f'hint needs the number of an exercise, as hint("2.1"){there_are}.'


def _lab_of(exercise):
    """The lab's number: "2.1" is one of lab "02"."""
    return exercise.partition(".")[0].zfill(2)


def _unknown(exercise, hints):
    if hints:
        there_are = hints
    else:
        there_are = [name for lab in labs_with_texts() for name in read_texts(lab)["hints"]]
    return f"There is no exercise {exercise!r}; there are {', '.join(there_are)}."
