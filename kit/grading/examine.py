"""Put one exercise's questions to a process in a box, and judge its replies."""

import hashlib
import hmac
import random
import re
from collections.abc import Sequence

from helpers.checks import judge_replies
from helpers.exercise import UNCLEAR, find_exercise
from helpers.plain_json import as_json
from helpers.verdict import Wrong
from kit.grading.box.conversation import STARVED, conversation, plain_text
from kit.grading.box.sandbox import Limits
from kit.grading.box.several import several_boxes
from kit.grading.contracts import Job, Judged

QUESTIONS = 3
SYNTAX, UNNAMED = "syntax", "unnamed"  # mistakes besides those of `helpers.exercise`
UNREAD_CELL = re.compile(r"the cell raised (Syntax|Indentation|Tab)Error \(line ")
ANSWERLESS_CELL = re.compile(r"its (?:cell does not define `|`\w+` is )")
MISSING_NAME = re.compile(r" raised (Name|Import|ModuleNotFound)Error:")


def examine(
    job: Job,
    limits: Limits,
    seed: bytes,
    student: str,
    boxed: bool = True,
    hide: Sequence[str] = (),
) -> Judged:
    """Ask an exercise's questions until one answer is wrong.

    Parameters
    ----------
    job : dict
        See `kit.grading.contracts.Job`.
    limits : kit.grading.box.sandbox.Limits
    seed : bytes
        The secret that questions are drawn from.
    student : str
    boxed : bool
        False: without isolation.
    hide : sequence of Path
        See `kit.grading.box.sandbox.open_box`.

    Returns
    -------
    dict
        See `kit.grading.contracts.Judged`.
    """
    number = job["exercise"]
    judged = nothing_asked()
    rng = questions_rng(job, seed, student)

    def ask(question):
        reply = box.ask(question)
        public_question = {name: part for name, part in question.items() if name != "nonce"}
        observation = None if isinstance(reply, Wrong) else reply
        judged.update(question=public_question, observation=observation)
        return reply

    talk = several_boxes if find_exercise(number).outside else conversation
    with talk(job, limits, boxed, hide) as box:
        verdict = judge_replies(number, ask, rng, questions_of(number))
        if verdict and verdict.mistake == UNCLEAR and box.was_starved():
            verdict = verdict._replace(mistake=STARVED)
    judged["borrowed"] = sorted(box.borrowed)
    judged["changed_check"] = box.changed_check
    if verdict is None:
        return judged | {"passed": True}
    mistake = verdict.mistake
    if mistake == "raised" and (error := MISSING_NAME.search(verdict.reason)):
        mistake = "undefined" if error[1] == "Name" else "no_module"
        if mistake == "no_module" and _imports_reference(judged, verdict.reason):
            mistake = "borrowed"
    if UNREAD_CELL.match(verdict.reason):  # it never ran, so it did nothing wrong
        judged |= {"question": None, "observation": None}
        mistake, verdict = SYNTAX, verdict._replace(requirement="")
    if mistake == "raised" and ANSWERLESS_CELL.match(verdict.reason):
        judged |= {"question": None, "observation": None}
        mistake, verdict = UNNAMED, verdict._replace(requirement="")
    return judged | {
        "reason": plain_text(verdict.reason, 500),
        "mistake": mistake,
        "requirement": verdict.requirement,
    }


def _imports_reference(judged, reason):
    """Whether what is missing is our own solution, which no box has."""
    return "reference" in reason and any(".reference" in n for n in judged["borrowed"])


def questions_of(number: str) -> int:
    """How many questions an exercise is asked; fewer where each needs many boxes."""
    return getattr(find_exercise(number).outside, "QUESTIONS", QUESTIONS)


def nothing_asked() -> Judged:
    """The findings about an exercise before it is asked: none."""
    return {
        "passed": False, "reason": "", "mistake": "", "requirement": "",
        "question": None, "observation": None, "borrowed": [],
        "changed_check": [],
    }  # fmt: skip


def questions_rng(job: Job, seed: bytes, student: str) -> random.Random:
    """The generator that draws the questions.

    A changed submission gets new questions, so the questions and answers that the
    feedback shows cannot be used as a lookup table.
    """
    code = as_json(job["code"])
    names = (student, job["lab"], job["exercise"], code)
    text = "\0".join(names).encode("utf-8", "surrogateescape")
    return random.Random(hmac.new(seed, text, hashlib.sha256).hexdigest())
