"""`labs collect` and `labs hand-back`: what an instructor gets from a second one."""

import codecs
import csv
import html
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kit.grading.classroom import class_files, feedback
from kit.grading.classroom.class_files import for_students, read_roster
from kit.labs import all_labs, find_lab
from kit.platforms import canvas, moodle
from kit.platforms.decimals import decimals_of
from kit.platforms.rehearsal import rehearse
from kit.todo_cells import todo_cells
from tests.asked import only

LABS = Path(sys.executable).with_name("labs")
LAB = find_lab("01")
DUE = "2026-11-20 23:59"
MOODLES_HEAD = ["Identifier", "Status", "Grade", "Last modified (grade)"]


def labs(*arguments, status=0):
    """What the command says, on both streams."""
    ended = subprocess.run(
        [LABS, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def zipped(path, names, content="{}"):
    with zipfile.ZipFile(path, "w") as made:
        for name in names:
            made.writestr(name, content)
    return path


def table(path, *rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def worksheet(path, **status):
    """A grading worksheet of Moodle with the status of each participant."""
    rows = [[f"Participant {n[1:]}", text, "", "-"] for n, text in status.items()]
    return table(path, MOODLES_HEAD, *rows)


def due_dates(grades):
    roster = read_roster(grades, find_lab)
    return {p.id: p.due and p.due.isoformat(" ", "minutes") for p in roster}


def test_a_date_of_submission_that_cannot_be_read_is_named(tmp_path):
    files = [
        f"A B_{n}_assignsubmission_file/01_gradient_descent.ipynb" for n in range(1, 9)
    ]
    archive, grades = zipped(tmp_path / "class.zip", files), tmp_path / "grades"
    dates = ["Friday, 27 November 2026, 8:05 AM", "-", *["vendredi 27 novembre"] * 6]
    rows = [[f"Participant {n}", "", "", "-", one] for n, one in enumerate(dates, start=1)]
    head = [*MOODLES_HEAD, "Last modified (submission)"]
    given = table(tmp_path / "given.csv", head, *rows)
    said = labs("collect", archive, tmp_path / "in", "--table", given, "--due", DUE,
                "--out", grades)  # fmt: skip
    known = {p.id for p in read_roster(grades, find_lab) if p.submitted}
    assert known == {"1"}
    [line] = [one for one in said.splitlines() if "vendredi" in one]
    assert "of A B_3, A B_4, A B_5, A B_6, A B_7, 1 more, because" in line
    assert "without it no lateness is counted" in line


def test_an_extension_in_moodle_is_the_due_date_of_that_student(tmp_path):
    files = [
        f"A B_{n}_assignsubmission_file/01_gradient_descent.ipynb" for n in range(1, 7)
    ]
    archive, grades = zipped(tmp_path / "class.zip", files), tmp_path / "grades"
    until = "Extension granted until: Friday, 27 November 2026, 8:05 AM"
    given = worksheet(
        tmp_path / "given.csv",
        _1="Submitted for grading",
        _2=f"Submitted for grading - 2 days 1 hour late - {until}",
        _3="No submission\n" + until.replace("5 AM", "5\u202fAM"),
        _4=f"Submitted for grading - {until.replace('27', '6')}",
        _5=f"No submission - {until} - Graded",
        _6="Submitted for grading - Extension granted until: 27.11.2026",
    )
    said = labs("collect", archive, tmp_path / "in", "--table", given, "--due", DUE,
                "--out", grades)  # fmt: skip
    later = "2026-11-27 08:05"
    assert due_dates(grades) == {
        "1": DUE, "2": later, "3": later, "4": DUE, "5": later, "6": DUE,
    }  # fmt: skip
    assert "A B_6: an extension until '27.11.2026'" in said
    assert said.count("an extension until") == 1
    # One that is granted later counts, too.
    again = worksheet(tmp_path / "again.csv", _1=until, _2="Submitted for grading")
    labs("collect", archive, tmp_path / "in again", "--table", again, "--out", grades)
    assert due_dates(grades)["1"] == due_dates(grades)["2"] == later


def test_students_of_the_zip_whom_the_table_lacks_are_named(tmp_path):
    files = [
        f"A B_{n}_assignsubmission_file/01_gradient_descent.ipynb" for n in range(1, 9)
    ]
    archive = zipped(tmp_path / "class.zip", files)
    short = worksheet(tmp_path / "short.csv", p2="Submitted for grading")
    said = labs(
        "collect", archive, tmp_path / "in", "--table", short, "--out", tmp_path / "g"
    )
    [line] = [one for one in said.splitlines() if "no row" in one]
    assert line.startswith(
        f"{short} has no row for A B_1, A B_3, A B_4, A B_5, A B_6, 2 more"
    )
    said = labs("collect", archive, tmp_path / "other", "--out", tmp_path / "h")
    assert "no row" not in said


def test_a_second_zip_adds_to_the_pages_that_can_go_back_to_canvas(tmp_path):
    grades, name = tmp_path / "grades", LAB.notebook.name
    head = ["Student", "ID", "SIS Login ID", "Section", "Lab 01", "Lab 02"]
    students = [[f"Student {n}", str(n), "", "A", "", ""] for n in range(1, 6)]
    possible = ["    Points Possible", "", "", "", "10", "10"]
    gradebook = table(tmp_path / "gradebook.csv", head, possible, *students)
    zips = {
        "class": [f"ada_1_701_{name}", f"bob_2_702_{name}", "cyd_3_703_answers.pdf"],
        "again": [f"ada_1_801_{name.replace('.', '-1.')}"],  # ada's newer file
        "other": ["ada_1_901_02_throughput.ipynb", "bob_2_902_02_throughput.ipynb"],
    }
    for folder, files in zips.items():
        labs("collect", zipped(tmp_path / f"{folder}.zip", files), tmp_path / folder,
             "--table", gradebook, "--out", grades)  # fmt: skip
    sent_by_mail = tmp_path / "class" / "Student 5_5" / name
    sent_by_mail.parent.mkdir()
    sent_by_mail.write_text("{}")  # like the others, it cannot be read, so nothing runs
    labs("grade", tmp_path / "class", "--lab", "01", "--no-sandbox", "--out", grades)
    said = labs("hand-back", gradebook, "--out", grades, status=1)
    with zipfile.ZipFile(grades / "hand-back" / "feedback.zip") as pages:
        assert sorted(pages.namelist()) == [
            f"ada_1_801_{LAB.name}.html",
            f"bob_2_702_{LAB.name}.html",
            f"cyd_3_703_{LAB.name}.html",
        ]
    lines = said.splitlines()[2:]
    assert lines[0].startswith("5 of 5 grades are open: Student 4_4, Student 5_5, ada")
    assert lines[1].startswith("Student 4_4 has handed in nothing, and Canvas takes no")
    assert lines[2].startswith("Student 5_5: no zip that was collected has their 01_")
    assert len(lines) == 3


def test_a_table_of_another_platform_than_the_zip_is_refused(tmp_path):
    name, grades = LAB.notebook.name, tmp_path / "grades"
    head = ["Student", "ID", "SIS Login ID", "Section", "Lab 01"]
    gradebook = table(tmp_path / "gradebook.csv", head, ["Ada B", "1", "", "A", ""])
    given = worksheet(tmp_path / "worksheet.csv", _1="Submitted for grading")
    moodles = zipped(tmp_path / "m.zip", [f"Ada B_1_assignsubmission_file/{name}"])
    canvases = zipped(tmp_path / "c.zip", [f"bada_1_701_{name}"])
    for archive, wrong, asked in (
        (moodles, gradebook, "give Moodle's grading worksheet."),
        (canvases, given, "give Canvas' gradebook."),
    ):
        said = labs("collect", archive, tmp_path / "in", "--table", wrong, "--out", grades,
                    status=1)  # fmt: skip
        assert asked in " ".join(said.split())
        assert not (tmp_path / "in").exists()
    labs("collect", moodles, tmp_path / "in", "--table", given, "--out", grades)
    labs("grade", tmp_path / "in", "--lab", "01", "--no-sandbox", "--out", grades)
    said = labs("hand-back", gradebook, "--out", grades, status=1)
    assert "give Moodle's grading worksheet." in " ".join(said.split())
    assert not (grades / "hand-back").exists()


ENGLISH = {
    "head": [
        "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
        "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
        "Feedback comments",
    ],
    "participant": "Participant ",
    "dates": ("Friday, 20 November 2026, 9:05 PM", "Tuesday, 1 December 2026, 12:00 AM"),
    "extension": "No submission - Extension granted until: ",
}  # fmt: skip
GERMAN = {
    "head": [
        "Bezeichner", "Vollständiger Name", "E-Mail-Adresse", "Status", "Bewertung",
        "Bestwertung", "Bewertung kann geändert werden", "Zuletzt geändert (Abgabe)",
        "Zuletzt geändert (Bewertung)", "Feedback als Kommentar",
    ],
    "participant": "Teilnehmer/in ",
    "dates": ("Freitag, 20. November 2026, 21:05", "Dienstag, 1. Dezember 2026, 00:00"),
    "extension": "Keine Abgabe - Verlängertes Abgabeende bis: ",
}  # fmt: skip
MARKS = {
    "utf-8": b"", "utf-8-sig": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE, "cp1252": b"",
}  # fmt: skip
MORE_WORKSHEETS = [
    (GERMAN, "utf-16-le", "\t", "80,50", "40,25"),
    (ENGLISH, "utf-8-sig", ",", "1,000.00", "500.00"),
    (GERMAN, "utf-8", ",", "80,50", "40,25"),
    (GERMAN, "cp1252", ";", "80", "40,00"),
    (GERMAN | {"head": ["ID", *GERMAN["head"][1:]]}, "utf-8-sig", ";", "80.50", "40.25"),
    (ENGLISH, "utf-16-be", ",", "80.50", "40.25"),
    (ENGLISH | {"head": [name.replace("m g", "m G") for name in ENGLISH["head"]]},
     "utf-8", ",", "80.50", "40.25"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "encoding", "delimiter", "maximum", "half"),
    [
        (GERMAN, "cp1252", ";", "80,00", "40,00"),
        *(pytest.param(*one, marks=pytest.mark.weekly) for one in MORE_WORKSHEETS),
    ],
)
def test_a_worksheet_goes_back_as_it_came(
    tmp_path, words, encoding, delimiter, maximum, half
):
    """Its language, encoding, delimiter and decimals; and what it says is understood."""
    head, (came, until) = words["head"], words["dates"]
    people = [
        ["1", "Jörg Weiß", "Zur Bewertung", came],
        ["2", "Zoë, Ada; B", words["extension"] + until, "-"],
    ]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(head)
    for number, name, status, modified in people:
        writer.writerow([words["participant"] + number, name, f"{number}@example.org",
                         status, "", maximum, "Ja", modified, "-", ""])  # fmt: skip
    path, grades = tmp_path / "worksheet.csv", tmp_path / "grades"
    mark, plain = MARKS[encoding], encoding.removesuffix("-sig")
    path.write_bytes(mark + text.getvalue().encode(plain))
    archive = zipped(
        tmp_path / "class.zip", [f"Jörg Weiß_1_assignsubmission_file/{LAB.notebook.name}"]
    )
    labs("collect", archive, tmp_path / "in", "--table", path, "--due", DUE,
         "--out", grades)  # fmt: skip
    roster = {p.id: p for p in read_roster(grades, find_lab)}
    assert roster["1"].submitted.isoformat(" ") == "2026-11-20 21:05:00"
    assert (roster["2"].name, roster["2"].email) == ("Zoë, Ada; B", "2@example.org")
    assert due_dates(grades) == {"1": DUE, "2": "2026-12-01 00:00"}
    given = [("1", e.number, e.points / 2, "") for e in todo_cells(LAB)]
    table(grades / "overrides.csv", ("student", "exercise", "points", "comment"), *given)
    labs("grade", tmp_path / "in", "--lab", "01", "--no-sandbox", "--out", grades)
    labs("hand-back", path, "--out", grades)
    content = (grades / "hand-back" / "worksheet-graded.csv").read_bytes()
    assert content.startswith(mark)
    made = content.removeprefix(mark).decode(plain)
    rows = list(csv.reader(io.StringIO(made), delimiter=delimiter))
    before = list(csv.reader(io.StringIO(text.getvalue()), delimiter=delimiter))
    assert rows[0] == head
    assert [row[:4] + row[5:9] for row in rows] == [row[:4] + row[5:9] for row in before]
    assert [row[4] for row in rows[1:]] == [half, ""], "half of the points"
    assert "3 of 6 points" in rows[1][9]
    # A student without a grade now keeps the old one in Moodle.
    rows[2][4] = maximum
    again = tmp_path / "again.csv"
    text_again = io.StringIO()
    csv.writer(text_again, delimiter=delimiter).writerows(rows)
    again.write_bytes(mark + text_again.getvalue().encode(plain))
    said = labs("hand-back", again, "--out", grades, status=1)
    assert f"Ada; B_2 has {maximum} in" in said
    assert "Moodle keeps the old one: clear it there by hand" in said
    assert "Jörg Weiß_1 has" not in said
    # Nothing else says of how many points a grade is.
    (grades / "hand-back" / "worksheet-graded.csv").unlink()
    for old, new, says in (
        (head[5], "Beste Wertung", "has no column 'Maximum grade' ('Bestwertung' in"),
        (maximum, "very good", "has 'very good' in the column 'Maximum grade'"),
    ):
        path.write_bytes(mark + text.getvalue().replace(old, new).encode(plain))
        assert says in labs("hand-back", path, "--out", grades, status=1)
    assert not (grades / "hand-back" / "worksheet-graded.csv").exists()


def test_a_table_of_no_known_encoding_is_one_line(tmp_path):
    path = tmp_path / "worksheet.csv"
    path.write_bytes(b"Identifier,Grade,\x81\n")
    archive = zipped(tmp_path / "class.zip", ["A_1_assignsubmission_file/a.ipynb"])
    said = labs("collect", archive, tmp_path / "in", "--table", path,
                "--out", tmp_path / "grades", status=1)  # fmt: skip
    assert said.endswith("neither UTF-8 nor UTF-16 nor cp1252; save it as CSV UTF-8.\n")


@pytest.mark.parametrize(
    ("written", "value"), [("7,5", 7.5), ("1.200,25", 1200.25), ("80", 80), ("-", None)]
)
def test_a_number_with_a_decimal_comma_is_read(written, value):
    assert decimals_of([["Lab 01", "12,50"]], ",").read(written) == value


@pytest.mark.parametrize(
    ("cells", "delimiter", "mark"),
    [
        (["12,50"], ",", ","),
        (["12,500"], ",", "."),
        (["12,500", "7.25"], ";", "."),
        (["1,200.50"], ";", "."),
        (["80"], ";", ","),
        (["80"], "\t", "."),
        (["Friday, 20 November 2026, 9:05 PM", "a,5"], ",", "."),
    ],
)
def test_the_decimal_mark_of_a_table_is_seen_in_its_cells(cells, delimiter, mark):
    assert decimals_of([["head"], cells], delimiter).mark == mark


@pytest.mark.parametrize(
    ("names", "possible", "full"),
    [
        pytest.param(["Student"], "20", "20.00", marks=pytest.mark.weekly),
        (["LastName", "FirstName"], "12,5", "12,50"),
    ],
)
def test_a_gradebook_has_rows_that_are_nobody_and_cells_that_are_canvas_own(
    tmp_path, names, possible, full
):
    """Canvas' test student, the points possible, who is excused; and typed entries."""
    grades, name = tmp_path / "grades", LAB.notebook.name
    archive = zipped(tmp_path / "class.zip", [
        f"lovelaceada_901_701_{name}",
        "lovelaceada_901_text.html",
        "typeronly_LATE_902_text.html",
        "linkonly_903_link.html",
        f"studenttest_909_709_{name}",
    ])  # fmt: skip
    people = [("Lovelace", "Ada", "901", ""), ("Only", "Typer", "902", "EX"),
              ("Only", "Link", "903", "5"), ("Student", "Test", "909", "7")]  # fmt: skip
    rows = [
        [*(["    Points Possible", ""] if len(names) == 2 else ["    Points Possible"]),
         "", "", "", possible],
        *([*([last, first] if len(names) == 2 else [f"{last}, {first}"]), number, "login",
           "A", cell] for last, first, number, cell in people),
    ]  # fmt: skip
    head = [*names, "ID", "SIS Login ID", "Section", "Lab 01 (6)"]
    gradebook = table(tmp_path / "gradebook.csv", head, *rows)
    said = labs("collect", archive, tmp_path / "in", "--table", gradebook, "--due", DUE,
                "--out", grades)  # fmt: skip
    assert "lovelaceada_901: a text entry: not a notebook" in said
    assert "linkonly_903: a link: not a notebook" in said
    assert f"studenttest_909_709_{name}: of Canvas' test student" in said
    assert "its name says no student" not in said
    roster = {p.id: p.name for p in read_roster(grades, find_lab)}
    assert roster == {"901": "Lovelace, Ada", "902": "Only, Typer", "903": "Only, Link"}
    assert due_dates(grades) == {"901": None, "902": DUE, "903": None}
    excused = {p.id: p.excused for p in read_roster(grades, find_lab)}
    assert excused == {"901": "", "902": "01", "903": ""}
    (grades / "rules.toml").write_text("missing = 0\n")
    given = [("901", e.number, e.points, "") for e in todo_cells(LAB)]
    table(grades / "overrides.csv", ("student", "exercise", "points", "comment"), *given)
    labs("grade", tmp_path / "in", "--lab", "01", "--no-sandbox", "--out", grades)
    said = labs("hand-back", gradebook, "--out", grades, status=1)
    assert "1 of 2 grades is open: linkonly_903 (" in said, "who is excused is not open"
    assert "typeronly_902" not in said
    with open(grades / "grades.csv", newline="") as file:
        [row] = [one for one in csv.DictReader(file) if one["student"] == "typeronly_902"]
    assert row["total"] == ""
    assert "; excused; isolation was off" in row["status"]
    overview = (grades / "overview.html").read_text()
    assert "typeronly_902" not in overview.partition("<h2>The labs")[0]
    assert ">excused<" in overview
    assert "you are excused from this lab" in (
        next((grades / "feedback").glob("typeronly*/*.html")).read_text()
    )
    with open(grades / "hand-back" / "gradebook-graded.csv", newline="") as file:
        made = [row[-1] for row in csv.reader(file)]
    assert made == ["Lab 01 (6)", possible, full, "EX", "", "7"]
    with zipfile.ZipFile(grades / "hand-back" / "feedback.zip") as pages:
        assert pages.namelist() == [f"lovelaceada_901_701_{LAB.name}.html"]
    worthless = table(tmp_path / "worthless.csv", head, *rows[1:])
    said = labs("hand-back", worthless, "--out", grades, status=1)
    assert "'Lab 01 (6)' has no points in the row 'Points Possible'" in said


def test_a_zip_of_canvas_that_hides_names_is_nobody_elses(tmp_path):
    """The number of its lab, 02, is no id; and its pages find their way back."""
    grades, name = tmp_path / "grades", "02_throughput.ipynb"
    archive = zipped(tmp_path / "class.zip", [
        f"anon_aB3dE_701_{name}", f"LATE_anon_Zz9yX_702_{name}", "anon_qQ1wW_text.html",
    ])  # fmt: skip
    gradebook = table(
        tmp_path / "gradebook.csv",
        ["Student", "ID", "Section", "Lab 02"],
        ["Points Possible", "", "", "8"],
    )
    said = labs("collect", archive, tmp_path / "in", "--table", gradebook,
                "--out", grades, status=1)  # fmt: skip
    assert "hides the names" in said
    assert not (tmp_path / "in").exists()
    labs("collect", archive, tmp_path / "in", "--due", DUE, "--out", grades)
    assert due_dates(grades) == {"aB3dE": None, "Zz9yX": DUE, "qQ1wW": None}
    assert sorted(p.name for p in (tmp_path / "in").rglob("*.ipynb")) == [name, name]
    labs("grade", tmp_path / "in", "--lab", "02", "--no-sandbox", "--out", grades)
    said = labs("hand-back", gradebook, "--out", grades, status=1)
    with zipfile.ZipFile(grades / "hand-back" / "feedback.zip") as pages:
        assert sorted(pages.namelist()) == [
            "anon_Zz9yX_702_02_throughput.html", "anon_aB3dE_701_02_throughput.html",
        ]  # fmt: skip


def test_what_was_left_out_is_on_the_overview_and_on_the_students_page(tmp_path):
    grades, name = tmp_path / "grades", LAB.notebook.name
    files = {
        f"Big_1_assignsubmission_file/{name}": "0" * 46 * 2**20,
        "Zip_2_assignsubmission_file/work.zip": "PK",
        "Pdf_3_assignsubmission_file/answers <b>.pdf": "%PDF",
        f"Both_4_assignsubmission_file/{name}": "{}",
        "Both_4_assignsubmission_file/notes.txt": "x",
        "stranger.ipynb": "{}",
    }
    with zipfile.ZipFile(tmp_path / "class.zip", "w", zipfile.ZIP_DEFLATED) as made:
        for file, content in files.items():
            made.writestr(file, content)
    labs("collect", tmp_path / "class.zip", tmp_path / "in", "--out", grades)
    labs("grade", tmp_path / "in", "--lab", "01", "--no-sandbox", "--out", grades)
    reasons = {
        "Big_1": f"{name}: 46 MB, more than 20: clear its outputs",
        "Zip_2": "work.zip: an archive that cannot be read, not unpacked",
        "Pdf_3": "answers <b>.pdf: not a notebook",
        "Both_4": "notes.txt: not a notebook",
    }
    overview = (grades / "overview.html").read_text()
    needs = overview.partition("Needs you</h2>")[2].partition("<h2>The labs")[0]
    for student, reason in reasons.items():
        assert f"left out: {html.escape(reason)}" in needs, student
        [page] = (grades / "feedback").glob(f"{student[:3]}*/{LAB.name}.html")
        file, _, why = reason.partition(": ")
        assert f"<code>{html.escape(file)}</code>: {why}" in page.read_text()
    assert "stranger.ipynb</th><td>its name says no student" in overview
    # A later zip with a notebook that can be read replaces what was known of them.
    again = zipped(tmp_path / "again.zip", [f"Big_1_assignsubmission_file/{name}"])
    said = labs("collect", again, tmp_path / "later", "--out", grades)
    assert "later is a new folder, without Both_4, Pdf_3, Zip_2, who are in" in said
    said = labs("hand-back", tmp_path / "x.csv", "--out", tmp_path, status=1)
    assert f"has no grades yet: did you mean --out {grades}?" in said
    # Alone, it would turn all others into students who handed in nothing.
    kept = (grades / "grades.csv").read_bytes()
    command = ["--lab", "01", "--no-sandbox", "--out", grades]
    said = labs("grade", tmp_path / "later", *command, status=1)
    assert "and 2 more handed in before, but" in said
    assert (grades / "grades.csv").read_bytes() == kept
    labs("collect", tmp_path / "again.zip", tmp_path / "in", "--out", grades)
    labs("grade", tmp_path / "in", *command)
    overview = (grades / "overview.html").read_text()
    assert "46 MB" not in overview
    assert "work.zip" in overview


def dated(path, files, date=(1980, 1, 1, 0, 0, 0)):
    """A zip with the same date for each of its files."""
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(zipfile.ZipInfo(name, date), content)
    return path


def contents(folder):
    """The files in a folder of submissions, and what each of them has."""
    files = (p for p in folder.rglob("[!.]*") if p.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


@pytest.mark.parametrize("by", only({"zip"}, ["zip", "worksheet", "Canvas"]))
def test_a_later_zip_updates_the_folder_of_the_class(tmp_path, by):
    """Whichever is collected first; and the same command twice changes nothing."""
    name, other = LAB.notebook.name, find_lab("02").notebook.name
    again = name.replace(".ipynb", "-1.ipynb" if by == "Canvas" else ".ipynb")
    form = "{0}_{1}_7{2}_{3}" if by == "Canvas" else "{0}_{1}_assignsubmission_file/{3}"
    first = {
        form.format("ada", 1, "01", name): "ada's first",
        form.format("bob", 2, "02", name): "bob's",
        form.format("cyd", 3, "03", other): "of another lab",
        form.format("eve", 5, "05", "work.zip"): "PK",
    }
    later = {
        form.format("ada", 1, "11", again): "ada's second",
        form.format("cyd", 3, "13", name): "cyd's",
        form.format("dan", 4, "14", name): "dan's",
        form.format("eve", 5, "15", name): "eve's",
    }
    dates = [(2026, 11, 20, 9, 0, 0), (2026, 11, 27, 9, 0, 0)] if by == "zip" else [()] * 2
    zips = [
        dated(tmp_path / f"{n}.zip", files, *filter(None, [date]))
        for n, (files, date) in enumerate(zip([first, later], dates, strict=True))
    ]
    tables = [[], []]
    if by == "worksheet":
        head = [*MOODLES_HEAD, "Last modified (submission)", "Full name"]
        names = ["ada", "bob", "cyd", "dan", "eve"]
        for n, day in enumerate(("Friday, 20", "Friday, 27")):
            date = f"{day} November 2026, 9:05 AM"
            rows = [
                [f"Participant {number}", "", "", "-", date, one]
                for number, one in enumerate(names, start=1)
            ]
            tables[n] = ["--table", table(tmp_path / f"{n}.csv", head, *rows)]

    def collect(n, to):
        grades = tmp_path / f"grades of {to}"
        return labs("collect", zips[n], tmp_path / to, *tables[n], "--out", grades)

    there = {
        f"ada_1/{again}": "ada's second",
        f"bob_2/{name}": "bob's",
        f"cyd_3/{other}": "of another lab",
        f"cyd_3/{name}": "cyd's",
        f"dan_4/{name}": "dan's",
        f"eve_5/{name}": "eve's",
    }
    collect(0, "in")
    said = collect(1, "in")
    aside = tmp_path / "in" / "ada_1" / "backups"
    assert f"replaced: ada_1: {name} by {again}; the older one is in {aside}\n" in said
    assert "added: cyd_3, dan_4, eve_5\n" in said
    assert said.count("replaced: ") == 1
    whole = there | {f"ada_1/backups/{name}": "ada's first"}
    assert contents(tmp_path / "in") == whole
    kept = contents(tmp_path / "grades of in")
    assert "work.zip" not in kept["left_out.json"]
    for n in (1, 0, 1):
        said = collect(n, "in")
        assert ("kept: ada_1: 01_gradient_descent, because" in said) == (n == 0)
        assert "replaced" not in said
        assert contents(tmp_path / "in") == whole
        assert contents(tmp_path / "grades of in") == kept
    # In the other order, what the older zip has of ada is never there.
    collect(1, "other order")
    assert "kept: ada_1" in collect(0, "other order")
    assert contents(tmp_path / "other order") == there
    upload = contents(tmp_path / "grades of other order")["collected.json"]
    assert ("ada_1_711_" in upload) == (by == "Canvas")
    assert "ada_1_701_" not in upload


def test_without_any_date_the_later_command_counts_and_says_so(tmp_path):
    name, grades = LAB.notebook.name, tmp_path / "grades"
    file = f"Ada_1_assignsubmission_file/{name}"
    for content in ("first", "second", "third"):
        archive = dated(tmp_path / f"{content}.zip", {file: content})
        said = labs("collect", archive, tmp_path / "in", "--out", grades)
        assert ("no date says which one is newer" in said) == (content != "first")
    for content in ("first", "third"):  # neither is new
        labs("collect", tmp_path / f"{content}.zip", tmp_path / "in", "--out", grades)
    # A zip that went into a wrong folder first is not taken for an older one.
    archive = dated(tmp_path / "fourth.zip", {file: "fourth"})
    labs("collect", archive, tmp_path / "wrong", "--out", grades)
    assert "replaced: Ada_1" in labs("collect", archive, tmp_path / "in", "--out", grades)
    assert contents(tmp_path / "in") == {
        f"Ada_1/{name}": "fourth",
        f"Ada_1/backups/{name}": "first",
        f"Ada_1/backups/{name.replace('.', ' (2).')}": "third",
        f"Ada_1/backups/{name.replace('.', ' (1).')}": "second",
    }


def test_a_notebook_that_was_put_there_by_hand_stays_until_there_is_a_new_one(tmp_path):
    name, grades = LAB.notebook.name, tmp_path / "grades"
    file = f"Ada_1_assignsubmission_file/{name}"
    for n, content in enumerate(("first", "first", "second"), start=1):
        archive = dated(tmp_path / f"{n}.zip", {file: content}, (2026, 11, n, 9, 0, 0))
        said = labs("collect", archive, tmp_path / "in", "--out", grades)
        assert ("kept: Ada_1" in said) == (n == 2)
        if n == 1:
            (tmp_path / "in" / "Ada_1" / name).write_text("by mail")
        there = ("first", "by mail", "second")[n - 1]
        assert n == 1 or contents(tmp_path / "in")[f"Ada_1/{name}"] == there
    assert contents(tmp_path / "in")[f"Ada_1/backups/{name}"] == "by mail"


def test_a_roster_with_time_zones_keeps_them_in_both_dates(tmp_path):
    name, grades = LAB.notebook.name, tmp_path / "grades"
    roster = grades / "roster.csv"

    def collect(day):
        date = f"Friday, {day} November 2026, 9:05 AM"
        files = {f"{who}_assignsubmission_file/{name}": f"{day}" for who in ("A_1", "B_2")}
        archive = dated(tmp_path / f"{day}.zip", files, (2026, 11, day, 9, 0, 0))
        head = [*MOODLES_HEAD, "Last modified (submission)", "Full name"]
        until = "Extension granted until: Saturday, 28 November 2026, 8:05 AM"
        rows = [
            [f"Participant {number}", status, "", "-", date, who]
            for number, who, status in ((1, "A", ""), (2, "B", until * (day > 20)))
        ]
        people = table(tmp_path / f"{day}.csv", head, *rows)
        labs("collect", archive, tmp_path / "in", "--table", people, "--due", DUE,
             "--out", grades)  # fmt: skip
        return roster.read_text()

    assert "+01:00" not in collect(20)
    roster.write_text(re.sub(r"(2026-11-20 \d\d:\d\d)", r"\1+01:00", roster.read_text()))
    for day in (21, 22):  # reads what the last one has written
        written = collect(day)
        assert written.count("+01:00") == 4
        assert written.count(f"2026-11-{day} 09:05+01:00") == 2
        assert written.count("2026-11-28 08:05+01:00") == 1


def test_a_second_due_date_and_a_second_folder_are_noticed(tmp_path):
    name, grades = LAB.notebook.name, tmp_path / "grades"
    files = {f"{who}_assignsubmission_file/{name}": who for who in ("Ada_1", "Bob_2")}
    archive = dated(tmp_path / "class.zip", files)

    def collect(due, to="in"):
        return labs("collect", archive, tmp_path / to, "--due", due, "--out", grades)

    assert "--due is only" not in collect(DUE) + collect(DUE)
    roster = grades / "roster.csv"
    roster.write_text(roster.read_text().replace(DUE, "2026-11-27 23:59", 1))
    assert "--due is only" not in collect(DUE)  # an extension
    assert ": 2 students have another one there already" in collect("2026-11-21 23:59")
    assert ": 1 student has another one there already" in collect("2026-11-27 23:59")
    assert sorted(due_dates(grades).values()) == [DUE, "2026-11-27 23:59"]
    assert "knows this lab of Ada_1, Bob_2: what you have changed" in collect(DUE, "new")


def test_an_older_zip_in_a_wrong_folder_does_not_make_anybody_punctual(tmp_path):
    grades, name = tmp_path / "grades", LAB.notebook.name
    head = [*MOODLES_HEAD, "Last modified (submission)", "Full name"]
    collect = {}
    for day in (20, 27):
        date = f"Friday, {day} November 2026, 9:05 AM"
        files = {f"Ada_1_assignsubmission_file/{name}": f"{{}} {day}"}
        archive = dated(tmp_path / f"{day}.zip", files, (2026, 11, day, 9, 0, 0))
        row = ["Participant 1", "", "", "-", date, "Ada"]
        people = table(tmp_path / f"{day}.csv", head, row)
        due = ("--due", "2026-11-21 23:59", "--out", grades)
        collect[day] = ["collect", archive, "--table", people, *due]
    for day, to in ((20, "in"), (27, "in"), (20, "wrong"), (20, "in")):
        labs(*collect[day], tmp_path / to)
        latest = 20 if (day, to) == (20, "in") and not (tmp_path / "wrong").exists() else 27
        assert f",2026-11-{latest} 09:05," in (grades / "roster.csv").read_text()


def test_a_notebook_that_was_deleted_stays_away(tmp_path):
    name, grades = LAB.notebook.name, tmp_path / "grades"
    other = f"again_{name}"
    files = {
        f"Ada_1_assignsubmission_file/{name}": "first",
        f"Ada_1_assignsubmission_file/{other}": "second",
    }
    collect = ["collect", dated(tmp_path / "1.zip", files), tmp_path / "in"]
    labs(*collect, "--out", grades)
    (tmp_path / "in" / "Ada_1" / other).unlink()
    files[f"Bob_2_assignsubmission_file/{name}"] = "bob's"
    collect[1] = dated(tmp_path / "2.zip", files)
    for _ in range(2):
        said = labs(*collect, "--out", grades)
        assert f"not added: Ada_1: {other}, because it has been deleted" in said
        assert contents(tmp_path / "in").keys() == {f"Ada_1/{name}", f"Bob_2/{name}"}
    # Where nothing of the lab is left, the zip is believed.
    (tmp_path / "in" / "Ada_1" / name).unlink()
    labs(*collect, "--out", grades)
    assert f"Ada_1/{other}" in contents(tmp_path / "in")
    # A folder that somebody has emptied is filled again.
    for student in ("Ada_1", "Bob_2"):
        shutil.rmtree(tmp_path / "in" / student)
    labs(*collect, "--out", grades)
    assert len(contents(tmp_path / "in")) == 3


def test_a_folder_of_something_else_is_not_updated(tmp_path):
    archive = zipped(tmp_path / "a.zip", [f"A_1_assignsubmission_file/{LAB.notebook.name}"])
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.txt").write_text("x")
    said = labs("collect", archive, strange, "--out", tmp_path / "grades", status=1)
    assert "is not empty, and" in said
    assert contents(strange) == {"thesis.txt": "x"}
    assert not (tmp_path / "grades").exists()


def test_the_notebook_of_another_lab_is_not_nothing(tmp_path):
    """So a rule that gives 0 to those who handed in nothing leaves it to the instructor."""
    grades, other = tmp_path / "grades", find_lab("02").notebook.name
    names = [f"Ada_1_assignsubmission_file/{LAB.notebook.name}"]
    names += [f"Bob_2_assignsubmission_file/{LAB.notebook.name}"]
    names += [f"Alan_3_assignsubmission_file/{other}"]
    said = labs("collect", zipped(tmp_path / "class.zip", names), tmp_path / "in",
                "--out", grades)  # fmt: skip
    reason = f"{other}: a notebook of 02_throughput, not {LAB.name}"
    assert f"Alan_3: {reason}" in said
    (grades / "rules.toml").write_text("missing = 0\n")
    labs("grade", tmp_path / "in", "--lab", "01", "--no-sandbox", "--out", grades)
    overview = (grades / "overview.html").read_text()
    needs = overview.partition("Needs you</h2>")[2].partition("<h2>The labs")[0]
    assert reason in needs
    with open(grades / "grades.csv", encoding="utf-8", newline="") as file:
        [alan] = [row for row in csv.DictReader(file) if row["student"] == "Alan_3"]
    assert alan["total"] == ""


def test_a_rehearsal_goes_from_its_zip_to_its_grades(tmp_path):
    folder = tmp_path / "to try"  # a shell would read two words
    said = labs("rehearse", folder, "--lab", "01")
    commands = [
        shlex.split(line)[1:] for line in said.splitlines() if line.startswith("  labs ")
    ]
    names = [command[0] for command in commands]
    assert names == ["collect", "grade", "mark", "grade", "hand-back"]
    grades = tmp_path / "grades"
    for command in commands:
        command[command.index("--out") + 1] = grades
        if command[0] != "mark":  # which would wait for a teacher
            labs(*command, *["--no-sandbox"] * (command[0] == "grade"))
    handed_back = grades / "hand-back" / "worksheet-graded.csv"
    with open(handed_back, encoding="utf-8") as file:
        rows = {row["Full name"]: row for row in csv.DictReader(file)}
    given = {name.partition(" ")[0]: row["Grade"] for name, row in rows.items()}
    assert given == {
        "Ada": "100.00",
        "Ben": "66.67",
        "Chen": "0.00",
        "Dora": "",
        "Emil": "",
    }
    assert "1 day 8 hours late" in rows["Ben Example"]["Feedback comments"]
    assert "not empty" in labs("rehearse", folder, status=1)
    # The table of another class, under the same name, costs nothing.
    before = handed_back.read_bytes()
    others = worksheet(tmp_path / "worksheet.csv", p901="Submitted for grading")
    refused = labs("hand-back", others, "--out", grades, status=1)
    assert refused.endswith("is it the table of another class? Nothing was written.\n")
    assert handed_back.read_bytes() == before


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.number)
def test_every_lab_can_be_rehearsed(lab, tmp_path):
    made = rehearse(tmp_path / "try", lab)
    with zipfile.ZipFile(made.archive) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert len(set(files.values())) == len(files) == 4


def test_a_zip_in_the_place_of_the_table_is_named(tmp_path):
    archive = zipped(tmp_path / "class.zip", ["A_1_assignsubmission_file/a.ipynb"])
    said = labs("collect", archive, tmp_path / "in", "--table", archive, status=1)
    assert said.endswith("is a zip or an Excel file, where a table in CSV is asked for.\n")


def test_the_decimal_mark_is_that_of_the_points():
    head = ["Student", "ID", "SIS Login ID", "Section", "Lab 01"]
    gradebook = [
        head,
        ["    Points Possible", "", "", "", "10,00"],
        ["Lovelace, Ada", "901", "ada", "2.1", ""],
    ]
    assert decimals_of(canvas.numbers(gradebook), ";").mark == ","
    head = ["Identifier", "ID number", "Grade", "Maximum grade", "Last modified (grade)"]
    row = ["Participant 1", "12.345", "", "80,00", "-"]
    assert decimals_of(moodle.numbers([head, row]), ",").mark == ","


def test_dates_of_a_second_lab_do_not_replace_those_of_the_first(tmp_path):
    grades, other = tmp_path / "grades", find_lab("02")
    head = [*MOODLES_HEAD[:3], "Last modified (submission)", MOODLES_HEAD[3]]
    for day, lab in ((20, LAB), (27, other)):
        file = f"A B_1_assignsubmission_file/{lab.notebook.name}"
        archive = zipped(tmp_path / f"{day}.zip", [file])
        came = f"Friday, {day} November 2026, 9:05 AM"
        given = table(tmp_path / "given.csv", head, ["Participant 1", "", "", came, "-"])
        labs(
            "collect",
            archive,
            tmp_path / "in",
            "--table",
            given,
            "--due",
            f"2026-11-{day} 23:59",
            "--out",
            grades,
        )
    roster = {p.lab: (p.due.day, p.submitted.day) for p in read_roster(grades, find_lab)}
    assert roster == {"": (20, 20), other.name: (27, 27)}


def _graded(student, status="graded"):
    return {
        "student": student,
        "lab": LAB.name,
        "status": status,
        "problem": "",
        "exercises": {},
        "about": {},
        "texts": [],
        "needs": [],
        "total": None,
        "of": 6,
        "file_name": student,
        "late": {"words": ""},
        "open": [],
        "so_far": 0,
    }


def test_a_part_of_the_grades_does_not_go_back(tmp_path):
    (tmp_path / "roster.csv").write_text("student,id\nada,1\nbob,2\n")
    one = _graded("ada") | {"person": {"id": "1"}}
    decisions = class_files.digests_of(tmp_path)
    (tmp_path / "grades.json").write_text(
        json.dumps({"results": [one], "decisions": decisions})
    )
    head = [*MOODLES_HEAD, "Maximum grade"]
    rows = [[f"Participant {n}", "", "", "-", "10"] for n in (1, 2)]
    given = table(tmp_path / "given.csv", head, *rows)
    said = labs("hand-back", given, "--out", tmp_path, status=1)
    assert "has no grades of bob, because grading was interrupted" in said


def test_who_is_excused_here_and_not_in_canvas_is_named(tmp_path):
    (tmp_path / "roster.csv").write_text("student,id,excused\nada,901,01\n")
    one = _graded("ada") | {"person": {"id": "901"}, "excused": True}
    decisions = class_files.digests_of(tmp_path)
    (tmp_path / "grades.json").write_text(
        json.dumps({"results": [one], "decisions": decisions})
    )
    head = ["Student", "ID", "SIS Login ID", "Section", "Lab 01"]

    def given(cell):
        return table(
            tmp_path / "given.csv",
            head,
            ["Points Possible", "", "", "", "10"],
            ["Lovelace, Ada", "901", "ada", "A", cell],
        )

    said = labs("hand-back", given(""), "--out", tmp_path, status=1)
    assert "ada has handed in and is excused in" in said
    assert "is excused in" not in labs("hand-back", given("EX"), "--out", tmp_path)


def test_a_name_that_excel_cannot_save_stays_that_of_the_folder(tmp_path):
    grades, student = tmp_path / "grades", "Şule_101"
    archive = zipped(
        tmp_path / "class.zip", [f"{student}_assignsubmission_file/{LAB.notebook.name}"]
    )
    given = worksheet(tmp_path / "given.csv", _101="Submitted for grading")
    command = "collect", archive, tmp_path / "in", "--table", given, "--out", grades
    labs(*command)
    roster = grades / "roster.csv"
    saved = roster.read_text(encoding="utf-8").replace(",", ";")
    roster.write_bytes(saved.encode("cp1252", "replace"))
    [person] = for_students(feedback.read_files(grades), {student}).roster
    assert (person.student, person.id) == (student, "101")
    labs(*command)
    assert [p.student for p in read_roster(grades, find_lab)] == [student]
    assert [path.name for path in (tmp_path / "in").iterdir() if path.is_dir()] == [student]


def test_a_newer_notebook_that_is_not_graded_yet_does_not_go_back(tmp_path):
    name, grades = LAB.notebook.name, tmp_path / "grades"
    for text in ("first", "better"):
        files = {f"A B_1_assignsubmission_file/{name}": text}
        archive = dated(tmp_path / f"{text}.zip", files, (2026, 11, 20, 9, 0, len(text)))
        labs("collect", archive, tmp_path / "in", "--out", grades)
        if text == "first":
            decisions = class_files.digests_of(grades)
    stored = {"results": [], "decisions": decisions}
    (grades / "grades.json").write_text(json.dumps(stored))
    given = worksheet(tmp_path / "given.csv", _1="")
    said = labs("hand-back", given, "--out", grades, status=1)
    assert "seen.json has changed since the grades were made" in said
