"""Moodle's assignment: names in its zip of submissions, and its grading worksheet.

As in `mod/assign` of Moodle 3.1 to 5.0: "Download all submissions" makes
`Full name_ID_assignsubmission_file/...` (before 4.1 with another `_` at the end; without
folders `..._file_NAME`). "Upload multiple feedback files in a zip" reads the same names,
and only those with the other `_` in every version.
The grading worksheet has the same number at the end of its column `Identifier`. Its column
`Status` joins sentences with " - "; one of them may grant an extension. English and German
worksheets are read, with the words of Moodle's two language packs.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from helpers.errors import LabError
from kit.platforms.decimals import Decimals

MOST, MOST_IN_GERMAN = "Maximum grade", "Bestwertung"
HEAD = ("Identifier", "Grade", "Last modified (grade)")  # what Moodle wants back
GERMAN = {
    "Bezeichner": "Identifier",
    "ID": "Identifier",
    "Vollständiger Name": "Full name",
    "E-Mail-Adresse": "Email address",
    "Bewertung": "Grade",
    MOST_IN_GERMAN: MOST,
    "Zuletzt geändert (Abgabe)": "Last modified (submission)",
    "Zuletzt geändert (Bewertung)": "Last modified (grade)",
    "Feedback als Kommentar": "Feedback comments",
}  # what is read or written; all other columns go back as they came
# Some versions write "Maximum Grade".
ENGLISH = {name.casefold(): name for name in GERMAN.values()} | {
    german.casefold(): name for german, name in GERMAN.items()
}
MONTHS = (
    "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
    "Oktober", "November", "Dezember",
)  # fmt: skip
DATE = "%A, %d %B %Y, %I:%M %p"  # in an English worksheet
GERMAN_DATE = re.compile(r"\w+, (\d\d?)\. (\w+) (\d{4}), (\d\d?):(\d\d)")
EXTENSION = re.compile(
    r"(?:Extension granted until|Verlängertes Abgabeende bis):\s*(.*?)\s*( - |\n|$)"
)


class Owner(NamedTuple):
    """Whom a file in a zip belongs to."""

    name: str
    id: str
    upload: str  # how the name of a file that goes back begins
    is_late: bool = False
    number: int = 0  # of the file, which grows with each new one; only Canvas says it


def owner(parts: list[str]) -> tuple[Owner, str] | None:
    """The owner of a file by the parts of its path, and the file's name; or None."""
    for place, part in enumerate(parts):
        found = re.fullmatch(r"([^_]+)_(\d{1,18})_assign[a-z]+_([a-z]+)(?:_(.*))?", part)
        if found:
            name = parts[-1] if place < len(parts) - 1 else found[4] or ""
            upload = upload_of(f"{found[1]}_{found[2]}")
            return Owner(found[1].strip(), found[2], upload), name
    return None


def upload_of(who: str) -> str:
    """The folder in a zip of feedback for `NAME_ID`, as Moodle 3.1 to 5.0 read it."""
    return f"{who}_assignsubmission_file_/"


def is_table(head: list[str]) -> bool:
    """Whether a CSV file's first row is that of an English or German grading worksheet."""
    return set(HEAD) <= set(_english(head))


def _english(head):
    return [ENGLISH.get(name.strip().casefold(), name) for name in head]


def people(table: list[list[str]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (id, name, email, submitted, extension) for each row of a worksheet.

    `submitted` and `extension`, until when this student has more time, are texts for
    `date_of`; empty where there is no date.
    """
    head, *rows = table
    for row in rows:
        cells = dict(zip(_english(head), row, strict=False))
        if number := identity(cells):
            name = cells.get("Full name") or cells["Identifier"]
            submitted = cells.get("Last modified (submission)", "").strip().strip("-")
            extension = EXTENSION.search(cells.get("Status", ""))
            email, until = cells.get("Email address", ""), extension[1] if extension else ""
            yield number, name, email, submitted, until


def numbers(table: list[list[str]]) -> list[list[str]]:
    """The cells that hold points: another column may have an id such as 12.345."""
    head, *rows = table
    own = [n for n, name in enumerate(_english(head)) if name in ("Grade", MOST)]
    return [[row[n] for n in own if n < len(row)] for row in rows]


def identity(cells: dict[str, str]) -> str:
    """The number at the end of `Participant 123` or `Teilnehmer/in 123`."""
    found = re.search(r"(\d{1,18})\s*$", cells.get("Identifier", ""))
    return found[1] if found else ""


def date_of(text: str) -> datetime | None:
    """A date as an English or German worksheet writes it; None if it is another text."""
    text = text.replace("\u202f", " ").strip()
    try:
        if (found := GERMAN_DATE.fullmatch(text)) and found[2] in MONTHS:
            month = MONTHS.index(found[2]) + 1
            day, year, hour, minute = map(int, found.group(1, 3, 4, 5))
            return datetime(year, month, day, hour, minute)
        return datetime.strptime(text, DATE)
    except ValueError:
        return None


def left_standing(
    table: list[list[str]], grades: dict[str, tuple[float | None, str]], decimals: Decimals
) -> dict[str, str]:
    """The grades in a worksheet of those who have none now, by id.

    Moodle leaves the row of an empty cell alone, and so the grade that it has.
    """
    head, *rows = table
    found = {}
    for row in rows:
        cells = dict(zip(_english(head), row, strict=False))
        number, grade = identity(cells), cells.get("Grade", "").strip()
        is_open = number in grades and grades[number][0] is None
        if is_open and decimals.read(grade) is not None:
            found[number] = grade[:20]
    return found


def filled(
    table: list[list[str]],
    grades: dict[str, tuple[float | None, str]],
    decimals: Decimals,
) -> list[list[str]]:
    """A worksheet with grades in it.

    Parameters
    ----------
    table : list of list of str
    grades : dict of str to tuple
        By id: the fraction of the points that was reached, or None; and a sentence.
    decimals : kit.platforms.decimals.Decimals

    Returns
    -------
    list of list
        Who is open gets no grade: Moodle leaves such a row alone.

    Raises
    ------
    LabError
        If the worksheet does not say of how many points the grades are.
    """
    head, *rows = table
    made, names = [head], _english(head)
    if MOST not in names:
        raise LabError(
            f"the worksheet has no column {MOST!r} ({MOST_IN_GERMAN!r} in German), which "
            "scales the grades: download it again, and change nothing in its first row."
        )
    for row in rows:
        cells = dict(zip(names, row, strict=False))
        if (number := identity(cells)) in grades:
            fraction, sentence = grades[number]
            most = decimals.read(cells.get(MOST, ""))
            if fraction is not None and not most:
                raise LabError(
                    f"{cells['Identifier']!r} has {cells.get(MOST, '')[:20]!r} in the "
                    f"column {MOST!r}, which scales the grades: write a number above 0."
                )
            cells["Grade"] = (
                "" if fraction is None else decimals.write(fraction * (most or 0))
            )
            if "Feedback comments" in cells:
                cells["Feedback comments"] = sentence
        made.append([cells.get(name, "") for name in names])
    return made
