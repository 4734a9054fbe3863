"""Ask a student's answer a question, and judge what it did.

docs/checks.md describes the three parts of a check and what each may know.
"""

import json
import os
import random

from helpers.checks.observe import observe
from helpers.coach.hints import offer_hint
from helpers.errors import CheckError
from helpers.exercise import UNCLEAR, Verdict, find_exercise
from helpers.notebook import cell_errors, messages, session

QUESTIONS_IN_A_NOTEBOOK = 2
MORE_QUESTIONS = 2  # in place of those in which the time of an answer could not be seen
# What can go wrong with any exercise, and the reaction to it.
REACTIONS = {
    "reference": "Run your own cell above again, and then this one.",
    "no_answer": "Fix your answer in the cell above and run it, and then this one.",
    "no_json": "Which value can you return where there is no finite number?",
    "endless": "Which loop does not end, and what has to change in it so that it does?",
    "changed": "The caller goes on using what it gave you. Can you work on a copy?",
    UNCLEAR: "What takes so long in your code, before or after an epoch? Else try again "
    "when your computer has less to do.",
    "form": "Does your code change the checks, Keras or Python's own functions?",
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
    asked = find_exercise(exercise)
    # After a failed check the name holds the reference; else it may hold an older answer.
    is_reference = answer is asked.reference
    if problem := cell_errors.problem_of_answer(exercise, missing=is_reference):
        verdict = Verdict(f"your cell above {problem}", "no_answer")
    elif is_reference:
        verdict = Verdict("this is the reference, not your answer", "reference")
    else:
        # The same questions every time: a verdict must not change by chance.
        verdict = judge_answer(exercise, answer, random.Random(exercise))
    card = session.current_card()
    if verdict is None:
        line = f"✓ {exercise} {asked.title}"
        messages.show(line, messages.box("passed", line))
        if card:
            card.check(exercise, True)
        return answer
    reason = verdict.reason
    if card:
        card.check(exercise, False, reason)
    message = f"✗ {exercise} not yet: {reason}"
    if os.environ.get("LABS_STRICT") == "1":
        raise CheckError(message)
    broken = asked.sentence(verdict)
    lines = [
        *([f"  Required: {broken}"] if broken else []),
        f"  Hint: {reaction_to(asked, verdict.mistake)}",
        "  The reference implementation is used until yours passes.",
        f'  More help: hint("{exercise}")',
    ]
    stripped = [line.strip() for line in lines]
    page = messages.box("open", f"✗ {exercise} not yet:", f" {reason}", stripped)
    messages.show("\n".join([message, *lines]), page)
    offer_hint(exercise)
    return asked.reference


def reaction_to(asked, mistake):
    """What to ask a student who made a mistake; None for a key that nobody has."""
    own = asked.mistakes.get(mistake)
    return (own and own.reaction) or REACTIONS.get(mistake)


def judge_answer(exercise, answer, rng, questions=QUESTIONS_IN_A_NOTEBOOK):
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
    helpers.exercise.Verdict or None
        None if all answers were right.
    """
    probe = find_exercise(exercise).probe
    return judge_replies(
        exercise, lambda asked: observe(probe, answer, asked), rng, questions
    )


def judge_replies(exercise, ask, rng, questions):
    """As `judge_answer`, for an answer anywhere.

    Parameters
    ----------
    exercise : str
    ask : callable
        ``ask(question) -> observation``. It gets a copy of its own, without what
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
        if "error" not in observation and observation.pop("nonce", "") != asked["nonce"]:
            reason = "the reply is not what the probe gives for this question"
            return Verdict(reason, "form")
        verdict = _judge(asked_about, json.loads(question), observation)
        verdicts.append(verdict)
        again = len(verdicts) - verdicts.count(None) <= MORE_QUESTIONS
        if verdict and not (verdict.mistake == UNCLEAR and again):
            return verdict
    return None


def _judge(asked, question, observation):
    if "error" in observation:
        line, reason = observation.get("line"), str(observation["error"])
        if isinstance(line, int):
            reason += f" (line {line} of your cell)"
        # No other mistake: a submission can forge this reply, and `UNCLEAR` would give it
        # another question in place of one that it cannot answer.
        mistake = observation.get("hint")
        return Verdict(reason, mistake if mistake in ("endless", "no_json") else "raised")
    if changed := observation.get("changed"):
        return Verdict(f"it changed {str(changed)[:200]}, which it was given", "changed")
    try:
        said = asked.judge(question, observation)
    except Exception:  # a judge can fail on a reply that no probe gives
        return Verdict("the reply is not what the probe gives for any answer", "form")
    return said and Verdict(*said)
