"""Long cells: above each of them a line says how many minutes it takes.

`labs outputs` records them in a lab's folder, by the code of the cell: so a line is gone
as soon as its cell changes, until somebody has run the lab again.
"""

import functools
import hashlib
import json

from nbformat import NotebookNode

from helpers.plain_json import write_json
from kit.labs import Lab

LEAST_SECONDS = 45  # a shorter cell needs no warning
LINE = "*The measurement below takes about {} on two cores.*"


def record_seconds(lab: Lab, seconds: dict[str, float]) -> None:
    """Write down which cells are long.

    Parameters
    ----------
    lab : Lab
    seconds : dict of str to float
        By the source of a cell of the solution, at laptop scale.
    """
    found = {
        key_of(source): max(1, round(taken / 60))
        for source, taken in seconds.items()
        if taken >= LEAST_SECONDS
    }
    if found or _path(lab).exists():
        write_json(_path(lab), found)
    minutes_of.cache_clear()


@functools.cache
def minutes_of(lab: Lab) -> dict[str, int]:
    """The minutes of a lab's long cells, by `key_of` their source."""
    path = _path(lab)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def key_of(source: str) -> str:
    """A short name for a cell's code."""
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def say_minutes(
    student: NotebookNode, solution: NotebookNode, minutes: dict[str, int]
) -> None:
    """Write the line at the end of the last text above each long cell."""
    for place, cell in enumerate(solution.cells):
        about = minutes.get(key_of(cell.source)) if cell.cell_type == "code" else None
        if about:
            text = LINE.format("a minute" if about == 1 else f"{about} minutes")
            above = [i for i in range(place) if solution.cells[i].cell_type == "markdown"]
            for notebook in (student, solution):
                notebook.cells[above[-1]].source += f"\n\n{text}"


def _path(lab):
    return lab.folder / "long_cells.json"
