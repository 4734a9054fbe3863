"""Exercise 11.3 outside of the boxes: the network between workers sees every message."""

from typing import Any

import numpy as np

from helpers.workers.array_message import packed
from helpers.workers.boxed_network import CannotTravelError, ask_boxes

BOXES = 5  # the most workers of a question
ARGUMENTS = "", "`weights`", "`gradient`"


def ask(question: dict, talk: Any) -> dict:
    """Let each box be the worker of one rank, in all trainings with so many workers.

    Parameters
    ----------
    question : dict
    talk : kit.grading.box.several.Talk

    Returns
    -------
    dict
        As the probe's, but who sent what to whom was seen here.
    """
    trainings, order = question["trainings"], question["order"]
    workers = max(training["workers"] for training in trainings)
    rounds = [
        _given(number, trainings[number], order[:before].count(number))
        for before, number in enumerate(order)
    ]
    try:
        steps, said = ask_boxes(workers, talk, rounds)
    except CannotTravelError as error:
        return {"cannot_travel": error.args[0]}
    reports = [iter(one["reports"]) for one in said]
    for number, step in zip(order, steps, strict=True):
        own = [next(one) for one in reports[: trainings[number]["workers"]]]
        if not step["deadlock"] and "to_itself" not in step:
            step["workers"] = own
    changed = next((one["changed"] for one in said if one["changed"]), "")
    if changed not in ARGUMENTS:
        raise ValueError("no argument has this name")
    stay = all(one["results_stay"] is True for one in said)
    return {"steps": steps, "changed": changed, "results_stay": stay}


def _given(number, training, done):
    weights = packed(np.array(training["weights"], "float32"))
    gradients = np.array(training["gradients"][done], "float32")
    same = {"training": number, "rate": training["rate"], "weights": weights}
    return [same | {"gradient": packed(gradient)} for gradient in gradients]
