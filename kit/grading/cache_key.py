"""What a stored result depends on besides the submission: if it changes, grade again."""

import functools
import hashlib
import platform
import sys
from importlib import metadata

from helpers.files import REPOSITORY
from kit.exercises import modules
from kit.imports import files_behind, imported_by

# What grades, and the scripts that it starts.
GRADING = (
    "kit.grading.grade",
    "kit.grading.box.fork_server",
    "kit.grading.box.cells_in_box",
    "kit.grading.box.filter_in_box",
    "kit.grading.box.whole_notebook_in_box",
)
NEVER = ("feedback.py",)  # pages are written from stored results


@functools.cache
def fingerprint(lab):
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
    package = f"helpers.{lab.folder.name}"
    begin = [*GRADING, f"{package}.judge", f"{package}.parameters", *modules(lab)]
    files = sorted(files_behind(begin, NEVER))
    for path in files:
        digest.update(f"{path}\0".encode() + (REPOSITORY / path).read_bytes() + b"\0")
    imported = {*modules(lab), *(name for path in files for name in imported_by(path))}
    tops = {name.split(".")[0] for name in imported} - sys.stdlib_module_names
    for package in sorted({name for top in tops for name in _packages().get(top, ())}):
        digest.update(f"{package} {metadata.version(package)}\n".encode())
    digest.update(platform.python_version().encode())
    return digest.hexdigest()


_packages = functools.cache(metadata.packages_distributions)
