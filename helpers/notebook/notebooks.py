"""A student's notebooks: where they are, and which lab each of them is."""

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from helpers.files import REPOSITORY, WORK, runs_folder, write_atomically

RAN_LAST = ".ran_last"  # beside a lab's run cards: the name of the notebook
LAB_NAME = re.compile(r"\d\d_\w+")


def students_folder() -> Path:
    """``work/``, or where no `labs lab` has put any notebook, ``notebooks/``."""
    return WORK if any(WORK.glob("*.ipynb")) else REPOSITORY / "notebooks"


class Found(NamedTuple):
    """A lab's notebook among the student's."""

    path: Path
    notebook: dict  # plain JSON; empty if it cannot be read
    rivals: tuple = ()  # names of all its copies, if nothing says which one is worked in


def labs_in(folder: Path) -> dict[str, Found]:
    """The labs' notebooks in a folder, whatever their names are by now.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    dict
        For each lab's name a `Found`. Of several copies, the one that ran last, else the
        one with the lab's own name; else the first has `rivals`.
    """
    copies = defaultdict(list)
    for path in sorted(folder.glob("*.ipynb")):
        notebook = read_notebook(path)
        name = _lab_of(notebook) or path.stem
        if LAB_NAME.fullmatch(name):  # not the start page
            copies[name].append(Found(path, notebook))
    return {name: _the_students(name, found) for name, found in copies.items()}


def _the_students(lab, copies):
    for name in (_ran_last(lab), f"{lab}.ipynb"):
        for copy in copies:
            if copy.path.name == name:
                return copy
    if len(copies) == 1:
        return copies[0]
    return copies[0]._replace(rivals=tuple(copy.path.name for copy in copies))


def which_one(lab: str, found: Found) -> str:
    """The question that only the student can answer, for a `Found` with rivals."""
    *first, last = found.rivals
    return (
        f"{found.path.parent.name}/ has several notebooks of lab {lab[:2]}: "
        f"{', '.join(first)} and {last}. Which one do you work in? Restart its kernel and "
        "run its first cells, or move the others to another folder; then try again."
    )


def note_run(lab: str) -> None:
    """Note which of the student's notebooks runs in this kernel, if it is one of them.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    """
    path = _of_this_kernel()
    if path and is_the_students(path):
        _note(lab, path.name)


def about_the_original(lab: str) -> str:
    """What to say if this kernel runs a file that is not the student's copy of it.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.

    Returns
    -------
    str
        A line, or nothing: also where the student has no copy.
    """
    path, folder = _of_this_kernel(), students_folder()
    if not path or folder != WORK:
        return ""
    originals = (REPOSITORY / "notebooks").resolve()
    if not path.resolve().is_relative_to(originals) or lab not in (own := labs_in(folder)):
        return ""
    return (
        f"This is the original. Your copy is {folder.name}/{own[lab].path.name}; what you "
        "write here may be overwritten by an update."
    )


def _of_this_kernel():
    """The notebook's file; None where nobody says it, or where it is gone."""
    path = os.environ.get("LABS_NOTEBOOK") or os.environ.get("JPY_SESSION_NAME")
    return Path(path) if path and Path(path).is_file() else None


def note_rename(before: Path, after: Path) -> None:
    """Note that a notebook, which may have run, has another name now."""
    if is_the_students(before) and is_the_students(after):
        for noted in runs_folder().glob(f"*/{RAN_LAST}"):
            if _ran_last(noted.parent.name) == before.name:
                _note(noted.parent.name, after.name)


def is_the_students(path: Path) -> bool:
    """Whether a file is in the folder of the student's notebooks."""
    return path.parent.resolve() == students_folder().resolve()


def _note(lab, name):
    write_atomically(runs_folder() / lab / RAN_LAST, os.fsencode(name))


def _ran_last(lab):
    try:
        return os.fsdecode((runs_folder() / lab / RAN_LAST).read_bytes())
    except OSError:
        return None


def read_notebook(path: Path) -> dict:
    """A notebook as plain JSON; empty if it cannot be read."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return notebook if _is_whole(notebook) else {}


def address_in(notebook: dict, pattern: str) -> str | None:
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
    heading = heading_above(notebook, pattern)
    return "#" + heading.replace(" ", "-") if heading else None


def heading_above(notebook: dict, pattern: str) -> str | None:
    """The text of the heading above a code cell, as a reader sees it; see `address_in`."""
    heading = None
    for cell in notebook.get("cells", ()):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            found = re.findall(r"^#+ (.+)", source, re.M)
            heading = found[-1] if found else heading
        elif heading and re.search(pattern, source):
            return re.sub("[`*]", "", heading).strip()
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
