"""Exercise 9.3 outside of the boxes: it kills them, and carries saves from life to life."""

import secrets
from typing import Any

from helpers.lab_09.ex3_train_with_saves import saves

BOXES = 1  # at the same time: each life is a box of its own
QUESTIONS = 1  # of seven lives, in which every usual mistake trains on other batches
TOLD = (
    "epochs", "steps_per_epoch", "save_every", "learning_rate", "momentum", "pull",
    "folder", "elsewhere_before",
)  # fmt: skip


class _CannotTravelError(Exception):
    """The answer cannot be copied to another process; holds why."""


def ask(question: dict, talk: Any) -> dict:
    """Let an answer live several times: what each life trained on was seen here.

    Parameters
    ----------
    question : dict
    talk : kit.grading.box.several.Talk

    Returns
    -------
    dict
        As the probe's.
    """
    # Without boxes several graders share the folder of temporary files.
    folder = f"saves-{secrets.token_hex(8)}"
    try:
        return _all_lives(question | {"folder": folder, "elsewhere_before": False}, talk)
    except _CannotTravelError as error:
        return {"cannot_travel": error.args[0]}


def _all_lives(question, talk):
    lives, files = [], {}
    for stop, weights in zip(question["stops"], question["weights"], strict=False):
        life, files = _life(talk, question, weights, files, True, stop)
        # Of a life that ended before it could be killed nothing is kept.
        files = files if life["began_at"] == "killed" else {}
        lives.append(life)
    planted = saves.half_a_save([name for name in files if name.endswith(".index")])
    files, last = files | planted, question["weights"][-1]
    other, left = _life(talk, question, last, files, False)
    unchanged = left == files
    life, files = _life(talk, question, last, files, True)
    lives.append(life)
    files = {path: made for path, made in files.items() if planted.get(path) != made}
    kept = sum(path.endswith(".index") for path in files)
    # Once more, where all is done.
    life, _ = _life(talk, question, last, files, True)
    lives.append(life)
    short = question | {"epochs": 1, "elsewhere_before": True}
    first, written = _life(talk, short, last, {}, False)
    return {
        "lives": lives, "other": other, "unchanged": unchanged, "kept": kept,
        "first_began_at": first["began_at"], "written_at_first": len(written),
    }  # fmt: skip


def _life(talk, question, weights, files, chief, stop=None):
    """One life from its start until it ends or is killed, and the files that it leaves."""
    batches, now = [], files
    told = {name: question[name] for name in TOLD} | {"weights": weights, "chief": chief}
    talk.begin(0, told | {"files": saves.packed(files)})
    while True:
        _, message = talk.listen()
        if "observation" in message:
            ended = message["observation"]
            break
        asked = message["wait"]
        epoch, number = asked["batch"]
        if "files" in asked:
            now = saves.unpacked(asked["files"])
        if len(batches) == stop:
            talk.end(0)
            return {"batches": batches, "began_at": "killed", "weights": []}, now
        if len(batches) == saves.MOST_STEPS:
            talk.say(0, {"error": saves.ON_AND_ON})
            continue
        batches.append([int(epoch), int(number)])
        talk.say(0, _gradient(question, *batches[-1]))
    talk.end(0)
    if why := ended.get("cannot_travel"):
        raise _CannotTravelError(str(why))
    life = {"began_at": ended["began_at"], "weights": ended["weights"]}
    return {"batches": batches[:100]} | life, saves.unpacked(ended["files"])


def _gradient(question, epoch, number):
    try:
        return {"gradient": question["gradients"][epoch][number]}
    except IndexError:
        return {"none": True}
