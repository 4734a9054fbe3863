"""Which files of the kit a submission may read: a list of files, never a folder.

A lab's folder also holds its judges and its references. A new file in it is not visible
until a cell of the lab, or a probe, imports it.
"""

import functools
from pathlib import Path

from helpers.exercise import exercise_folders, shared_words
from helpers.files import REPOSITORY
from kit.imports import files_behind
from kit.labs import Lab
from kit.todo_cells import modules

# What a lab needs besides what its cells import.
OF_A_LAB = ("__init__.py", "parameters.py", "plans/published.toml", "quiz.toml")
OF_AN_EXERCISE = ("__init__.py", "probe.py", "words.toml")
RECORDED = "recorded_*.json"  # what a lab shows where it cannot measure
# Never visible, not even if a visible file imports them.
NEVER = ("judge.py", "judging.py", "reference.py")


@functools.cache
def visible_files(lab: Lab) -> tuple[Path, ...]:
    """The files that a lab's own cells and its probe import, and what those import.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    tuple of Path
        Relative to the repository, sorted.
    """
    folder = lab.folder.relative_to(REPOSITORY)
    found = {folder / name for name in OF_A_LAB if (lab.folder / name).is_file()}
    beside = *lab.folder.glob(RECORDED), *shared_words(lab.folder)
    found |= {path.relative_to(REPOSITORY) for path in beside}
    for own in exercise_folders(lab.number):
        found |= {own.relative_to(REPOSITORY) / name for name in OF_AN_EXERCISE}
    begin = ["helpers.checks.observe", f"helpers.{folder.name}.parameters", *modules(lab)]
    return tuple(sorted(found | files_behind(begin, NEVER)))
