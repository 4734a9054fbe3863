"""Canvas: names in its zip of submissions, and the gradebook as CSV.

As in `content_zipper.rb`, `gradebook_exporter.rb` and `gradebook_importer.rb` of
instructure/canvas-lms: "Download Submissions" makes `lastfirst_ID_ATTACHMENT_NAME`, with
`LATE` before the id where it was late; files that go back are recognised by the two
numbers. A gradebook has `Student`, `ID` and so on to `Section`, then a column for each
assignment, and under it a row with the points that are possible.
"""

import re
from collections.abc import Iterator

from helpers.errors import LabError
from kit.labs import Lab
from kit.platforms.moodle import Owner

SECTION = "Section"  # the last column about the student
POSSIBLE = "Points Possible"


def owner(parts: list[str]) -> tuple[Owner, str] | None:
    """The owner of a file by the parts of its path, and the file's name; or None."""
    found = re.fullmatch(r"(.+?)_(?:(LATE)_)?(\d{1,18})_(\d{1,18})_(.+)", parts[-1])
    if not found:
        return None
    upload = f"{found[1]}_{found[3]}_{found[4]}_"
    return Owner(found[1], found[3], upload, bool(found[2])), found[5]


def is_table(head: list[str]) -> bool:
    """Whether a CSV file's first row is that of a gradebook."""
    return head[:1] == ["Student"] and "ID" in head[1:2] and SECTION in head


def people(table: list[list[str]]) -> Iterator[tuple[str, str, str, None, str]]:
    """Yield (id, name, email, None, "") for each student: it has no dates."""
    head, *rows = table
    for row in rows:
        cells = dict(zip(head, row, strict=False))
        if cells.get("ID", "").isdecimal():
            yield cells["ID"], cells["Student"], cells.get("SIS Login ID", ""), None, ""


def filled(
    table: list[list[str]],
    grades: dict[str, tuple[float | None, str]],
    lab: Lab,
    column: str | None = None,
) -> list[list[str]]:
    """A gradebook with the columns about the student and one assignment.

    Parameters
    ----------
    table : list of list of str
    grades : dict of str to tuple
        By id: the fraction of the points that was reached, or None; and a sentence.
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
        If no column, or several, may be meant.
    """
    head, *rows = table
    kept = list(range(head.index(SECTION) + 1))
    kept.append(_column(head, lab, column))
    most, made = 100.0, [[head[n] for n in kept]]
    for row in rows:
        cells = [row[n] if n < len(row) else "" for n in kept]
        if POSSIBLE in cells[0]:
            most = _number(cells[-1]) or most
        elif (number := row[1]) in grades:
            fraction, _ = grades[number]
            cells[-1] = "" if fraction is None else f"{fraction * most:.2f}"
        elif number.isdecimal():
            cells[-1] = ""
        made.append(cells)
    return made


def _column(head, lab, column):
    own = list(range(head.index(SECTION) + 1, len(head)))
    plain = rf"(lab\W*)?0?{int(lab.number)}\b|{re.escape(lab.name)}"
    meant = [
        n
        for n in own
        if (head[n] == column if column else re.match(plain, head[n], re.IGNORECASE))
    ]
    if len(meant) != 1:
        there = ", ".join(repr(head[n]) for n in own[:10])
        raise LabError(
            f"which column is {column or lab.name}? Give one with --column: {there}."
        )
    return meant[0]


def _number(text):
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
