"""Run a script with a bug, after the line that a student names was replaced.

The script is a function in a module of its exercise, whose listing a lab shows.
"""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any


def script_lines(script: FunctionType) -> list[str]:
    """The lines of a script, as its listing shows them: line 1 comes first."""
    return inspect.getsource(script).splitlines()


def with_line(script: FunctionType, line: int, new: str) -> FunctionType:
    """A script in which one line is another.

    Parameters
    ----------
    script : function
    line : int
        Its number in the listing, from 1.
    new : str
        The new line. It gets the indentation of the old one.

    Returns
    -------
    callable
    """
    lines = script_lines(script)
    old = lines[line - 1]
    lines[line - 1] = old[: len(old) - len(old.lstrip())] + new.strip()
    names = dict(script.__globals__)
    exec(compile("\n".join(lines), f"<script with another line {line}>", "exec"), names)
    return names[script.__name__]


def hunt(
    answer: Callable,
    cases: list[list],
    script: FunctionType,
    run: Callable[[Callable, int], Any],
) -> dict:
    """Ask for the line, the repair and the cost in each case, and run the repaired script.

    Parameters
    ----------
    answer : callable
        ``answer(*case) -> (line, new_line, cost)``.
    cases : list of list
        Arguments of the answer.
    script : function
    run : callable
        ``run(repaired, i)`` runs a script on the data of case `i`, and gives plain JSON.

    Returns
    -------
    dict
        `replies`: for each case `line`, `new` and `cost`, or None where the reply is not
        three of these; `same`: whether the script has this line already; `result`, or
        `error` if the script does not run. `lines`: how many the script has.
    """
    lines, replies = script_lines(script), []
    for i, case in enumerate(cases):
        reply = _read(answer(*case))
        if reply and 1 <= reply["line"] <= len(lines) and _one_line(reply["new"]):
            reply["same"] = lines[reply["line"] - 1].strip() == reply["new"].strip()
            try:
                reply["result"] = run(with_line(script, reply["line"], reply["new"]), i)
            except Exception as error:  # whatever a line of a student raises
                reply["error"] = f"{type(error).__name__}: {error}"[:200]
        replies.append(reply)
    return {"replies": replies, "lines": len(lines)}


def _read(returned):
    try:
        line, new, cost = returned
        if int(line) != line or not isinstance(new, str):
            return None
        return {"line": int(line), "new": new, "cost": float(cost)}
    except (TypeError, ValueError):
        return None


def _one_line(new):
    return len(new.strip().splitlines()) == 1
