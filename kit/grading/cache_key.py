"""Everything else that a stored result depends on: if it changes, grade again."""

import functools
import hashlib
import sys
import sysconfig
from importlib import metadata

from helpers.exercise import exercise_folders, find_exercise, numbers_of, shared_words
from helpers.files import REPOSITORY
from kit.imports import files_behind, imported_by
from kit.labs import Lab
from kit.todo_cells import modules

# What grades, and the scripts that it starts.
GRADING = (
    "kit.grading.grade",
    "kit.grading.box.fork_server",
    "kit.grading.box.cells_in_box",
    "kit.grading.box.filter_in_box",
    "kit.grading.box.own_code",
    "kit.grading.box.whole_notebook_in_box",
)
NEVER = ("feedback.py",)  # pages are written from stored results
# Not on every system, and no verdict depends on them: they close a box, and read profiles.
NOT_EVERYWHERE = {"pyseccomp", "xprof"}


@functools.cache
def fingerprint(lab: Lab) -> str:
    """A hash of what decides in grading a lab: code, by content, and versions.

    The code is what the grader, the lab's probe and judge, and its own cells import.
    So a change in another lab changes nothing here.

    Parameters
    ----------
    lab : kit.labs.Lab

    Returns
    -------
    str
    """
    digest = hashlib.sha256()
    folders = [find_exercise(number).package for number in numbers_of(lab.number)]
    judges = [f"{folder}.{part}" for folder in folders for part in ("judge", "outside")]
    parameters = f"helpers.{lab.folder.name}.parameters"
    begin = [*GRADING, *judges, parameters, *modules(lab)]
    files = sorted(files_behind(begin, NEVER))
    words = [
        *shared_words(lab.folder),
        *(p / "words.toml" for p in exercise_folders(lab.number)),
    ]
    for path in [*files, *(path.relative_to(REPOSITORY) for path in words)]:
        digest.update(f"{path}\0".encode() + (REPOSITORY / path).read_bytes() + b"\0")
    imported = {*modules(lab), *(name for path in files for name in imported_by(path))}
    tops = {name.split(".")[0] for name in imported} - sys.stdlib_module_names
    packages = {name for top in tops for name in _packages().get(top, ())}
    for package in sorted(packages - NOT_EVERYWHERE):
        digest.update(f"{package} {metadata.version(package)}\n".encode())
    # Without the patch release: what a Linux machine has graded is used on a laptop, too.
    digest.update(sysconfig.get_python_version().encode())
    return digest.hexdigest()


_packages = functools.cache(metadata.packages_distributions)
