"""Write the start page, notebooks/index.ipynb."""

import copy
import hashlib

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers import start_page
from helpers.files import REPOSITORY
from kit.build import keep, keep_outputs, write_notebook
from kit.generate import KERNEL
from kit.labs import all_labs

INDEX = REPOSITORY / "notebooks" / "index.ipynb"
INTRODUCTION = """\
# Scaling Labs

Open a lab, read, and run its cells from top to bottom with `Shift+Enter`. Where it says
**TODO**, it is your turn: the check under each exercise says whether it is right, and
`hint("2.1")` helps with exercise 2.1. Nothing can break, and a lab goes on with our
answer until yours passes.

Below you see what you have done. To update it, click into the last cell and press
`Shift+Enter`.
"""


def build_index(write=True):
    """Write the start page, with the state that it shows; `write` as in `build`."""
    notebook = generate_index()
    if write:
        _keep_changes()
    if INDEX.exists():
        keep_outputs(notebook, nbformat.read(INDEX, as_version=4))
    return [INDEX] if write_notebook(INDEX, notebook, write) else []


def fill_index():
    """Write the start page with the present state, as if its cell had been run.

    JupyterLab runs no cell when it opens a notebook.
    """
    notebook = generate_index()
    data = {"text/html": start_page.page(), "text/plain": "The labs and what is done"}
    notebook.cells[-1].outputs = [new_output("display_data", data=data)]
    _keep_changes()
    write_notebook(INDEX, notebook)


def _keep_changes():
    """Keep a start page that somebody has written on: its outputs do not count."""
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


def generate_index():
    """Build the start page in memory: a text for everybody, and a cell for the state.

    Returns
    -------
    nbformat.NotebookNode
    """
    # Links for places where the cell does not run, such as a repository's web page.
    links = ", ".join(f"[{lab.number}]({lab.notebook.name})" for lab in all_labs())
    text = f"{INTRODUCTION}\nThe labs: {links}."
    cell = new_code_cell(
        "from helpers import start_page\n\nstart_page.show()",
        id="state",
        metadata={"jupyter": {"source_hidden": True}},
    )
    cells = [new_markdown_cell(text, id="index"), cell]
    metadata = copy.deepcopy(KERNEL) | {"labs": {"sources": _sources(cells)}}
    return new_notebook(cells=cells, metadata=metadata)
