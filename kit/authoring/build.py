"""Write what is generated from labs/*.py: both notebooks and the references."""

import ast
import shutil
import time
from pathlib import Path

import nbformat

from helpers.files import write_atomically
from kit.authoring.references import references
from kit.generate import generate
from kit.glossary import lead_to_terms
from kit.labs import Lab
from kit.student.signature import UNSIGNED, digest, is_changed, read_text, signature, unused


def build(lab: Lab, write: bool = True) -> list[Path]:
    """Write a lab's notebooks and references where they differ from what is there.

    A student's notebook that is not as it was generated is kept beside the new one.

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
    student, solution = notebooks_of(lab)
    if lab.solution.exists():
        keep_outputs(solution, nbformat.read(lab.solution, as_version=4))
    return [
        path
        for path, written in (
            (lab.notebook, write_students(lab.notebook, student, write)),
            (lab.solution, write_notebook(lab.solution, solution, write)),
            (lab.reference, write_text(lab.reference, references(lab), write)),
        )
        if written
    ]


def notebooks_of(lab: Lab) -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    """The student's notebook and the solution, with links that lead into the glossary."""
    student, solution = generate(lab)
    for cell in (*student.cells, *solution.cells):
        if cell.cell_type == "markdown":
            cell.source = lead_to_terms(cell.source)
    return student, solution


def keep_outputs(notebook: nbformat.NotebookNode, stored: nbformat.NotebookNode) -> None:
    """Take over stored outputs up to the first cell whose code differs, comments aside."""
    old = [cell for cell in stored.cells if cell.cell_type == "code"]
    new = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for before, after in zip(old, new, strict=False):
        if _code(before.source) != _code(after.source):
            break
        after.outputs = before.outputs
        after.execution_count = before.execution_count
    if "labs" in stored.metadata:
        notebook.metadata["labs"] = stored.metadata["labs"]


def _code(source):
    """The code that a cell executes: a comment changes nothing that it prints."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:  # a magic command
        return source


def write_notebook(path: Path, notebook: nbformat.NotebookNode, write: bool = True) -> bool:
    """Write a notebook unless the file has exactly this text already.

    Parameters
    ----------
    path : Path
    notebook : nbformat.NotebookNode
    write : bool
        False: only say whether the file differs.

    Returns
    -------
    bool
        Whether the file differed.
    """
    return write_text(path, _text(notebook), write)


def write_students(path: Path, notebook: nbformat.NotebookNode, write: bool = True) -> bool:
    """Write a student's notebook, and lose nothing that a student has changed in it.

    The text carries its own SHA-256: so an edit shows, whether or not a cell was run,
    and also in a file that is no notebook any more. An edited notebook of this version
    stays where it is; one of another version is kept beside the new one. Parameters and
    result are those of `write_notebook`.
    """
    notebook.metadata["labs"] = {"generated": UNSIGNED}
    unsigned = _text(notebook)
    newest = digest(unsigned)
    there = read_text(path) if write and path.exists() else None
    if there is not None and is_changed(there):
        if signature(there) == newest:
            print(f"left your own {path.name} as it is: it belongs to this version")
            return False
        keep(path)
    return write_text(path, unsigned.replace(UNSIGNED, newest), write)


def write_text(path: Path, text: str, write: bool = True) -> bool:
    """Write a text file unless it has this text; returns whether it differed."""
    if path.exists() and path.read_bytes() == text.encode():
        return False
    if write:
        write_atomically(path, text)
    return True


def _text(notebook):
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def keep(path: Path) -> None:
    """Copy a file, whatever is in it, to a name that nothing has yet."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    saved_copy = unused(path.with_name(f"{path.stem}.kept-{stamp}.ipynb"))
    shutil.copy2(path, saved_copy)
    print(f"kept your own {path.name} as {saved_copy.name}")
