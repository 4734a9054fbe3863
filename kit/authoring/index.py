"""Write notebooks/index.ipynb, the list of labs where no server makes the start page."""

import copy
import hashlib
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from helpers.files import REPOSITORY
from kit.authoring.build import keep, write_notebook
from kit.generate import KERNEL
from kit.labs import all_labs

INDEX = REPOSITORY / "notebooks" / "index.ipynb"
INTRODUCTION = """\
# Scaling Labs

Open a lab, read, and run its cells from top to bottom with `Shift+Enter`. Where it says
**TODO**, it is your turn: the check under each exercise says whether it is right, and
`hint("2.1")` helps with exercise 2.1. Nothing can break, because a lab continues
with our answer until yours passes.

`labs lab` opens the [start page](/start), which says what you have done and what is next.
On a JupyterHub or Binder it is your server's address with `/start` at its end.
"""


def build_index(write: bool = True) -> list[Path]:
    """Write the list of labs; `write` as in `build`."""
    notebook = generate_index()
    if write:
        _keep_changes()
    return [INDEX] if write_notebook(INDEX, notebook, write) else []


def _keep_changes():
    """Keep a list that somebody has written on."""
    if not INDEX.exists():
        return
    try:
        there = nbformat.read(INDEX, as_version=4)
        changed = there.metadata.get("labs", {}).get("sources") != _sources(there.cells)
    except Exception:  # whatever a damaged file makes nbformat raise
        changed = True
    if changed:
        keep(INDEX)
        INDEX.unlink()


def _sources(cells):
    text = "\0".join(cell.source for cell in cells)
    return hashlib.sha256(text.encode()).hexdigest()


def generate_index() -> nbformat.NotebookNode:
    """Build the list in memory: one cell, which nobody edits by accident.

    Returns
    -------
    nbformat.NotebookNode
    """
    links = ", ".join(f"[{lab.number}]({lab.notebook.name})" for lab in all_labs())
    text = f"{INTRODUCTION}\nThe labs: {links}."
    fixed = {"editable": False, "deletable": False}
    cells = [new_markdown_cell(text, id="index", metadata=fixed)]
    metadata = copy.deepcopy(KERNEL) | {"labs": {"sources": _sources(cells)}}
    return new_notebook(cells=cells, metadata=metadata)
