"""Find what students handed in, and take the TODO cells out of it; runs nothing.

It treats every file as hostile: it follows no link, reads only plain files, reads no more
of a file than a notebook needs, and parses it once. Parsing takes seconds where somebody
wants it to, so it happens in a process with a limit of CPU time.
"""

import functools
import hashlib
import json
import os
import re
import stat
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from helpers.plain_json import storable
from kit.labs import Lab, all_labs
from kit.parallel import exercise_pool
from kit.todo_cells import own_cells, todo_cells, written

MIB = 2**20
MOST_MIB = 20
MOST_SOURCE = 100_000  # characters in one cell
MOST_SOURCE_OF_OTHERS = 300_000  # characters in all cells that are no exercise
MOST_CELLS = 2_000  # of a notebook; a lab has some 150
MOST_CODE = 2_000_000  # characters in all code cells
CPU_SECONDS = 5  # to read one notebook, or to look for a lab in a student's renamed ones
MOST_TEXT = 10_000  # characters of an answer in words
MARK = re.compile(r"#\s*(?:TODO|Solution)\s+(\d+\.\d+)\b")
MAKES = re.compile(
    r"^(?:class|def|async def)\s+(\w+)|^(\w+)\s*(?::.*)?=(?!=)", re.MULTILINE
)
CHECKS = re.compile(r"\bcheck\(\s*['\"](\d+\.\d+)")
HINT = re.compile(r"\bhint\(\s{0,9}['\"]?(\d\d?\.\d\d?)\b")
SHOWN_HINT = re.compile(r"Hint \d of \d for (\d\d?\.\d\d?)\b")
# What breaks a line, ends a text or turns its direction.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
DEPTH = 8  # folders, a student's own included
MOST_RENAMED = 20  # of a student's notebooks with another name are opened
NOTHING_HANDED_IN = "nothing was handed in"  # the problem of a student without a file
NO_NOTEBOOK = "no {}.ipynb was handed in"  # of one whose folder is without it
ADVICE = "name it STUDENT_LAB.ipynb, such as ada_02_throughput.ipynb"
PASSED_OVER = ("__MACOSX", "__pycache__")
BACKUPS = "backups"  # of older versions, which `labs update` keeps in work/


class Submission(NamedTuple):
    """A student's submission for one lab."""

    student: str
    lab: Lab
    path: Path | None
    problem: str = ""  # why there is nothing to grade


class Cell(NamedTuple):
    """The parts of a code cell that grading may need."""

    source: str
    names: frozenset[str]  # its id, and nbgrader's
    marks: frozenset[str]  # the exercises whose `# TODO 2.1` is in one of its first lines
    makes: frozenset[str]  # the names that it defines
    checks: frozenset[str]  # the exercises whose check it calls


class Notebook(NamedTuple):
    """The parts of a notebook that grading may need; of these, texts can be stored."""

    code: tuple[Cell, ...]
    texts: tuple[tuple[str, frozenset[str]], ...]  # (source, names) of its text cells
    hints: frozenset[str]  # the exercises whose hint an output shows
    cells: tuple[dict, ...]  # as they are in the file


class UnreadableError(Exception):
    """The file is not a notebook of this lab: what it is, and what to do."""


def find(folder: Path, labs: list[Lab]) -> tuple[list[Submission], list[tuple[str, str]]]:
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
        if _is_notebook(entry.name):
            student, lab = _student_and_lab(entry.name)
            if not student:
                unassigned.append(
                    (shown_name(entry.name), f"its name says no student or lab: {ADVICE}")
                )
                continue
            own = found.setdefault(student, {})
            if lab in labs:
                own.setdefault(lab, []).append(Path(entry.path))
        elif entry.is_symlink():
            problem = "a symbolic link, not followed: hand in a copy"
            unassigned.append((shown_name(entry.name), problem))
        elif entry.name.startswith("."):
            if entry.is_dir() and entry.name != ".ipynb_checkpoints":
                problem = "a hidden folder, not searched"
                unassigned.append((shown_name(entry.name), problem))
        elif entry.is_dir():
            student = shown_name(entry.name)
            mine, rest = _of_student(Path(entry.path), labs)
            own = found.setdefault(student, {})
            for lab, paths in mine.items():
                own.setdefault(lab, []).extend(paths)
            others.setdefault(student, []).extend(rest)
    submissions = [
        _submission(student, lab, found[student].get(lab, ()), others.get(student, ()))
        for student in sorted(found)
        for lab in labs
    ]
    return submissions, unassigned


def _submission(student, lab, paths, others):
    paths = _different(paths)
    if len(paths) == 1:
        return Submission(student, lab, paths[0])
    if paths:
        folder = os.path.commonpath(paths)
        names = ", ".join(sorted(os.path.relpath(path, folder) for path in paths))
        return Submission(
            student, lab, None, f"handed in twice ({names}): keep one of them"
        )
    there = f"; there is {', '.join(sorted(others)[:3])}" if others else ""
    return Submission(student, lab, None, f"{NO_NOTEBOOK.format(lab.name)}{there}")


def classes_in(folder: Path) -> list[str]:
    """The subfolders that look like folders of a whole class, not of one student.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of str
        The names of those in which several entries hold a notebook of the same lab; empty
        unless these are most of all folders and notebooks.
    """
    found, others = [], 0
    for entry in _sorted_entries(folder):
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            has_notebooks, is_class = _notebooks_inside(Path(entry.path))
        else:
            has_notebooks, is_class = _is_notebook(entry.name), False
        if is_class:
            found.append(shown_name(entry.name))
        elif has_notebooks:
            others += 1
    return found if len(found) > others else []


def _notebooks_inside(folder):
    """Whether a folder has notebooks, and whether several owners have one of a lab."""
    paths = [path for path, problem in _searched(folder, DEPTH) if not problem]
    owners = set()
    for path in paths:
        student, lab = _student_and_lab(path.name)
        inside = path.relative_to(folder).parts
        owners.add((lab, inside[0] if len(inside) > 1 else student))
    by_lab = Counter(lab for lab, owner in owners if lab and owner)
    return bool(paths), any(count > 1 for count in by_lab.values())


def is_none(submission: Submission) -> bool:
    """Whether a student has handed in no notebook of the lab, as far as one can see."""
    nothing = NO_NOTEBOOK.format(submission.lab.name)
    return submission.problem == NOTHING_HANDED_IN or submission.problem.startswith(nothing)


def _different(paths):
    """The first of each group of files with equal content."""
    if len(paths) < 2:
        return list(paths)
    first = {}
    for path in paths:
        try:
            content = hashlib.sha256(read(path)).digest()
        except UnreadableError:
            content = path  # equal to no other file
        first.setdefault(content, path)
    return list(first.values())


def _sorted_entries(folder):
    with os.scandir(folder) as entries:
        wanted = [entry for entry in entries if entry.name not in PASSED_OVER]
    return sorted(wanted, key=lambda entry: entry.name)


def _of_student(folder, labs):
    """A student's notebooks by lab, and what else is there, in words."""
    found = notebooks_by_lab(folder, labs)
    rest = [
        f"{shown_name(path.name)} ({problem})"
        for path, problem in _searched(folder, DEPTH)
        if problem
    ]
    rest += [shown_name(path.name) for path in found.get(None, ())]
    return {lab: found[lab] for lab in labs if lab in found}, rest


def notebooks_by_lab(folder: Path, labs: list[Lab]) -> dict[Lab | None, list[Path]]:
    """Sort the notebooks in a student's folder by lab.

    Parameters
    ----------
    folder : Path
    labs : list of kit.labs.Lab
        Those that renamed notebooks are recognised as, by their cells.

    Returns
    -------
    dict
        Under None, those of which nothing says the lab.
    """
    found, unknown = {}, []
    for path, problem in _searched(folder, DEPTH):
        _, lab = _student_and_lab(path.name)
        if lab and not problem:
            found.setdefault(lab, []).append(path)
        elif not problem:
            unknown.append(path)
    recognised = _labs_by_their_cells(unknown[:MOST_RENAMED], labs)
    for path in unknown:
        found.setdefault(recognised.get(path), []).append(path)
    return found


def _searched(folder, depth):
    """Every notebook in a student's folder, and every folder that is not searched."""
    try:
        entries = _sorted_entries(folder)
    except OSError as error:
        yield folder, f"cannot be searched, {error.strerror}: hand in a new copy"
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name.endswith("-checkpoint.ipynb"):
            continue
        path = Path(entry.path)
        if _is_notebook(entry.name):
            yield path, ""
        elif entry.is_dir(follow_symlinks=False):
            if entry.name == BACKUPS:
                yield path, "older copies, not searched: hand in the notebook itself"
            elif depth > 1:
                yield from _searched(path, depth - 1)
            else:
                yield path, f"more than {DEPTH} folders deep: move the notebook up"


def _is_notebook(name):
    return name.lower().endswith(".ipynb") and not name.startswith("._")


def _student_and_lab(name):
    """From `ada_02_throughput.ipynb`, also as `ada_02_throughput (1).ipynb`."""
    stem = re.sub(r"( ?\(\d+\)|-\d+|-Copy\d*)$", "", name[: -len(".ipynb")])
    for lab in all_labs():
        if stem.lower().endswith(lab.name.lower()):
            return shown_name(stem[: -len(lab.name)].rstrip("_- ")), lab
    return "", None


def _labs_by_their_cells(paths, labs):
    """The labs of a student's renamed notebooks, by path; none if that takes too long."""
    if not paths:
        return {}
    for lab in labs:
        todo_cells(lab)  # generated here, once, and not in each process below
    look = functools.partial(map_to_labs, paths, labs)
    [found] = exercise_pool.run_each([look], CPU_SECONDS, 1)
    return found if isinstance(found, dict) else {}


def map_to_labs(paths: list[Path], labs: list[Lab]) -> dict[Path, Lab]:
    """The lab whose exercises a notebook has, by path; without those that have none."""
    found = {}
    for path in paths:
        try:
            cells = notebook_of(read(path)).code
        except UnreadableError:
            continue
        counts = {
            lab: sum(bool(_marked(exercise, cells)) for exercise in todo_cells(lab))
            for lab in labs
        }
        best = max(counts, key=counts.__getitem__)
        if counts[best]:
            found[path] = best
    return found


def shown_name(name: str) -> str:
    """A file's name as a text that can be stored and shown.

    Escapes stand for bytes that are no UTF-8, and for characters that break a line or
    turn its direction. So two names stay two.
    """
    content = os.fsencode(name).replace(b"\\", b"\\\\")
    text = content.decode("utf-8", "backslashreplace")
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def read(path: Path) -> bytes:
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


def code_of(notebook: Notebook, lab: Lab) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """Take the code that grading may need out of a notebook.

    Parameters
    ----------
    notebook : Notebook
    lab : kit.labs.Lab

    Returns
    -------
    tuple
        A list of (number, source) in the notebook's order: the cell of each exercise
        that was found, and, with the number "", what else is not the lab's own; and a
        dict of the problem of each exercise that was not found.
    """
    cells = notebook.code
    found, problems, taken = [], {}, set()
    for exercise in todo_cells(lab):
        place = _place_of(exercise, cells)
        source = "\n".join(cells[n].source for n in place)
        if not place:
            problems[exercise.number] = f"its cell is missing (`# TODO {exercise.number}:`)"
        elif len(source) > MOST_SOURCE:
            problems[exercise.number] = (
                f"its cell is longer than {MOST_SOURCE:,} characters"
            )
        else:
            found.append((place[0], exercise.number, source))
        taken.update(place)
    left = MOST_SOURCE_OF_OTHERS
    for place, cell in enumerate(cells):
        source = cell.source
        if place in taken or source.strip() in own_cells(lab):
            continue
        left -= len(source)
        if len(source) <= MOST_SOURCE and left >= 0:
            found.append((place, "", source))
    return [(number, source) for _, number, source in sorted(found)], problems


def _place_of(exercise, cells):
    """Which cells, one after the other, are an exercise's.

    Marks find it; where a platform removed these, what it defines. An old attempt may
    stand above it: the last one counts, as in the notebook, where the check takes what it
    finds. Below it, up to its check, the answer may continue in further cells.
    """
    marked = _marked(exercise, cells)
    checks = {n for n, cell in enumerate(cells) if exercise.number in cell.checks}
    checks -= set(marked)
    makes = [n for n, cell in enumerate(cells) if exercise.answer in cell.makes]
    makes = [n for n in makes if n not in checks]
    tried, start = marked or makes, exercise.start.strip()
    tried = [n for n in tried if cells[n].source.strip() != start] or tried
    if not tried:
        return range(0)
    check = max((n for n in checks if n > tried[0]), default=None)
    first = last = max(n for n in tried if check is None or n < check)
    # JupyterLab's "split cell" gives both parts the metadata, and only the first the mark.
    while first in marked and first - 1 in marked:
        if exercise.number in cells[first].marks:
            break
        first -= 1
    for place in range(first + 1, check or 0):
        if place in marked or cells[place].marks:
            break
        if place in makes:
            last = place
    return range(first, last + 1)


def _marked(exercise, cells):
    """The cells with an exercise's id, or its mark in one of their first lines."""
    return [
        place
        for place, cell in enumerate(cells)
        if exercise.cell_id in cell.names or exercise.number in cell.marks
    ]


def about(notebook: Notebook, lab: Lab) -> dict:
    """The parts of a notebook besides the code that is judged.

    Parameters
    ----------
    notebook : Notebook
    lab : kit.labs.Lab

    Returns
    -------
    dict
        `texts`: what students wrote, by the question's number; `hints`: the exercises
        for which a cell calls `hint`, or for which a stored output shows a hint: those
        that the card's button gave are in no cell's code.
    """
    texts = {}
    for question in written(lab):
        mark = re.compile(rf"\W*{re.escape(question.number)}\b")
        found = [
            source
            for source, names in notebook.texts
            if question.cell_id in names or mark.match(source)
        ]
        text = found[-1].strip() if found else ""
        start = question.start.strip()
        answer_text = text.removeprefix(start).strip() if text != start else ""
        texts[question.number] = answer_text[:MOST_TEXT]
    asked = notebook.hints.union(*(HINT.findall(cell.source) for cell in notebook.code))
    return {
        "texts": {number: text for number, text in texts.items() if text},
        "hints": sorted(asked & {exercise.number for exercise in todo_cells(lab)}),
    }


def notebook_of(content: bytes) -> Notebook:
    """Parse a file that should be a notebook.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    Notebook

    Raises
    ------
    UnreadableError
    """
    code, texts, hints, left = [], [], set(), MOST_CODE
    cells = _all_cells(content)
    for cell in cells:
        hints |= _shown_hints(cell)
        source = joined(cell.get("source", cell.get("input")))  # input: in format 3
        if source is None:
            continue
        source = storable(source)
        if cell.get("cell_type") == "markdown":
            texts.append((source[:MOST_SOURCE], _names(cell)))
        elif cell.get("cell_type") == "code":
            left -= len(source[:MOST_SOURCE])
            if left < 0:
                raise UnreadableError(
                    f"more than {MOST_CODE:,} characters of code: remove what is not yours "
                    "or the lab's, save, and hand it in again"
                )
            code.append(_code_cell(source, _names(cell)))
    return Notebook(tuple(code), tuple(texts), frozenset(hints), tuple(cells))


def _code_cell(source, names):
    searched = source[:MOST_SOURCE]
    makes = frozenset(one or other for one, other in MAKES.findall(searched))
    return Cell(source, names, _marks(searched), makes, frozenset(CHECKS.findall(searched)))


def _marks(source):
    found, rest = set(), source
    for _ in range(3):
        if mark := MARK.match(rest.lstrip()):
            found.add(mark[1])
        rest = rest.partition("\n")[2]
    return frozenset(found)


def _shown_hints(cell):
    """The exercises for which an output of a cell shows a hint."""
    found, outputs = set(), cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        text = data.get("text/plain") if isinstance(data, dict) else None
        if hint_match := SHOWN_HINT.match(joined(text) or ""):
            found.add(hint_match[1])
    return found


def joined(text: object) -> str | None:
    """A text that a notebook may have as a list of lines; None if it is neither."""
    if isinstance(text, list) and all(isinstance(line, str) for line in text):
        return "".join(text)
    return text if isinstance(text, str) else None


def _all_cells(content):
    """The cells of a notebook that are dicts, which is all that is sure of them."""
    if not content.strip():
        raise UnreadableError("empty: save the notebook and hand it in again")
    if content.startswith(b"PK\x03\x04"):
        raise UnreadableError(
            "a zip archive under another name: hand in the notebook itself"
        )
    text = text_of(content)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        if re.search(r"^(<{7}|={7}|>{7})", text, re.M):
            problem = "it has merge-conflict markers (<<<<<<<): resolve them"
            raise UnreadableError(
                f"{problem}, open it once, and hand it in again"
            ) from error
        raise UnreadableError(
            "not valid JSON, so it is damaged or cut off: hand in a copy that "
            "JupyterLab opens"
        ) from error
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise UnreadableError("not a notebook: hand in the .ipynb file of JupyterLab")
    cells = notebook.get("cells")
    if notebook["nbformat"] == 3:
        sheets = notebook.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for cells in lists if isinstance(cells, list) for cell in cells]
    elif notebook["nbformat"] != 4:
        version = str(notebook["nbformat"])[:9]
        raise UnreadableError(
            f"notebook format {version}, not 4: open it in JupyterLab and save it"
        )
    if not isinstance(cells, list):
        raise UnreadableError("a notebook without cells: hand in the lab's notebook")
    if len(cells) > MOST_CELLS:
        many = f"{len(cells):,} cells, more than {MOST_CELLS:,}"
        raise UnreadableError(f"{many}: hand in the lab's notebook with your cells only")
    return [cell for cell in cells if isinstance(cell, dict)]


def text_of(content: bytes) -> str:
    """A notebook's text: UTF-8, or UTF-16 as some editors save it.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    str

    Raises
    ------
    UnreadableError
    """
    try:
        return content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as error:
        raise UnreadableError("not UTF-8 text: save it again in JupyterLab") from error


def _names(cell):
    metadata = cell.get("metadata")
    marked = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    names = (cell.get("id"), marked.get("grade_id") if isinstance(marked, dict) else None)
    return frozenset(name for name in names if isinstance(name, str))


def file_name(student: str) -> str:
    """Turn a student's name into a file name that is safe, and that no other name gets."""
    plain = re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,60}", student)
    if plain and not re.search(r"-[0-9a-f]{16}$", student):
        return student
    known = hashlib.sha256(student.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return (
        f"{re.sub(r'[^A-Za-z0-9_-]+', '_', student)[:40].strip('_') or 'student'}-{known}"
    )
