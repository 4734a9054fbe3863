"""Put one exercise's questions to a process in a box, and judge its replies."""

import hashlib
import hmac
import json
import random

from helpers.checks import HINTS, part
from kit.grading.conversation import RefusedError, conversation, plain_text

QUESTIONS = 3
HINTS_IN_A_BOX = {
    "time": "Does each of your loops end? Try your cell with a small example.",
    "memory": "What grows with every call? Try your cell with a small example.",
    "output": "Which of your prints is called in a loop that does not end?",
    "form": "Does your code change the checks, Keras or Python's own functions?",
    "ended": "Does your code end Python itself, with os._exit, a signal or a crash?",
    "names": "Only the TODO cells are graded. Where else do you define that name?",
    "missing": "Start from the lab's own notebook and keep the cell with the TODO.",
}


def examine(job, limits, seed, student, boxed=True, hide=()):
    """Ask an exercise's questions until one answer is wrong.

    Parameters
    ----------
    job : dict
        `lab`, `exercise`, `name`, `cells` (TODO cells by exercise), `setup`,
        `references` and `modules`: see `kit.exercises`; `visible`: the files that
        its process may read.
    limits : kit.grading.sandbox.Limits
    seed : bytes
        The secret that questions are drawn from.
    student : str
    boxed : bool
        False: without isolation.
    hide : sequence of Path
        See `kit.grading.sandbox.open_box`.

    Returns
    -------
    dict
        `passed`, `reason`, `hint` (its key), `question` and `observation` (the
        last ones), `borrowed`.
    """
    result = {"passed": False, "borrowed": [], "question": None, "observation": None}
    exercise = job["exercise"]
    judges = part("judge", exercise)
    rng = random.Random(_seed_of(seed, student, job["lab"], exercise))
    try:
        with conversation(job, limits, boxed, hide) as box:
            for _ in range(QUESTIONS):
                question = json.loads(json.dumps(judges.CHALLENGES[exercise](rng)))
                observation = box.ask(question)
                result |= {"question": question, "observation": observation}
                if verdict := _judge(judges, exercise, question, observation):
                    raise RefusedError(*verdict)
    except RefusedError as refused:
        reason, hint = refused.args
        result |= {"reason": plain_text(reason, 500), "hint": hint}
    else:
        result |= {"passed": True, "reason": "", "hint": ""}
    result["borrowed"] = sorted(box.borrowed)
    return result


def hint_text(exercise, key):
    """The hint of a key; the key may come from a box."""
    known = part("judge", exercise).HINTS[exercise] | HINTS | HINTS_IN_A_BOX
    return known.get(key, known["raised"])


def _seed_of(seed, *names):
    text = "\0".join(names).encode("utf-8", "surrogateescape")
    return hmac.new(seed, text, hashlib.sha256).hexdigest()


def _judge(judges, exercise, question, observation):
    if "error" in observation:
        error, hint = str(observation["error"]), observation.get("hint")
        if "raised NameError" in error:
            hint = "names"
        return error, hint if isinstance(hint, str) else "raised"
    try:
        return judges.JUDGES[exercise](question, observation)
    except Exception:  # a judge can fail on a reply that no probe gives
        return "the reply is not what the probe gives for any answer", "form"
