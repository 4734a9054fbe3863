"""Generate the student and the solution notebook of a lab from its source."""

import ast
import copy
import functools
import re
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_notebook

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.guesses import NOTE, fill_in, guesses_of
from kit.labs import Lab
from kit.long_cells import minutes_of, say_minutes
from kit.working_time import MINUTES_PER_POINT

DIFFICULTIES = {1: "Easy", 2: "Medium", 3: "Hard"}
MARKERS = ("#: start", "#: solution", "#: end")
KERNEL = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


def generate(lab: Lab) -> tuple[NotebookNode, NotebookNode]:
    """Build both notebooks of a lab in memory, without outputs.

    Returns
    -------
    tuple of nbformat.NotebookNode
        The student's and the solution.
    """
    text = lab.source.read_text(encoding="utf-8")
    student, solution = copy.deepcopy(_generated(text, lab.source, lab.number))
    say_minutes(student, solution, minutes_of(lab))
    if guesses := guesses_of(lab):
        guess(solution, guesses)
    return student, solution


def guess(solution: NotebookNode, guesses: dict) -> None:
    """Fill example guesses into a solution, and say so below its title."""
    first = next(cell for cell in solution.cells if cell.cell_type == "markdown")
    first.source += f"\n\n{NOTE}"
    for cell in solution.cells:
        if cell.cell_type == "code":
            cell.source = fill_in(cell.source, guesses)


@functools.cache
def _generated(text, path, number):
    import jupytext  # a fifth of a second, which `labs collect` need not wait for

    lint(text, path.relative_to(REPOSITORY))
    source = jupytext.reads(text, fmt="py:percent")
    student, solution = (new_notebook(metadata=copy.deepcopy(KERNEL)) for _ in range(2))
    points = {}
    for position, cell in enumerate(source.cells):
        name = cell.metadata.pop("name", None)
        worth = cell.metadata.pop("points", None)
        identity = (name or f"{number}-{position:02d}").replace(".", "-")
        if name:
            points[name.split("-")[0]] = worth
        for notebook, solved in ((student, False), (solution, True)):
            made = copy.deepcopy(cell)
            made.id = identity
            if cell.cell_type == "code":
                made.source = choose(cell.source, solved)
                grade_metadata(made, name, points)
                if is_set_up(made):
                    made.metadata["jupyter"] = {"source_hidden": True}
            elif name:
                text_metadata(made, worth)
            notebook.cells.append(made)
    for notebook in (student, solution):
        say_difficulty(notebook, points)
    return student, solution


def say_difficulty(notebook: NotebookNode, points: dict[str, int]) -> None:
    """Write below the heading of each exercise how hard it is, by its points."""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        if found := re.match(r"#+ Exercise (\d+\.\d+): .*", cell.source):
            worth = points[found[1]]
            difficulty = DIFFICULTIES[min(worth, 3)]
            plural = "s" if worth > 1 else ""
            minutes = worth * MINUTES_PER_POINT
            line = f"*{difficulty}: {worth} point{plural}, about {minutes} minutes.*"
            cell.source = f"{found[0]}\n\n{line}{cell.source[found.end() :]}"


def lint(text: str, path: Path) -> None:
    """Refuse unpaired markers, repeated names, and a TODO without a check."""

    def refuse(line, problem):
        raise LabError(f"{path}:{line}: {problem}")

    names, todos, state, opened = {}, {}, None, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("# %%"):
            if state:
                refuse(opened, f"`{state}` is not closed by `#: end` in its cell")
            if found := re.search(r'name="([^"]*)"', line):
                if found[1] in names:
                    refuse(number, f"the name {found[1]!r} is already used in line "
                                   f"{names[found[1]]}")  # fmt: skip
                names[found[1]] = number
        elif line.lstrip().startswith("#:"):
            marker = line.rstrip()
            expected = {None: "#: start", "#: start": "#: solution"}.get(state, "#: end")
            if marker not in MARKERS:
                refuse(number, f"{marker!r} is not a marker; use {', '.join(MARKERS)}")
            if marker != expected:
                refuse(number, f"`{marker}` is in the place of `{expected}`")
            state, opened = (None if marker == "#: end" else marker), number
        elif found := re.match(r"# TODO (\d+\.\d+):", line):
            todos[found[1]] = number
    if state:
        refuse(opened, f"`{state}` is not closed by `#: end` in its cell")
    for tag in ("parameters", "setup"):
        if text.count(f'tags=["{tag}"]') != 1:
            refuse(1, f'there must be one cell with tags=["{tag}"]')
    for exercise, number in todos.items():
        if not any(name.startswith(f"{exercise}-") for name in names):
            refuse(number, f'the cell of TODO {exercise} has no name="{exercise}-..."')
        if f'check("{exercise}"' not in text:
            refuse(number, f'TODO {exercise} has no `check("{exercise}", ...)`')


def choose(source: str, solved: bool) -> str:
    """Keep the start block of a cell, or the solution block."""
    kept_lines, state = [], None
    for line in source.splitlines():
        if line.startswith("#:"):
            state = line.rstrip() if line.rstrip() != "#: end" else None
        elif state in (None, "#: solution" if solved else "#: start"):
            kept_lines.append(
                re.sub(r"^# TODO (?=\d)", "# Solution ", line) if solved else line
            )
    return "\n".join(kept_lines)


def is_set_up(cell: NotebookNode) -> bool:
    """Whether a cell only prepares a lab: JupyterLab folds it to its first line."""
    if {"parameters", "setup"} & set(cell.metadata.get("tags", ())):
        return True
    try:
        statements = ast.parse(cell.source).body
    except SyntaxError:  # of a magic
        return False
    imports = [s for s in statements if isinstance(s, ast.Import | ast.ImportFrom)]
    return len(imports) > len(statements) / 2


def grade_metadata(cell: NotebookNode, name: str | None, points: dict[str, int]) -> None:
    """Add nbgrader's metadata: the exercise can be edited, its check is graded."""
    checked = re.search(r'check\("(\d+\.\d+)"', cell.source)
    if not name and not checked:
        return
    cell.metadata["nbgrader"] = {
        "grade": bool(checked),
        "grade_id": f"check-{checked[1].replace('.', '-')}" if checked else cell.id,
        "locked": bool(checked),
        "schema_version": 3,
        "solution": not checked,
        "task": False,
    }
    if checked:
        cell.id = cell.metadata["nbgrader"]["grade_id"]
        cell.metadata["nbgrader"]["points"] = points[checked[1]]


def text_metadata(cell: NotebookNode, points: int) -> None:
    """Add nbgrader's metadata: a text that students write and a person grades."""
    cell.metadata["nbgrader"] = {
        "grade": True,
        "grade_id": cell.id,
        "locked": False,
        "points": points,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
