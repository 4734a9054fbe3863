"""A student's notebooks: where they are, and which lab each of them is."""

import json
import re

from helpers.files import REPOSITORY, WORK

LAB_NAME = re.compile(r"\d\d_\w+")


def students_folder():
    """``work/``, or where no `labs lab` has put any notebook, ``notebooks/``."""
    return WORK if any(WORK.glob("*.ipynb")) else REPOSITORY / "notebooks"


def labs_in(folder):
    """The labs' notebooks in a folder, whatever their names are by now.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict
        For each lab's name the path and the notebook as plain JSON, which is empty if it
        cannot be read. Of several copies, the one with the lab's own name.
    """
    found = {}
    for path in sorted(folder.glob("*.ipynb")):
        notebook = read_notebook(path)
        name = _lab_of(notebook) or path.stem
        # Not the start page, and no copy beside one that has the lab's own name.
        if LAB_NAME.fullmatch(name) and (name not in found or path.stem == name):
            found[name] = path, notebook
    return found


def read_notebook(path):
    """A notebook as plain JSON; empty if it cannot be read."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return notebook if _is_whole(notebook) else {}


def address_in(notebook, pattern):
    """Where in a notebook something is: the address of the heading above it.

    Parameters
    ----------
    notebook : dict
        See `read_notebook`.
    pattern : str
        A regular expression, for the source of a code cell.

    Returns
    -------
    str or None
        ``"#Exercise-2.1:-print-the-throughput"``, as JupyterLab and exported pages name
        it; None where there is no such cell, or no heading above it.
    """
    heading = None
    for cell in notebook.get("cells", ()):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            found = re.findall(r"^#+ (.+)", source, re.M)
            heading = found[-1] if found else heading
        elif heading and re.search(pattern, source):
            return "#" + re.sub("[`*]", "", heading).strip().replace(" ", "-")
    return None


def _is_whole(notebook):
    """Whether all is there, and of the right type, that the kit reads of a notebook."""
    if not isinstance(notebook, dict) or not isinstance(notebook.get("metadata", {}), dict):
        return False
    cells = notebook.get("cells", [])
    return isinstance(cells, list) and all(
        isinstance(cell, dict)
        and isinstance(cell.get("cell_type"), str)
        and isinstance(cell.get("source"), str | list)
        and all(isinstance(line, str) for line in cell["source"])
        for cell in cells
    )


def _lab_of(notebook):
    """The lab's name, as its set-up cell says it; None where nothing says it."""
    for cell in notebook.get("cells", ()):
        if found := re.search(r'session\.start\(\s*"(\w+)"', "".join(cell["source"])):
            return found[1]
    return None
