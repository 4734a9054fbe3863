"""The instructor's own files in a folder of grades: who, until when, and what they decide.

`roster.csv` says who is in the class, when work was due and when it came, `rules.toml`
what lateness costs, `overrides.csv` which points a person has given. Grading reads them
and never writes the first two.
"""

import csv
import hashlib
import io
import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from helpers.errors import LabError
from helpers.files import write_atomically
from helpers.plain_json import storable
from kit.grading.classroom.csv_text import read_csv_text
from kit.labs import Lab

FILES = ("overrides.csv", "roster.csv", "rules.toml", "seen.json")  # what was collected
LONGEST_COMMENT = 4000  # characters
ROSTER = ("student", "name", "id", "email", "lab", "due", "submitted", "excused")
OVERRIDES = ("student", "exercise", "points", "comment")
DATE = "2026-11-20 23:59"
# A cell begins where the text does, and where a program that takes another character for
# the separator sees one. The full-width signs count where people write Chinese or Japanese.
CELL_BEGINS, ALSO_AFTER_A_COMMA = r"(?:\A|(?<=[;\t\r\n]))", r"(?:\A|(?<=[;,\t\r\n]))"
FORMULA = r"(?=(?:[^\S\t\r\n]|')*[=+\-@＝＋－＠])"


class Person(NamedTuple):
    """One row of `roster.csv`; all texts, empty where nothing is known."""

    student: str  # as grading names them: the folder's name
    name: str = ""
    id: str = ""
    email: str = ""
    lab: str = ""  # the name of a lab that the dates are for; empty: all of them
    due: datetime | None = None
    submitted: datetime | None = None
    excused: str = ""  # the numbers of labs that do not count for them, such as "02 05"

    def is_excused(self, lab: str) -> bool:
        """Whether a lab, by its name, does not count for this student."""
        return lab.partition("_")[0] in self.excused.split()


class Override(NamedTuple):
    """A person's decision about one answer of one student."""

    student: str
    exercise: str  # "2.1", "2.figure" for a text, or "02" for the whole lab
    points: float | None  # None: only a comment
    comment: str
    line: int


class Rules(NamedTuple):
    """The cost of lateness: nothing, unless `rules.toml` says so."""

    percent_per_day: float = 0.0  # of the points reached, for each day that has begun
    at_most_percent: float = 100.0
    grace_minutes: float = 0.0
    missing: float | None = None  # points of a lab that was not handed in; None: open


class ClassFiles(NamedTuple):
    """All three files, read."""

    roster: tuple[Person, ...] = ()
    overrides: tuple[Override, ...] = ()
    rules: Rules = Rules()
    digests: Mapping[str, str] = MappingProxyType({})  # as `digests_of` has them


def read_class_files(
    folder: Path, known: Mapping[str, float], find_lab: Callable[[str], Lab]
) -> ClassFiles:
    """Read what an instructor has put into a folder of grades.

    Parameters
    ----------
    folder : Path
        Files that it does not have are empty.
    known : dict of str to float
        The points of every exercise of the course, by number.
    find_lab : callable
        ``find_lab(name) -> lab``: the lab of a name or number, or LabError.

    Returns
    -------
    ClassFiles

    Raises
    ------
    LabError
        Names the file, the line, and what is wrong there.
    """
    digests = digests_of(folder)
    return ClassFiles(
        read_roster(folder, find_lab),
        read_overrides(folder, known),
        _rules(folder / "rules.toml"),
        digests,
    )


def digests_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of each of the three files that a folder of grades has, by its name.

    A copied file has another date, so only this says whether one has changed.
    """
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / name for name in FILES)
        if path.is_file()
    }


def rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file, whichever program has saved it.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Those that it must have, in lower case.

    Yields
    ------
    tuple of int and dict
        The line, and the cells by the column's name in lower case, without the
        apostrophes that `harmless` adds, and without blanks around them. Only `student`
        keeps its blanks: a folder's name may end in one.
    """
    text, form = read_csv_text(path)
    table = csv.reader(io.StringIO(storable(text)), delimiter=form.delimiter)
    try:
        names = [name.strip().lower() for name in next(table, [])]
        if missing := [name for name in columns if name not in names]:
            raise LabError(
                f"{path}: has no column {missing[0]!r}; it needs {', '.join(columns)}."
            )
        last = max(map(names.index, columns))
        for cells in table:
            if any(cell.strip() for cell in cells):
                if len(cells) <= last:
                    raise LabError(
                        f"{path}: line {table.line_num}: has {len(cells)} of {len(names)} "
                        "cells: separate and fill them as in the first line."
                    )
                if any(cell.strip() for cell in cells[len(names) :]):
                    sign = {"\t": "a tab"}.get(form.delimiter, form.delimiter)
                    raise LabError(
                        f"{path}: line {table.line_num}: has {len(cells)} cells, but the "
                        f"first line has {len(names)}: put a text with {sign} in quotes."
                    )
                plain = map(unharmed, cells)
                yield (
                    table.line_num,
                    {
                        name: cell if name == "student" else cell.strip()
                        for name, cell in zip(names, plain, strict=False)
                    },
                )
    except csv.Error as error:
        raise LabError(f"{path}: line {table.line_num}: {error}.") from error


def harmless(text: str, begins: str = CELL_BEGINS) -> str:
    """Keep a spreadsheet from reading a text, or a part of it, as a formula.

    It puts an apostrophe before the formula, and before the apostrophes in front of
    one: so `unharmed` gives back every text.
    """
    return text if text == "-" else re.sub(begins + FORMULA, "'", text)


def unharmed(text: str) -> str:
    """A text as it was before `harmless`."""
    return re.sub(f"{CELL_BEGINS}'{FORMULA}", "", text)


def as_csv(columns: Sequence[str], table: Iterable[Sequence], delimiter: str = ",") -> str:
    """A table as CSV whose texts are no formulas; numbers stay numbers.

    The end of a line in a text becomes ``"\\n"``: Python's reader takes a lone ``"\\r"``
    for the end of a row.

    Parameters
    ----------
    columns : sequence of str
    table : iterable of sequences
        None is an empty cell.
    delimiter : str
        Where it is no comma, no quotes keep a comma from beginning a cell.

    Returns
    -------
    str
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    begins = CELL_BEGINS if delimiter == "," else ALSO_AFTER_A_COMMA
    for row in [columns, *table]:
        writer.writerow(
            [_cell(one, begins) if isinstance(one, str) else one for one in row]
        )
    return text.getvalue()


def _cell(text, begins):
    return harmless(text.replace("\r\n", "\n").replace("\r", "\n"), begins)


def read_roster(folder: Path, find_lab: Callable[[str], Lab]) -> tuple[Person, ...]:
    """`roster.csv` as a tuple of Person; see `read_class_files`."""
    return tuple(_roster(Path(folder) / "roster.csv", find_lab))


def read_overrides(folder: Path, known: Mapping[str, float]) -> tuple[Override, ...]:
    """`overrides.csv` as a tuple of Override; see `read_class_files`."""
    return tuple(_overrides(Path(folder) / "overrides.csv", known))


def for_students(files: ClassFiles, students: set[str]) -> ClassFiles:
    """The same files, where a name with blanks around it may be one without.

    Parameters
    ----------
    files : ClassFiles
    students : set of str
        Those who handed in. Their names are taken as they are.

    Returns
    -------
    ClassFiles
    """

    def meant(row):
        return row if row.student in students else row._replace(student=row.student.strip())

    roster = with_folders(map(meant, files.roster), students)
    overrides = tuple(map(meant, files.overrides))
    names, seen = {person.id: person.student for person in roster if person.id}, {}
    for one in overrides:
        known = one.student in students or one.student not in names
        name = one.student if known else names[one.student]
        first = seen.setdefault((name, one.exercise), one.line)
        if first != one.line:
            raise LabError(
                f"overrides.csv: lines {first} and {one.line} are about the same answer "
                f"of {name}: keep one."
            )
    return files._replace(roster=roster, overrides=overrides)


def with_folders(roster: Iterable[Person], students: Collection[str]) -> tuple[Person, ...]:
    """The same rows, with a folder's name for one that a program has spoilt.

    Excel may save "?ule_101" for "Şule_101"; the number that `labs collect` has put at the
    end of the folder's name still says whose row it is.
    """
    roster = tuple(roster)
    strange = set(students) - {person.student for person in roster}
    by_id = {one.rpartition("_")[2]: one for one in strange}
    return tuple(
        person._replace(student=by_id[person.id])
        if person.student not in students
        and person.student.endswith(f"_{person.id}")
        and person.id in by_id
        else person
        for person in roster
    )


def _roster(path, find_lab):
    if not path.is_file():
        return
    seen, owners = set(), {}
    for line, row in rows(path, ROSTER[:1]):
        lab = row.get("lab", "") and find_lab(row["lab"]).name
        student = row["student"]
        if not student.strip() or (student, lab) in seen:
            is_second = (student, lab) in seen
            problem = "a second row for the same student" if is_second else "no student"
            raise LabError(f"{path}: line {line}: {problem}: correct or remove it.")
        seen.add((student, lab))
        dates = {name: _date(path, line, name, row) for name in ("due", "submitted")}
        if all(dates.values()) and len({d.tzinfo is None for d in dates.values()}) == 2:
            raise LabError(f"{path}: line {line}: only one of the dates has a time zone.")
        name, own_id, email = (row.get(key, "")[:300] for key in ("name", "id", "email"))
        owner = owners.setdefault(own_id, student.strip())
        if own_id and owner != student.strip():
            raise LabError(f"{path}: line {line}: {owner!r} has the id {own_id} as well.")
        labs = re.split(r"[\s,;]+", row.get("excused", ""))
        excused = " ".join(find_lab(one).number for one in filter(None, labs))
        yield Person(student, name, own_id, email, lab, **dates, excused=excused)


def _date(path, line, name, row):
    try:
        if not row.get(name):
            return None
        if ":" not in row[name]:  # midnight before that day is not what anybody means
            raise ValueError(row[name])
        return datetime.fromisoformat(row[name])
    except ValueError as error:
        raise LabError(
            f"{path}: line {line}: {name} is {row[name][:40]!r}; write it as {DATE}."
        ) from error


def _overrides(path, known):
    if not path.is_file():
        return
    seen, table = {}, list(rows(path, OVERRIDES))
    most = known | _of_whole_labs(known, {r["exercise"] for _, r in table if r["points"]})
    for line, row in table:
        exercise, text = row["exercise"], row["points"]
        if exercise.isdecimal():  # a lab: a spreadsheet takes the 0 from 02
            exercise = f"{int(exercise):02d}"
        if exercise not in most:
            raise LabError(
                f"{path}: line {line}: there is no exercise {exercise[:20]!r}: write 2.1, "
                "2.figure, or 02 for the lab. A spreadsheet may have made a date of it."
            )
        points = number(text)
        if not text and not row.get("comment", ""):
            raise LabError(f"{path}: line {line}: neither points nor a comment: remove it.")
        if text and (points is None or not 0 <= points <= most[exercise]):
            raise LabError(
                f"{path}: line {line}: points are {text[:20]!r}; "
                f"{exercise} has 0 to {most[exercise]:g}."
            )
        first = seen.setdefault((row["student"], exercise), line)
        if first != line:
            raise LabError(
                f"{path}: lines {first} and {line} are about the same answer: keep one."
            )
        comment = row.get("comment", "")[:LONGEST_COMMENT]
        yield Override(row["student"], exercise, points, comment, line)


def _of_whole_labs(known, decided):
    """The points of each lab, by its number; a text counts once it has points."""
    found = {}
    for exercise, points in known.items():
        lab, _, name = exercise.partition(".")
        if name.isdecimal() or exercise in decided:
            found[f"{int(lab):02d}"] = found.get(f"{int(lab):02d}", 0) + points
    return found


def number(text: str) -> float | None:
    """A text as a finite number, or None; it may have a comma for the point."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def write_overrides(folder: Path, overrides: Iterable[Override]) -> None:
    """Replace `overrides.csv`; with rows for a person to read, sorted."""
    ordered = sorted(overrides, key=lambda one: (one.student, one.exercise))
    table = [(o.student, o.exercise, in_a_cell(o.points), o.comment) for o in ordered]
    write_atomically(Path(folder) / "overrides.csv", as_csv(OVERRIDES, table))


def in_a_cell(points: float | None) -> str:
    """Points as `overrides.csv` and the marking page have them."""
    return "" if points is None else f"{points:g}"


def _rules(path):
    if not path.is_file():
        return Rules()
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"{path}: {error}.") from error
    if unknown := sorted(set(given) - set(Rules._fields)):
        raise LabError(f"{path}: {unknown[0]!r} is none of {', '.join(Rules._fields)}.")
    for name, value in given.items():
        most = {"grace_minutes": math.inf, "missing": 0}.get(name, 100)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= most:
            upto = f" to {most}" if math.isfinite(most) else ""
            rule = f"a number from 0{upto}" if most else "0, or left out"
            raise LabError(f"{path}: {name} is {value!r}; it must be {rule}.")
    return Rules(**given)
