"""Judge exercises in which students find the line of a script that has a bug.

An answer names the line, gives the line that repairs it, and says what the bug costs. A
wrong line and a wrong repair get the same verdict: else a student would learn the line by
trying one after the other.
"""

from collections.abc import Callable

from helpers.checks.judging.formulas import Formula
from helpers.verdict import Wrong, wrong


def judge_hunt(
    question: dict, observation: dict, unrepaired: Callable[[list, object, int], bool],
    costs: Formula,
) -> Wrong | None:  # fmt: skip
    """The line and its repair first, then the cost.

    Parameters
    ----------
    question : dict
        With `cases`, the arguments of the answer.
    observation : dict
        See `helpers.checks.probing.scripts.hunt`.
    unrepaired : callable
        ``unrepaired(case, result, i) -> bool``: whether the result of the script in case
        `i` is not what its docstring says.
    costs : Formula
        One value for each case.
    """
    cases, replies = question["cases"], observation["replies"]
    for i, (case, reply) in enumerate(zip(cases, replies, strict=True)):
        if found := _wrong_line(reply, observation["lines"]):
            return found
        if "error" in reply:
            return wrong("fails", "script_fails", line=reply["line"], error=reply["error"])
        if reply["same"] or unrepaired(case, reply["result"], i):
            return wrong("repair", "script_wrong", line=reply["line"], case=case)
    different = costs.different(question, [[reply["cost"]] for reply in replies])
    if different is None:
        return None
    case, _, said, due, mistake = different
    return wrong(mistake or "cost", "cost", case=case, value=said, right=due)


def _wrong_line(reply, lines):
    if reply is None:
        return wrong("reply", "no_line")
    if not reply["new"].strip():
        return wrong("start", "empty_line")
    if not 1 <= reply["line"] <= lines:
        return wrong("line", "no_such_line", line=reply["line"], lines=lines)
    if len(reply["new"].strip().splitlines()) > 1:
        return wrong("one_line", "several_lines", lines=len(reply["new"].splitlines()))
    return None
