"""Put one exercise's questions to a process in a box, and judge its replies."""

import hashlib
import hmac
import random

from helpers.checks import judge_replies, reaction_to
from helpers.exercise import UNCLEAR, Verdict, find_exercise
from helpers.plain_json import as_json
from kit.grading.box.conversation import STARVED, RefusedError, conversation, plain_text

QUESTIONS = 3
REACTIONS_IN_A_BOX = {
    "time": "Does each of your loops end? Try your cell with a small example.",
    "memory": "What grows with every call? Try your cell with a small example.",
    "output": "Which of your prints is called in a loop that does not end?",
    "ended": "Does your code end Python itself, with os._exit, a signal or a crash?",
    STARVED: "You need not do anything: your instructor grades it again.",
    "names": "Of other cells only imports, functions, classes and written-out values "
    "are used. Where do you make that name?",
    "missing": "Start from the lab's own notebook and keep the cell with the TODO.",
}


def examine(job, limits, seed, student, boxed=True, hide=()):
    """Ask an exercise's questions until one answer is wrong.

    Parameters
    ----------
    job : dict
        `lab`, `exercise`, `name`, `code` (see `submissions.code_of`), `setup`,
        `references` and `modules`: see `kit.todo_cells`; `visible`: the files that
        its process may read.
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
        `passed`, `reason`, `hint` (the key of the mistake), `requirement` (the
        sentence that was broken, if it is known), `question` and `observation` (the
        last ones), `borrowed`.
    """
    result = {"passed": False, "borrowed": [], "question": None, "observation": None}
    number = job["exercise"]
    rng = questions_rng(job, seed, student)

    def ask(question):
        observation = box.ask(question)
        shown = {name: part for name, part in question.items() if name != "nonce"}
        result.update(question=shown, observation=observation)
        return observation

    try:
        with conversation(job, limits, boxed, hide) as box:
            verdict = judge_replies(number, ask, rng, QUESTIONS)
            if verdict and verdict.mistake == UNCLEAR and box.was_starved():
                verdict = verdict._replace(mistake=STARVED)
    except RefusedError as refused:
        verdict = Verdict(*refused.args)
    if verdict is None:
        result |= {"passed": True, "reason": "", "hint": "", "requirement": ""}
    else:
        mistake = verdict.mistake
        if mistake == "raised" and "raised NameError" in verdict.reason:
            mistake = "names"
        result |= {
            "reason": plain_text(verdict.reason, 500),
            "hint": mistake,
            "requirement": find_exercise(number).sentence(verdict),
        }
    result["borrowed"] = sorted(box.borrowed)
    return result


def hint_text(number, mistake):
    """What to ask a student who made a mistake; its key may come from a box."""
    asked = find_exercise(number)
    own = reaction_to(asked, mistake) or REACTIONS_IN_A_BOX.get(mistake)
    return own or reaction_to(asked, "raised")


def questions_rng(job, seed, student):
    """What draws the questions.

    Whoever hands in again something else is asked something else: the questions and
    answers that feedback shows are no table of those to come.
    """
    code = as_json(job["code"])
    names = (student, job["lab"], job["exercise"], code)
    text = "\0".join(names).encode("utf-8", "surrogateescape")
    return random.Random(hmac.new(seed, text, hashlib.sha256).hexdigest())
