"""Grade one submission. A worker imports this and little else: its start costs less."""

import functools
import time

from helpers.exercise import find_exercise
from kit.grading.box import sandbox
from kit.grading.box.conversation import STARVED
from kit.grading.box.processes import prepare
from kit.grading.box.whole_notebook import run_notebook
from kit.grading.examine import examine, hint_text, plain_text


def grade_one(task):
    """Grade one submission: a work for the `exercise_pool.Crew` of a worker.

    Returns
    -------
    dict
        Plain JSON; also `notebook`, if the whole notebook was to be executed.
    """
    began = time.perf_counter()
    limits = sandbox.Limits(*task["limits"])
    verdicts = yield from _verdicts(task, limits)
    result = result_of(task, verdicts)
    if task["text"]:
        result["full_run"], result["notebook"] = run_notebook(
            task["text"], limits, task["boxed"], task["hide"], task["visible"]
        )
    return result | {"seconds": round(time.perf_counter() - began, 2)}


def result_of(task, asked):
    """The result of a submission from the verdicts of those exercises that were asked."""
    verdicts, sources = {}, dict(task["code"])
    for number, _, points, _, _ in task["exercises"]:
        source = sources.get(number)
        verdict = asked.get(number) or _nothing_to_ask(task, number)
        verdicts[number] = verdict | {
            "points": points if verdict["passed"] else 0,
            "of": points,
            "code": plain_text(source or "", len(source or "")),
            "hint_key": verdict["hint"],
            "hint": hint_text(number, verdict["hint"]) if verdict["hint"] else "",
        }
    return {
        "student": task["student"],
        "file_name": task["file_name"],
        "lab": task["lab"],
        "status": task["status"],
        "problem": plain_text(task["problem"], 500).replace("\n", " "),
        "exercises": verdicts,
        "total": sum(verdict["points"] for verdict in verdicts.values()),
        "of": sum(verdict["of"] for verdict in verdicts.values()),
        "isolated": task["boxed"],
        "key": task["key"],
        "seconds": 0.0,
    }


def starved(result):
    """The numbers of the exercises that the machine was too busy to judge."""
    verdicts = result["exercises"].items()
    return [number for number, verdict in verdicts if verdict.get("hint_key") == STARVED]


def _verdicts(task, limits):
    """Examine the exercises that there are, each in a process of its own."""
    asked, found = {}, dict(task["code"])
    for number, _, _, answer, _ in task["exercises"]:
        if number not in found:
            continue
        job = {
            "lab": task["lab"], "exercise": number, "name": answer,
            "code": task["code"], "setup": task["setup"],
            "references": task["references"], "modules": task["modules"],
            "visible": task["visible"],
        }  # fmt: skip
        asked[number] = functools.partial(
            examine, job, limits, task["seed"].encode(), task["student"], task["boxed"],
            task["hide"],
        )  # fmt: skip
    if asked:
        prepare(tuple(task["modules"]))
    for number in asked:
        find_exercise(number).judge  # noqa: B018 - imported once, not in each process below
    seconds = limits.judge_cpu_seconds
    verdicts = yield list(asked.values()), seconds
    reason = f"judging its replies took more than {seconds} seconds of processor time"
    too_long = {"reason": reason, "hint": "form"}
    return {
        number: verdict or _nothing_to_ask(task, number) | too_long
        for number, verdict in zip(asked, verdicts, strict=True)
    }


def _nothing_to_ask(task, number):
    reason = task["problems"].get(number) or task["problem"]
    return {
        "passed": False, "borrowed": [], "question": None, "observation": None,
        "reason": plain_text(reason, 500), "hint": "missing" if reason else "",
        "requirement": "",
    }  # fmt: skip
