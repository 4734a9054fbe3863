"""Ask a student's answer a question, and judge what it did.

docs/checks.md describes the three parts of a check and what each may know.
"""

import json
import os
import random
from collections.abc import Callable
from typing import Any

from helpers.checks.few_lines import FewLines
from helpers.checks.observe import observe
from helpers.coach.hints import offer_help, offers_help
from helpers.errors import CheckError
from helpers.exercise import UNCLEAR, find_exercise
from helpers.notebook import cell_errors, messages, session
from helpers.verdict import Verdict, Wrong, wrong

QUESTIONS_IN_A_NOTEBOOK = 2
ERROR_ABOVE = "Read Python's error above. "
MORE_QUESTIONS = 2  # in place of those in which the time of an answer could not be seen


def check(exercise: str, answer: Any) -> Any:
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
    asked = find_exercise(exercise)
    # After a failed check the name holds the reference; else it may hold an older answer.
    is_reference = answer is asked.reference
    if problem := cell_errors.problem_of_answer(exercise, missing=is_reference):
        verdict = asked.verdict(wrong("no_answer", "cell_above", problem=problem))
    elif is_reference:
        verdict = asked.verdict(wrong("reference", "reference"))
    else:
        # The same questions every time: a verdict must not change by chance.
        with FewLines():
            verdict = judge_answer(exercise, answer, random.Random(exercise))
    card = session.current_card()
    if verdict is None:
        line = f"✓ {exercise} {asked.title}"
        messages.show(line, messages.box("passed", line))
        if card:
            card.check(exercise, True)
        offer_help(exercise, passed=True)
        return answer
    reason = verdict.reason
    if card:
        card.check(exercise, False, reason)
    message = f"✗ {exercise} not yet: {reason}"
    if os.environ.get("LABS_STRICT") == "1":
        raise CheckError(message)
    lines = [
        *([f"  Required: {verdict.requirement}"] if verdict.requirement else []),
        f"  Your turn: {_reaction(asked, verdict)}",
        "  The reference implementation is used until yours passes.",
        f'  More help: hint("{exercise}")',
    ]
    shown = [line.strip() for line in lines]
    if offers_help():  # a button in place of the last line
        shown.pop()
    page = messages.box("open", f"✗ {exercise} not yet:", f" {reason}", shown)
    messages.show("\n".join([message, *lines]), page)
    offer_help(exercise)
    return asked.reference


def _reaction(asked, verdict):
    """A question to the student; of Python's error only where there is one to read."""
    reaction = asked.reaction(verdict.mistake, verdict.reason)
    return reaction if "raised" in verdict.reason else reaction.removeprefix(ERROR_ABOVE)


def judge_answer(
    exercise: str,
    answer: object,
    rng: random.Random,
    questions: int = QUESTIONS_IN_A_NOTEBOOK,
) -> Verdict | None:
    """Ask an answer questions until one is answered wrongly.

    Parameters
    ----------
    exercise : str
    answer : object
    rng : random.Random
        Makes the questions.
    questions : int

    Returns
    -------
    helpers.verdict.Verdict or None
        None if all answers were right.
    """
    probe = find_exercise(exercise).probe
    return judge_replies(
        exercise, lambda asked: observe(probe, answer, asked), rng, questions
    )


def judge_replies(
    exercise: str, ask: Callable, rng: random.Random, questions: int
) -> Verdict | None:
    """As `judge_answer`, for an answer anywhere.

    Parameters
    ----------
    exercise : str
    ask : callable
        ``ask(question) -> observation``, or the `Wrong` of an answer that cannot be asked.
        It gets a copy of its own, without what
        only the judge may know, and with a `nonce` that the observation must hold.
    rng : random.Random
    questions : int
        That must be answered rightly. For one whose verdict is `UNCLEAR`, another one is
        asked, up to `MORE_QUESTIONS` times.
    """
    asked_about, verdicts = find_exercise(exercise), []
    while verdicts.count(None) < questions:
        # As text, so that a notebook judges exactly what a grader would see.
        question = json.dumps(asked_about.draw_question(rng), allow_nan=False)
        asked = json.loads(question)
        asked.pop("secret", None)
        # Nobody can write a reply before the question is there.
        asked["nonce"] = f"{rng.getrandbits(64):016x}"
        observation = ask(asked)
        if isinstance(observation, Wrong):
            return asked_about.verdict(observation)
        if "error" not in observation and observation.pop("nonce", "") != asked["nonce"]:
            return asked_about.verdict(wrong("form", "not_this_question"))
        verdict = _judge(asked_about, json.loads(question), observation)
        verdicts.append(verdict)
        again = len(verdicts) - verdicts.count(None) <= MORE_QUESTIONS
        if verdict and not (verdict.mistake == UNCLEAR and again):
            return verdict
    return None


def _judge(asked, question, observation):
    if "error" in observation:
        facts = {"error": str(observation["error"]), "line": observation.get("line")}
        seen = "error_in_line" if isinstance(facts["line"], int) else "error"
        # No other mistake: a submission can forge this reply, and `UNCLEAR` would give it
        # another question in place of one that it cannot answer.
        mistake = observation.get("mistake")
        mistake = mistake if mistake in ("endless", "no_json") else "raised"
        return asked.verdict(wrong(mistake, seen, **facts))
    if changed := observation.get("changed"):
        return asked.verdict(wrong("changed", "changed", what=str(changed)))
    try:
        said = asked.judge(question, observation)
        return said and asked.verdict(said)
    except Exception:  # a judge can fail on a reply that no probe gives
        return asked.verdict(wrong("form", "not_any_answer"))
