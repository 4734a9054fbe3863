"""Ask a student's answer a question, and judge what it did.

docs/checks.md describes the three parts of a check and what each may know.
"""

import importlib
import json
import os
import random

from helpers import session
from helpers.checks.observe import observe
from helpers.errors import CheckError

QUESTIONS_IN_A_NOTEBOOK = 2
# What can go wrong with any exercise.
HINTS = {
    "reference": "Run your own cell above again, and then this one.",
    "no_json": "Which value can you return where there is no finite number?",
}


def check(exercise, answer):
    """Check an answer in the notebook; raises only under ``LABS_STRICT=1``.

    Parameters
    ----------
    exercise : str
        Its number, ``"2.1"``.
    answer : object
        What the exercise asked for: a class or a function.

    Returns
    -------
    object
        `answer` if it passed, else the reference implementation, so that the
        rest of the lab works.

    Raises
    ------
    CheckError
        Under ``LABS_STRICT=1``, if the answer did not pass.
    """
    if answer is part("reference", exercise).REFERENCES[exercise]:
        # The check's cell ran twice: the name now holds the reference.
        verdict = ("this is the reference, not your answer", "reference")
    else:
        # The same questions every time: a verdict must not change by chance.
        verdict = judge_answer(exercise, answer, random.Random(exercise))
    judges = part("judge", exercise)
    card = session.current_card()
    if verdict is None:
        print(f"✓ {exercise} {judges.TITLES[exercise]}")
        if card:
            card.check(exercise, True)
        return answer
    reason, hint = verdict
    if card:
        card.check(exercise, False, reason)
    message = f"✗ {exercise} not yet: {reason}"
    if os.environ.get("LABS_STRICT") == "1":
        raise CheckError(message)
    print(message)
    print(f"  Hint: {(judges.HINTS[exercise] | HINTS)[hint]}")
    print("  The reference implementation is used until yours passes.")
    print(f'  More help: hint("{exercise}")')
    return part("reference", exercise).REFERENCES[exercise]


def judge_answer(exercise, answer, rng, questions=QUESTIONS_IN_A_NOTEBOOK):
    """Ask questions until one is answered wrongly.

    Parameters
    ----------
    exercise : str
    answer : object
    rng : random.Random
        Makes the questions.
    questions : int

    Returns
    -------
    None or tuple of str
        None if all answers were right, else the reason and the hint's key.
    """
    judges = part("judge", exercise)
    probe = part("probe", exercise).PROBES[exercise]
    for _ in range(questions):
        question = judges.CHALLENGES[exercise](rng)
        # Through JSON, so that a notebook judges exactly what a grader would see.
        question = json.loads(json.dumps(question, allow_nan=False))
        observation = observe(probe, answer, question)
        if "error" in observation:
            return observation["error"], observation["hint"]
        if verdict := judges.JUDGES[exercise](question, observation):
            return verdict
    return None


def part(kind, exercise):
    """A lab's `probe`, `judge` or `reference`: the module that has an exercise."""
    number = int(exercise.split(".")[0])
    return importlib.import_module(f"helpers.lab_{number:02d}.{kind}")
