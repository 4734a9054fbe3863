"""Find what students handed in, and take the TODO cells out of it; runs nothing.

It treats every file as hostile: it follows no link, reads only plain files, and reads
no more of a file than a notebook needs.
"""

import hashlib
import json
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from kit.exercises import exercises

MIB = 2**20
MOST_MIB = 20
MOST_SOURCE = 100_000  # characters in one cell
DEPTH = 4  # folders under a student's
ADVICE = "name it STUDENT_LAB.ipynb, such as ada_02_throughput.ipynb"
PASSED_OVER = ("__MACOSX", "__pycache__")


class Submission(NamedTuple):
    """What one student handed in for one lab."""

    student: str
    lab: object  # kit.labs.Lab
    path: Path | None
    problem: str = ""  # why there is nothing to grade


class UnreadableError(Exception):
    """The file is not a notebook of this lab: what it is, and what to do."""


def find(folder, labs):
    """Find the submissions in a folder of notebooks, or of folders of notebooks.

    Parameters
    ----------
    folder : Path
    labs : list of kit.labs.Lab
        The labs to grade: a student without one of them gets a line.

    Returns
    -------
    tuple
        A list of Submission, by student and lab; and a list of (name, problem)
        for files that could not be assigned to anybody.
    """
    found, others, unassigned = {}, {}, []
    for entry in _sorted_entries(folder):
        if entry.name.endswith(".ipynb") and not entry.name.startswith("._"):
            student, lab = _student_and_lab(entry.name, labs)
            if student:
                found.setdefault(student, {}).setdefault(lab, []).append(Path(entry.path))
            else:
                advice = "name it STUDENT_LAB.ipynb, such as ada_02_throughput.ipynb"
                unassigned.append(
                    (entry.name, f"its name says no student or lab: {advice}")
                )
        elif entry.is_symlink():
            unassigned.append((entry.name, "a symbolic link, not followed: hand in a copy"))
        elif entry.name.startswith("."):
            if entry.is_dir() and entry.name != ".ipynb_checkpoints":
                unassigned.append((entry.name, "a hidden folder, not searched"))
        elif entry.is_dir():
            mine, rest = _in_folder(Path(entry.path), labs)
            own = found.setdefault(entry.name, {})
            for lab, paths in mine.items():
                own.setdefault(lab, []).extend(paths)
            others.setdefault(entry.name, []).extend(rest)
    submissions = [
        _submission(student, lab, found[student].get(lab, ()), others.get(student, ()))
        for student in sorted(found)
        for lab in labs
    ]
    return submissions, unassigned


def _submission(student, lab, paths, others):
    if len(paths) == 1:
        return Submission(student, lab, paths[0])
    if paths:
        names = ", ".join(sorted(path.name for path in paths))
        return Submission(
            student, lab, None, f"handed in twice ({names}): keep one of them"
        )
    there = f"; there is {', '.join(sorted(others)[:3])}" if others else ""
    return Submission(student, lab, None, f"no {lab.name}.ipynb was handed in{there}")


def _sorted_entries(folder):
    with os.scandir(folder) as entries:
        wanted = [entry for entry in entries if entry.name not in PASSED_OVER]
    return sorted(wanted, key=lambda entry: entry.name)


def _in_folder(folder, labs, depth=DEPTH):
    mine, rest = {}, []
    for entry in _sorted_entries(folder):
        if entry.name.startswith(".") or entry.name.endswith("-checkpoint.ipynb"):
            continue
        if entry.name.endswith(".ipynb"):
            _, lab = _student_and_lab(entry.name, labs)
            if lab:
                mine.setdefault(lab, []).append(Path(entry.path))
            else:
                rest.append(entry.name)
        elif entry.is_dir(follow_symlinks=False) and depth > 1:
            deeper, others = _in_folder(Path(entry.path), labs, depth - 1)
            for lab, paths in deeper.items():
                mine.setdefault(lab, []).extend(paths)
            rest += others
    return mine, rest


def _student_and_lab(name, labs):
    """From `ada_02_throughput.ipynb`, also as `ada_02_throughput (1).ipynb`."""
    stem = re.sub(r"( ?\(\d+\)|-\d+|-Copy\d*)$", "", name.removesuffix(".ipynb"))
    for lab in labs:
        if stem.lower().endswith(lab.name.lower()):
            return stem[: -len(lab.name)].rstrip("_- "), lab
    return "", None


def read(path):
    """Read a file that may be of any kind.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bytes

    Raises
    ------
    UnreadableError
    """
    try:
        # Refuse a link; do not wait for a FIFO without a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if Path(path).is_symlink():
            raise UnreadableError(
                "a symbolic link, not followed: hand in a copy"
            ) from error
        raise UnreadableError(
            f"cannot be read ({error.strerror}): hand in a new copy"
        ) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("not a file but a folder or a pipe: hand in the notebook")
        if status.st_size > MOST_MIB * MIB:
            size = f"{status.st_size / MIB:.0f} MB, more than {MOST_MIB}"
            raise UnreadableError(f"{size}: clear its outputs, save, and hand it in again")
        return _all_of(descriptor)
    finally:
        os.close(descriptor)


def _all_of(descriptor):
    parts = []
    while part := os.read(descriptor, MIB):
        parts.append(part)
        if len(parts) > 2 * MOST_MIB:  # it grows while it is read
            break
    return b"".join(parts)


def todo_cells(content, lab):
    """Take the TODO cells out of a notebook.

    Parameters
    ----------
    content : bytes
    lab : kit.labs.Lab

    Returns
    -------
    tuple of dict
        The source of each exercise that was found, and the problem of each that was
        not.

    Raises
    ------
    UnreadableError
    """
    cells = _code_cells(content)
    sources, problems = {}, {}
    for exercise in exercises(lab):
        matching = _cells_of(exercise, cells)
        different = {source.strip() for source in matching}
        if not different:
            problems[exercise.number] = f"its cell is missing (`# TODO {exercise.number}:`)"
        elif len(different) > 1:
            many = len(matching)
            problems[exercise.number] = f"its cell is there {many} times, each different"
        elif len(matching[0]) > MOST_SOURCE:
            problems[exercise.number] = (
                f"its cell is longer than {MOST_SOURCE:,} characters"
            )
        else:
            sources[exercise.number] = matching[0]
    return sources, problems


def _cells_of(exercise, cells):
    """Find cells by their marks; where a platform removed these, by what they define."""
    # In one of its first lines: a cell may also mention another exercise.
    mark = rf"\A(.*\n){{0,2}}\s*#\s*(TODO|Solution)\s+{re.escape(exercise.number)}\b"
    named = [
        source
        for source, names in cells
        if exercise.cell_id in names or re.search(mark, source)
    ]
    defines = rf"^(class|def|async def)\s+{exercise.answer}\b|^{exercise.answer}\s*="
    checks = rf"\bcheck\(\s*['\"]{re.escape(exercise.number)}"
    return named or [
        source
        for source, _ in cells
        if re.search(defines, source, re.M) and not re.search(checks, source)
    ]


def _code_cells(content):
    """(source, names) of every code cell, names being its id and nbgrader's."""
    if not content.strip():
        raise UnreadableError("empty: save the notebook and hand it in again")
    if content.startswith(b"PK\x03\x04"):
        raise UnreadableError(
            "a zip archive under another name: hand in the notebook itself"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError("not UTF-8 text: save it again in JupyterLab") from error
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        if re.search(r"^(<{7}|={7}|>{7})", text, re.M):
            problem = "it has merge-conflict markers (<<<<<<<): resolve them"
            raise UnreadableError(
                f"{problem}, open it once, and hand it in again"
            ) from error
        raise UnreadableError(
            "not valid JSON: open it in JupyterLab and save it"
        ) from error
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise UnreadableError("not a notebook: hand in the .ipynb file of JupyterLab")
    if notebook["nbformat"] != 4:
        version = str(notebook["nbformat"])[:9]
        raise UnreadableError(
            f"notebook format {version}, not 4: open it in JupyterLab and save it"
        )
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise UnreadableError("a notebook without cells: hand in the lab's notebook")
    found = []
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source")
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if isinstance(source, str):
            found.append((source, _names(cell)))
    return found


def _names(cell):
    names = {cell.get("id")} if isinstance(cell.get("id"), str) else set()
    metadata = cell.get("metadata")
    marked = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if isinstance(marked, dict) and isinstance(marked.get("grade_id"), str):
        names.add(marked["grade_id"])
    return names


def file_name(student):
    """Turn a student's name into a file name that is safe and unique."""
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,60}", student):
        return student
    known = hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return (
        f"{re.sub(r'[^A-Za-z0-9_-]+', '_', student)[:40].strip('_') or 'student'}-{known}"
    )
