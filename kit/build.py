"""Generate the student and the solution notebook of a lab from its source."""

import copy
import re
import shutil
import time

import jupytext
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers import start_page
from helpers.errors import LabError
from helpers.files import REPOSITORY, write_atomically
from kit.labs import all_labs

MARKERS = ("#: start", "#: solution", "#: end")
KERNEL = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}

INDEX = REPOSITORY / "notebooks" / "index.ipynb"
INTRODUCTION = """\
# Scaling Labs

Open a lab, read, and run its cells from top to bottom with `Shift+Enter`. Where it says
**TODO**, it is your turn: the check under each exercise says whether it is right, and
`hint("2.1")` helps with exercise 2.1. Nothing can break, and a lab goes on with our
answer until yours passes.

What you have done stands below. To see it as it is now, click into the last cell and
press `Shift+Enter`.
"""


def build(lab, write=True):
    """Write both notebooks of a lab where they differ from what is there.

    A student notebook that somebody has run is kept beside the new one.

    Parameters
    ----------
    lab : kit.labs.Lab
    write : bool
        False: only say what would be written.

    Returns
    -------
    list of Path
        The files that differed.

    Raises
    ------
    LabError
        If the source breaks a rule; names the file and the line.
    """
    student, solution = generate(lab)
    if lab.solution.exists():
        keep_outputs(solution, nbformat.read(lab.solution, as_version=4))
    return [
        path
        for path, notebook in ((lab.notebook, student), (lab.solution, solution))
        if write_notebook(path, notebook, write)
    ]


def build_index(write=True):
    """Write the start page, with the state that it shows; `write` as in `build`."""
    notebook = generate_index()
    if INDEX.exists():
        keep_outputs(notebook, nbformat.read(INDEX, as_version=4))
    return [INDEX] if write_notebook(INDEX, notebook, write) else []


def fill_index():
    """Write the start page with the state of now, as if its cell had been run.

    JupyterLab runs no cell when it opens a notebook.
    """
    notebook = generate_index()
    data = {"text/html": start_page.page(), "text/plain": "The labs and what is done"}
    notebook.cells[-1].outputs = [new_output("display_data", data=data)]
    write_notebook(INDEX, notebook)


def generate_index():
    """Build the start page in memory: what holds for everybody, and a cell for the rest.

    Returns
    -------
    nbformat.NotebookNode
    """
    # Links for where nobody has filled the page in, such as a repository's web page.
    links = ", ".join(f"[{lab.number}]({lab.notebook.name})" for lab in all_labs())
    text = f"{INTRODUCTION}\nThe labs: {links}."
    cell = new_code_cell(
        "from helpers import start_page\n\nstart_page.show()",
        id="state",
        metadata={"jupyter": {"source_hidden": True}},
    )
    cells = [new_markdown_cell(text, id="index"), cell]
    return new_notebook(cells=cells, metadata=copy.deepcopy(KERNEL))


def generate(lab):
    """Build both notebooks of a lab in memory, without outputs.

    Returns
    -------
    tuple of nbformat.NotebookNode
        The student's and the solution.
    """
    text = lab.source.read_text(encoding="utf-8")
    lint(text, lab.source.relative_to(REPOSITORY))
    source = jupytext.reads(text, fmt="py:percent")
    student, solution = (new_notebook(metadata=copy.deepcopy(KERNEL)) for _ in range(2))
    points = {}
    for position, cell in enumerate(source.cells):
        name = cell.metadata.pop("name", None)
        worth = cell.metadata.pop("points", None)
        identity = (name or f"{lab.number}-{position:02d}").replace(".", "-")
        if name:
            points[name.split("-")[0]] = worth
        for notebook, solved in ((student, False), (solution, True)):
            made = copy.deepcopy(cell)
            made.id = identity
            if cell.cell_type == "code":
                made.source = choose(cell.source, solved)
                grade_metadata(made, name, points)
            notebook.cells.append(made)
    return student, solution


def lint(text, path):
    """Refuse markers that do not pair, names that repeat, a TODO without a check."""

    def refuse(line, problem):
        raise LabError(f"{path}:{line}: {problem}")

    names, todos, state, opened = {}, {}, None, 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("# %%"):
            if state:
                refuse(opened, f"`{state}` is not closed by `#: end` in its cell")
            if found := re.search(r'name="([^"]*)"', line):
                if found[1] in names:
                    refuse(number, f"the name {found[1]!r} stands in line "
                                   f"{names[found[1]]} already")  # fmt: skip
                names[found[1]] = number
        elif line.lstrip().startswith("#:"):
            marker = line.rstrip()
            expected = {None: "#: start", "#: start": "#: solution"}.get(state, "#: end")
            if marker not in MARKERS:
                refuse(number, f"{marker!r} is no marker; there are {', '.join(MARKERS)}")
            if marker != expected:
                refuse(number, f"`{marker}` where `{expected}` has to come")
            state, opened = (None if marker == "#: end" else marker), number
        elif found := re.match(r"# TODO (\d+\.\d+):", line):
            todos[found[1]] = number
    if state:
        refuse(opened, f"`{state}` is not closed by `#: end` in its cell")
    for exercise, number in todos.items():
        if not any(name.startswith(f"{exercise}-") for name in names):
            refuse(number, f'the cell of TODO {exercise} has no name="{exercise}-..."')
        if f'check("{exercise}"' not in text:
            refuse(number, f'TODO {exercise} has no `check("{exercise}", ...)`')


def choose(source, solved):
    """Keep the start block of a cell, or the solution block."""
    kept, state = [], None
    for line in source.splitlines():
        if line.startswith("#:"):
            state = line.rstrip() if line.rstrip() != "#: end" else None
        elif state in (None, "#: solution" if solved else "#: start"):
            kept.append(re.sub(r"^# TODO (?=\d)", "# Solution ", line) if solved else line)
    return "\n".join(kept)


def grade_metadata(cell, name, points):
    """Add what nbgrader wants to know: the exercise is free, its check is graded."""
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


def keep_outputs(notebook, stored):
    """Take over outputs as long as no code cell differs from the stored notebook."""
    old = [cell for cell in stored.cells if cell.cell_type == "code"]
    new = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for before, after in zip(old, new, strict=False):
        if before.source != after.source:
            break
        after.outputs = before.outputs
        after.execution_count = before.execution_count
    if "labs" in stored.metadata:
        notebook.metadata["labs"] = stored.metadata["labs"]


def write_notebook(path, notebook, write=True):
    """Write a notebook unless it stands there already, to the letter."""
    nbformat.validate(notebook)
    text = nbformat.writes(notebook) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    if write:
        if path.parent.name == "notebooks" and path != INDEX and path.exists():
            _keep_students_work(path)
        write_atomically(path, text)
    return True


def _keep_students_work(path):
    """Save a notebook that has been run, and so is somebody's work, elsewhere."""
    try:
        cells = nbformat.read(path, as_version=4).cells
    except (nbformat.reader.NotJSONError, nbformat.ValidationError):
        return
    if any(cell.get("execution_count") for cell in cells):
        stamp = time.strftime("%Y%m%dT%H%M%S")
        kept = path.with_name(f"{path.stem}.kept-{stamp}.ipynb")
        shutil.copy2(path, kept)
        print(f"kept your own {path.name} as {kept.name}")
