"""Canvas: names in its zip of submissions, and the gradebook as CSV.

As in `content_zipper.rb`, `gradebook_exporter.rb` and `gradebook_importer.rb` of
instructure/canvas-lms: "Download Submissions" makes `lastfirst_ID_ATTACHMENT_NAME`, with
`LATE` before the id where it was late; files that go back are recognised by the two
numbers. A text entry is `lastfirst_ID_text.html`, a link `lastfirst_ID_link.html`. Where
Canvas hides names, `anon_LETTERS` stands for the name and the id, and no other file of
Canvas says who that is. A gradebook has `Student` (or `LastName` and `FirstName`), `ID` and
so on to `Section`, then a column for each assignment, and under it a row with the points
that are possible. Its last row may be a test student, whom an instructor can play.
"""

import re
from collections.abc import Iterator

from helpers.errors import LabError
from kit.labs import Lab
from kit.platforms.decimals import Decimals
from kit.platforms.moodle import Owner

SECTION = "Section"  # the last column about the student
POSSIBLE = "Points Possible"
NAMES = (["Student", "ID"], ["LastName", "FirstName", "ID"])  # how a gradebook may begin
TEST_STUDENT = "Student, Test"
TEST_STUDENTS_FILES = "studenttest"
DECIDED = ("EX", "N/A")  # excused, not assigned: Canvas' own, which no grade replaces
HIDDEN = re.compile(r"(?:(?P<late>LATE)_)?(?P<name>anon)_(?P<id>[A-Za-z0-9]+)_(?P<rest>.+)")
NAMED = re.compile(r"(?P<name>.+?)_(?:(?P<late>LATE)_)?(?P<id>\d{1,18})_(?P<rest>.+)")
FILE = re.compile(r"(\d{1,18})_(.+)")
ENTRIES = {"text.html": "a text entry", "link.html": "a link"}


def owner(parts: list[str]) -> tuple[Owner, str] | None:
    """The owner of a file by the parts of its path, and the file's name; or None.

    A text or a link that was typed into Canvas has no number of a file, so no page can go
    back to it: then `upload` is empty.
    """
    found = HIDDEN.fullmatch(parts[-1]) or NAMED.fullmatch(parts[-1])
    if not found:
        return None
    name, number, is_late = found["name"], found["id"], bool(found["late"])
    if entry := ENTRIES.get(found["rest"]):
        return Owner(name, number, "", is_late), entry
    if not (file := FILE.fullmatch(found["rest"])):
        return None
    upload = f"{name}_{number}_{file[1]}_"
    return Owner(name, number, upload, is_late, int(file[1])), file[2]


def hides_names(one: Owner) -> bool:
    """Whether a file comes from an assignment that Canvas grades anonymously."""
    return one.name == "anon" and not one.id.isdecimal()


def is_table(head: list[str]) -> bool:
    """Whether a CSV file's first row is that of a gradebook."""
    return any(head[: len(names)] == names for names in NAMES) and SECTION in head


def people(table: list[list[str]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (id, name, email, "", "") for each student: it has no dates."""
    head, *rows = table
    for row in rows:
        cells = dict(zip(head, row, strict=False))
        name = _name(head, row)
        if cells.get("ID", "").isdecimal() and name != TEST_STUDENT:
            yield cells["ID"], name, cells.get("SIS Login ID", ""), "", ""


def numbers(table: list[list[str]]) -> list[list[str]]:
    """The cells that may hold points: a section may be called 2.1."""
    first = table[0].index(SECTION) + 1
    return [row[first:] for row in table[1:]]


def _name(head, row):
    return ", ".join(cell for cell in row[: head.index("ID")] if cell)


def filled(
    table: list[list[str]],
    grades: dict[str, tuple[float | None, str]],
    decimals: Decimals,
    lab: Lab,
    column: str | None = None,
) -> list[list[str]]:
    """A gradebook with the columns about the student and one assignment.

    Parameters
    ----------
    table : list of list of str
    grades : dict of str to tuple
        By id: the fraction of the points that was reached, or None; and a sentence.
    decimals : kit.platforms.decimals.Decimals
    lab : kit.labs.Lab
    column : str, optional
        The assignment's heading; default the one that begins with the lab's name, number,
        or "Lab" and its number.

    Returns
    -------
    list of list
        Other assignments are left out, so that Canvas leaves them alone.

    Raises
    ------
    LabError
        If no column, or several, may be meant, or the assignment has no points.
    """
    head, *rows = table
    columns = list(range(head.index(SECTION) + 1))
    columns.append(_column(head, lab, column))
    made = [[row[n] if n < len(row) else "" for n in columns] for row in table]
    possible = [decimals.read(cells[-1]) for cells in made[1:] if POSSIBLE in cells[0]]
    most = max((points or 0 for points in possible), default=0)
    if not most:
        raise LabError(
            f"{head[columns[-1]]!r} has no points in the row {POSSIBLE!r}, which scales "
            "the grades: give the assignment points in Canvas, and export again."
        )
    for row, cells in zip(rows, made[1:], strict=True):
        number = cells[head.index("ID")]
        is_student = number.isdecimal() and _name(head, row) != TEST_STUDENT
        if is_student and cells[-1] not in DECIDED:
            fraction, _ = grades.get(number, (None, ""))
            cells[-1] = "" if fraction is None else decimals.write(fraction * most)
    return made


def decided(table: list[list[str]], lab: Lab, column: str | None = None) -> set[str]:
    """The ids of students whom Canvas has excused or not assigned; see `filled`."""
    head, *rows = table
    place = _column(head, lab, column)
    return {
        row[head.index("ID")] for row in rows if len(row) > place and row[place] in DECIDED
    }


def _column(head, lab, column):
    own_columns = list(range(head.index(SECTION) + 1, len(head)))
    plain = rf"(lab\W*)?0?{int(lab.number)}\b|{re.escape(lab.name)}"
    meant = [
        n
        for n in own_columns
        if (head[n] == column if column else re.match(plain, head[n], re.IGNORECASE))
    ]
    if len(meant) != 1:
        there = ", ".join(repr(head[n]) for n in own_columns[:10])
        raise LabError(
            f"which column is {column or lab.name}? Give one with --column: {there}."
        )
    return meant[0]
