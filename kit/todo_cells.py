"""The exercises of a lab, and the names that their cells can use."""

import ast
import functools
import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from helpers.exercise import find_exercise, numbers_of
from helpers.files import REPOSITORY
from helpers.parameters import sizes_of
from kit.generate import generate
from kit.labs import Lab

CHECK = r'check\("(\d+\.\d+)", *(\w+)\)'
# The scale of the parameters in `lab` when a cell is graded.
SCALE = "smoke"


class TodoCell(NamedTuple):
    """The cell in which students solve an exercise."""

    number: str  # "2.1"
    cell_id: str
    points: int
    answer: str  # the name that its check is given
    start: str  # the cell as students get it


class Written(NamedTuple):
    """A question that students answer in words, in a text cell of their own."""

    number: str  # "2.figure"
    cell_id: str
    points: int
    question: str  # the text cell before it
    start: str  # the cell as students get it


@functools.cache
def todo_cells(lab: Lab) -> tuple[TodoCell, ...]:
    """The exercises of a lab, in its order.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    tuple of TodoCell
    """
    student, _ = generate(lab)
    code = [cell for cell in student.cells if cell.cell_type == "code"]
    points, answers = {}, {}
    for cell in code:
        if found := re.search(CHECK, cell.source):
            points[found[1]] = cell.metadata.nbgrader.points
            answers[found[1]] = found[2]
    found = []
    for cell in code:
        if todo := re.match(r"# TODO (\d+\.\d+):", cell.source):
            n = todo[1]
            found.append(TodoCell(n, cell.id, points[n], answers[n], cell.source))
    return tuple(found)


@functools.cache
def written(lab: Lab) -> tuple[Written, ...]:
    """The questions of a lab that students answer in words, in its order.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    tuple of Written
    """
    student, _ = generate(lab)
    found, before = [], ""
    for cell in student.cells:
        marked = cell.metadata.get("nbgrader")
        if cell.cell_type == "markdown" and marked:
            number = _number_in_words(lab, cell.id)
            found.append(Written(number, cell.id, marked.points, before, cell.source))
        before = cell.source
    return tuple(found)


def _number_in_words(lab, cell_id):
    return f"{int(lab.number)}.{cell_id.partition('-')[2]}"


def unchanged(lab: Lab, codes: Mapping[str, str]) -> set[str]:
    """The exercises whose cell is as students get it.

    Parameters
    ----------
    lab : kit.labs.Lab
    codes : dict of str to str
        The source of each exercise's cell, by number.

    Returns
    -------
    set of str
        Their numbers.
    """
    start = {exercise.number: exercise.start.strip() for exercise in todo_cells(lab)}
    return {number for number, code in codes.items() if code.strip() == start[number]}


@functools.cache
def points_of(lab: Lab) -> dict[str, int]:
    """The points of all that a lab asks, by number, as its notebook says them.

    Reads the notebook that `labs build` wrote, which is quicker than to generate it.
    """
    notebook = json.loads(lab.notebook.read_text(encoding="utf-8"))
    found = {}
    for cell in notebook["cells"]:
        points = cell["metadata"].get("nbgrader", {}).get("points")
        if points is None:
            continue
        check = re.search(CHECK, "".join(cell["source"]))
        found[check[1] if check else _number_in_words(lab, cell["id"])] = points
    return found


@functools.cache
def own_cells(lab: Lab) -> set[str]:
    """The sources of a lab's own code cells, as students get them."""
    student, _ = generate(lab)
    return {cell.source.strip() for cell in student.cells if cell.cell_type == "code"}


@functools.cache
def setup(lab: Lab) -> tuple[str, ...]:
    """The names that a TODO cell can use, from the lab itself and never from a submission.

    Returns
    -------
    tuple of str
        Statements of the lab's other cells, in their order: imports, functions,
        classes, and values that are written out, but nothing that trains, loads or
        plots; `lab` has the parameters at smoke scale.
    """
    student, _ = generate(lab)
    statements, parameters = [], []
    for cell in student.cells:
        if cell.cell_type != "code" or cell.source.startswith("# TODO"):
            continue
        tags, nodes = cell.metadata.get("tags", ()), ast.parse(cell.source).body
        if "parameters" in tags:
            parameters = [node.target.id for node in nodes]
        if "setup" in tags:
            *imports, start = nodes
            statements += map(ast.unparse, imports)
            statements.append(_lab_without_a_card(start, parameters, sizes_of(lab.name)))
        else:
            statements += [ast.unparse(node) for node in nodes if _is_setup(node)]
    return tuple(statements)


def modules(lab: Lab) -> list[str]:
    """The modules that the fork server imports before it forks: all of the lab's."""
    found = [find_exercise(number).in_box for number in numbers_of(lab.number)]
    for statement in setup(lab):
        for node in ast.parse(statement).body:
            if isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.module  # no lab has a relative import
                found.append(node.module)
                # It may be a submodule; importing any other name fails, which does no harm.
                found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@functools.cache
def reference_names(lab: Lab) -> list[str]:
    """What solves a lab's exercises in the course's own packages, and its modules.

    Reads the files: importing them would import TensorFlow.
    """
    answers = {exercise.answer for exercise in todo_cells(lab)}
    defined = re.compile(r"^(?:class|def) (\w+)", re.M)
    return sorted(
        name
        for package in ("callbacks", "helpers")
        for path in (REPOSITORY / package).rglob("*.py")
        # In a lab's folder the probe of an exercise may have the answer's name.
        if not any(part.startswith("lab_") for part in path.parts)
        for answer in defined.findall(path.read_text(encoding="utf-8"))
        if answer in answers
        for name in (answer, path.stem)
    )


def _lab_without_a_card(start, parameters, sizes):
    """What makes `lab` in grading: `session.start` would open a run card."""
    values = ", ".join(f"{name!r}: {name}" for name in parameters)
    return (
        "import types\n"
        f"{ast.unparse(start.targets[0])} = types.SimpleNamespace("
        f"**({{{values}}} | {sizes[SCALE]!r} | {{'scale': {SCALE!r}}}))"
    )


def _is_setup(node):
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)):
        return True
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value:
        try:
            ast.literal_eval(node.value)
        except ValueError:
            return False
        return True
    return False
