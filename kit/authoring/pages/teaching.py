"""The tables of docs/teaching/teach.md: what builds on what, routes, goals, and lessons."""

import json
import tomllib
from pathlib import Path

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.labs import Lab, find_lab, title_and_question
from kit.working_time import in_hours, places

TEACHING = REPOSITORY / "docs" / "teaching" / "teach.toml"
NO_LAB, NO_BREAK = "–", "\N{NO-BREAK SPACE}"
TOGETHER = 50  # minutes in which a class works on a lab


def teaching_tables(minutes: dict[Lab, int], source: Path = TEACHING) -> dict[str, str]:
    """The tables of the page on teaching, each under the name of its place.

    Parameters
    ----------
    minutes : dict of kit.labs.Lab to int
        Those that each lab takes a student.
    source : Path
        A TOML file: a table for each lab (`can`, `after`, `question`, `outcome`, `answer`,
        `talk`, `reply`, `compare`), and one of routes. A lab without a table has no goal,
        no lesson and no question.

    Returns
    -------
    dict of str to str
        Markdown.

    Raises
    ------
    LabError
        If the file names a lab or an outcome that does not exist.
    """
    said = tomllib.loads(source.read_text(encoding="utf-8"))
    routes = said.pop("routes", {})
    return {
        "order": _order(minutes, said),
        "routes": _routes(minutes, routes),
        "goals": _goals(said),
        "votes": _votes(said),
        "lessons": _lessons(said),
    }


def _order(minutes, said):
    rows = "".join(
        f"| {_link(lab)} {_question(lab)} "
        f"| {_numbers(said.get(lab.number, {}).get('after', []))} "
        f"| {_points(lab)} | {in_hours(time).replace(' ', NO_BREAK)} |\n"
        for lab, time in minutes.items()
    )
    return f"| lab | builds on | points | time |\n|---|---|---|---|\n{rows}"


def _routes(minutes, routes):
    rows = ""
    for name, numbers in routes.items():
        time = sum(minutes[find_lab(number)] for number in numbers)
        labs = "all" if len(numbers) == len(minutes) else _numbers(numbers)
        rows += f"| {name} | {labs} | {time / 60:.0f} h |\n"
    return f"| route | labs | time |\n|---|---|---|\n{rows}"


def _goals(said):
    rows = "".join(f"| {_link(find_lab(n))} | {lab['can']} |\n" for n, lab in said.items())
    return f"| after lab | students can |\n|---|---|\n{rows}"


def _lessons(said):
    """When a class comes to the first prediction and to the vote's, and how far it gets."""
    rows = "".join(_lesson(find_lab(number), lab) for number, lab in said.items())
    return (
        f"| lab | first prediction | that of the vote | {TOGETHER} minutes lead to "
        f"| compare |\n|---|---|---|---|---|\n{rows}"
    )


def _lesson(lab, said):
    notebook = json.loads(lab.notebook.read_text(encoding="utf-8"))
    found = list(places(notebook))
    guesses = {name: minutes for minutes, kind, name in found if kind == "prediction"}
    headings = [(minutes, text) for minutes, kind, text in found if kind == "heading"]
    _, heading = min(headings, key=lambda one: abs(one[0] - TOGETHER))
    first, vote = min(guesses.values()), guesses[said["outcome"].partition(".")[0]]
    return (
        f"| {_link(lab)} | {_about(first)} | {_about(vote)} | *{heading}* "
        f"| {said['compare']} |\n"
    )


def _about(minutes):
    return f"{max(5, 5 * round(minutes / 5))}{NO_BREAK}min"


def _votes(said):
    return "\n".join(_vote(find_lab(number), vote) for number, vote in said.items())


def _vote(lab, vote):
    """A question that a class can see, with the answer folded."""
    answer = vote["answer"].format(_outcome(lab, vote["outcome"]))
    return (
        f"**Lab {_link(lab)}.** {vote['question']}\n\n"
        "<details>\n<summary>Our run, and what to ask next</summary>\n\n"
        f"{answer[0].upper()}{answer[1:]}. *Then ask:* {vote['talk']}\n\n"
        f"*An answer:* {vote['reply']}\n\n</details>\n"
    )


def _outcome(lab, path):
    """What the stored run found for a prediction, or for a part of one."""
    name, _, part = path.partition(".")
    card = json.loads(lab.stored_card.read_text(encoding="utf-8"))
    try:
        found = card["predictions"][name]["outcome"]
        return found[part] if part else found
    except KeyError as error:
        message = f"docs/teaching/teach.toml: lab {lab.number} has no outcome {path!r}."
        raise LabError(message) from error


def _points(lab):
    notebook = json.loads(lab.notebook.read_text(encoding="utf-8"))
    cells = (cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"])
    return sum(cell.get("points", 0) for cell in cells)


def _question(lab):
    return title_and_question(lab)[0].partition(": ")[2]


def _link(lab):
    return f"[{lab.number}](../../solutions/{lab.solution.name})"


def _numbers(numbers):
    return ", ".join(numbers) or NO_LAB
