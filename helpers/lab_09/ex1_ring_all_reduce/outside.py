"""Exercise 9.1 outside of the boxes: the network between workers, which sees everything."""

from typing import Any

import numpy as np

from helpers.workers.array_message import packed
from helpers.workers.boxed_network import CannotTravelError, Network, wait_for

BOXES = 5  # the most workers of a question


def ask(question: dict, talk: Any) -> dict:
    """Let each box be the worker of one rank, in all cases that have so many workers.

    Parameters
    ----------
    question : dict
    talk : kit.grading.box.several.Talk

    Returns
    -------
    dict
        As the probe's, but who sent what to whom was seen here.
    """
    workers = max(len(arrays) for arrays in question["cases"])
    for rank in range(workers):
        talk.begin(rank, {"rank": rank})
    try:
        wait_for(range(workers), talk, "wait")
        seen = [Network(_given(arrays), talk).run() for arrays in question["cases"]]
        for rank in range(workers):
            talk.say(rank, {"over": True})
        said = wait_for(range(workers), talk, "observation")
    except CannotTravelError as error:
        return {"cannot_travel": error.args[0]}
    reports = [iter(said[rank]["cases"]) for rank in range(workers)]
    for case, arrays in zip(seen, question["cases"], strict=True):
        own = [next(report) for report in reports[: len(arrays)]]
        if not case["deadlock"] and "to_itself" not in case:
            case["results"] = [one["result"] for one in own]
            case["dtypes"] = [str(one["dtype"]) for one in own]
            case["new"] = all(one["new"] is True for one in own)
    changed = "`array`" if any(said[rank]["changed"] for rank in range(workers)) else ""
    stay = all(said[rank]["results_stay"] is True for rank in range(workers))
    return {"cases": seen, "changed": changed, "results_stay": stay}


def _given(arrays):
    return [{"array": packed(np.array(array, "float32"))} for array in arrays]
