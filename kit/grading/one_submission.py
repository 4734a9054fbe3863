"""Grade one submission. A worker imports this and little else: its start costs less."""

import functools
import time
from collections.abc import Generator

from helpers.checks import ERROR_ABOVE
from helpers.exercise import find_exercise
from helpers.verdict import wrong
from kit.grading.box import sandbox
from kit.grading.box.conversation import STARVED
from kit.grading.box.processes import prepare
from kit.grading.box.whole_notebook import run_notebook
from kit.grading.contracts import Job, Judged, Result, Task
from kit.grading.examine import SYNTAX, UNNAMED, examine, nothing_asked, plain_text

REACTIONS = {
    SYNTAX: "Python could not read your cell, so none of it ran. What is missing in that "
    "line, or at the end of the line before it? Run the cell in JupyterLab before you hand "
    "it in.",
    UNNAMED: "What must the function or class be called? The grader looks for exactly "
    "this name in the exercise's own cell, outside of any other function.",
}


def grade_one(task: Task) -> Generator[tuple, list, Result]:
    """Grade one submission: a work for the `exercise_pool.Crew` of a worker.

    Returns
    -------
    dict
        Also with `notebook`, if the whole notebook was to be executed.
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


def result_of(task: Task, asked: dict[str, Judged]) -> Result:
    """The result of a submission from the verdicts of those exercises that were asked."""
    verdicts, sources = {}, dict(task["code"])
    for number, _, points, _, _ in task["exercises"]:
        source = sources.get(number)
        verdict = asked.get(number) or _nothing_to_ask(task, number)
        mistake = verdict["mistake"]
        verdicts[number] = verdict | {
            "points": points if verdict["passed"] else 0,
            "of": points,
            "code": plain_text(source or "", len(source or "")),
            "reaction": mistake and _reaction(number, mistake, verdict["reason"]),
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


def _reaction(number, mistake, reason):
    if mistake in REACTIONS:
        return REACTIONS[mistake]
    reaction = find_exercise(number).reaction(mistake, reason)
    return reaction if "raised" in reason else reaction.removeprefix(ERROR_ABOVE)


def starved(result: Result) -> list[str]:
    """The numbers of the exercises that the machine was too busy to judge."""
    verdicts = result["exercises"].items()
    return [number for number, verdict in verdicts if verdict.get("mistake") == STARVED]


def asked_of(task: Task) -> list[str]:
    """The numbers of the exercises that are asked, in this order: those with an answer."""
    found = {number for number, _ in task["code"]}
    return [number for number, *_ in task["exercises"] if number in found]


def _verdicts(
    task: Task, limits: sandbox.Limits
) -> Generator[tuple, list, dict[str, Judged]]:
    """Examine the exercises that there are, each in a process of its own."""
    asked, answers = {}, {number: answer for number, _, _, answer, _ in task["exercises"]}
    for number in asked_of(task):
        job: Job = {
            "lab": task["lab"], "exercise": number, "name": answers[number],
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
    return {
        number: verdict or _judged_too_long(number, seconds)
        for number, verdict in zip(asked, verdicts, strict=True)
    }


def _judged_too_long(number: str, seconds: int) -> Judged:
    verdict = find_exercise(number).verdict(
        wrong("form", "long_judgement", seconds=seconds)
    )
    return nothing_asked() | {"reason": verdict.reason, "mistake": verdict.mistake}


def _nothing_to_ask(task: Task, number: str) -> Judged:
    reason = task["problems"].get(number) or task["problem"]
    mistake = "missing" if reason else ""
    return nothing_asked() | {"reason": plain_text(reason, 500), "mistake": mistake}
