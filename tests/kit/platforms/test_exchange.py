"""`labs collect` and `labs hand-back`: what an instructor gets from a second one."""

import csv
import subprocess
import sys
import zipfile
from pathlib import Path

from kit.grading.classroom.class_files import read_roster
from kit.labs import find_lab

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


def test_a_second_zip_adds_to_the_pages_that_can_go_back_to_canvas(tmp_path):
    grades, name = tmp_path / "grades", LAB.notebook.name
    head = ["Student", "ID", "SIS Login ID", "Section", "Lab 01", "Lab 02"]
    students = [[f"Student {n}", str(n), "", "A", "", ""] for n in range(1, 6)]
    gradebook = table(tmp_path / "gradebook.csv", head, *students)
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
    assert lines[0].startswith("Student 4_4 has handed in nothing, and Canvas takes no")
    assert lines[1].startswith("Student 5_5: no zip that was collected has their 01_")
    assert len(lines) == 2
