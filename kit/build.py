"""Write what is generated from labs/*.py: both notebooks and the references."""

import shutil
import time

import nbformat

from helpers.files import write_atomically
from kit.generate import generate
from kit.references import references


def build(lab, write=True):
    """Write a lab's notebooks and references where they differ from what is there.

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
        for path, written in (
            (lab.notebook, write_notebook(lab.notebook, student, write, keep=True)),
            (lab.solution, write_notebook(lab.solution, solution, write)),
            (lab.reference, write_text(lab.reference, references(lab), write)),
        )
        if written
    ]


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


def write_notebook(path, notebook, write=True, keep=False):
    """Write a notebook unless the file has it already, letter for letter.

    Parameters
    ----------
    path : Path
    notebook : nbformat.NotebookNode
    write : bool
        False: only say whether the file differs.
    keep : bool
        Keep what is there beside the new one if somebody has run it.

    Returns
    -------
    bool
        Whether the file differed.
    """
    nbformat.validate(notebook)
    before = _keep_students_work if keep else lambda path: None
    return write_text(path, nbformat.writes(notebook) + "\n", write, before)


def write_text(path, text, write=True, before=lambda path: None):
    """Write a text file unless it has this text; `before` is called with an old one."""
    if path.exists():
        if path.read_text(encoding="utf-8") == text:
            return False
        if write:
            before(path)
    if write:
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
