"""Hints for an exercise; each call gives a stronger one."""

import textwrap
from collections import Counter

from helpers import session
from helpers.coach.texts import labs_with_texts, read_texts

KINDS = ("a question", "the tool", "the way")
_asked = Counter()  # calls for each exercise in this kernel


def hint(exercise):
    """Print a hint: first a leading question, then the tool, then the way.

    Each call in a kernel gives the next stronger one, and is noted on the run card.

    Parameters
    ----------
    exercise : str
        Its number, ``"2.1"``.
    """
    exercise = str(exercise)  # hint(2.1) works too
    hints = read_texts(_lab_of(exercise))["hints"]
    if exercise not in hints:
        print(_unknown(exercise, hints))
        return
    _asked[exercise] += 1
    strength = min(_asked[exercise], len(KINDS))
    if card := session.current_card():
        card.hint(exercise, strength)
    print(f"Hint {strength} of {len(KINDS)} for {exercise}, {KINDS[strength - 1]}:")
    for line in hints[exercise][strength - 1].strip().splitlines():
        print(textwrap.fill(line, 86, initial_indent="  ", subsequent_indent="  "))
    if strength < len(KINDS):
        print(f'A stronger one: call hint("{exercise}") again.')
    else:
        print("This is the strongest hint.")


def _lab_of(exercise):
    """The lab's number: "2.1" is one of lab "02"."""
    return exercise.partition(".")[0].zfill(2)


def _unknown(exercise, hints):
    if hints:
        there_are = hints
    else:
        there_are = [name for lab in labs_with_texts() for name in read_texts(lab)["hints"]]
    return f"There is no exercise {exercise!r}; there are {', '.join(there_are)}."
