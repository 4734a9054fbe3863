"""Which files of the kit a submission may read: a list of files, never a folder.

A lab's folder also holds its judge, its reference and its recorded answers. A new file
in it is not visible until a cell of the lab, or a probe, imports it.
"""

import ast
import functools
from pathlib import Path

from helpers.files import REPOSITORY
from kit.exercises import modules

# What a lab needs besides what its cells import.
OF_A_LAB = ("__init__.py", "parameters.py", "probe.py", "coach.toml")
RECORDED = "recorded_*.json"  # what a lab shows where it cannot measure
# Never visible, not even if a visible file imports them.
NEVER = ("answers.py", "judge.py", "reference.py")


@functools.cache
def visible_files(lab):
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
    found |= {path.relative_to(REPOSITORY) for path in lab.folder.glob(RECORDED)}
    begin = ["helpers.checks.observe", f"helpers.{folder.name}.parameters", *modules(lab)]
    return tuple(sorted(found | files_behind(begin, NEVER)))


def files_behind(modules, never=()):
    """The files that Python reads to import these modules, as far as they are ours.

    Parameters
    ----------
    modules : list of str
    never : sequence of str
        Names of files that are left out, with all that only they import.

    Returns
    -------
    set of Path
        Relative to the repository.
    """
    found, seen, waiting = set(), set(), list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for path in _files_of(name):
            if path.name not in never:
                found.add(path)
                waiting += imported_by(path)
    return found


def _files_of(module):
    """The files that Python reads to import a module of ours: packages, then itself."""
    parts = module.split(".")
    if parts[0] not in ("callbacks", "helpers", "kit"):
        return
    for depth in range(1, len(parts) + 1):
        path = Path(*parts[:depth])
        for file in (path / "__init__.py", path.with_suffix(".py")):
            if (REPOSITORY / file).is_file():
                yield file


@functools.cache
def imported_by(path):
    """The modules that a file of ours imports, also inside its functions."""
    found = []
    for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found
