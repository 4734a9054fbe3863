"""What an instructor decides in their own files, from `labs grade` to the pages."""

import csv
import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kit.grading.classroom.marks import to_cents
from kit.labs import find_lab
from kit.todo_cells import written

LAB = find_lab("02")
LABS = Path(sys.executable).with_name("labs")
[QUESTION] = written(LAB)
ROWS = """student,exercise,points,comment
ada,2.1,,Look at the first epoch <again>.
ada,2.figure,,A good sentence.
bob,2,5.5,Shown to me in person.
cyd,02,,Please come and talk to me.
"""


def labs(*arguments, status=0):
    """What the command says, on both streams."""
    ended = subprocess.run(
        [LABS, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def notebook(text):
    """A notebook with an answer in words and no code, so that nothing runs."""
    cell = {
        "cell_type": "markdown", "id": QUESTION.cell_id, "metadata": {},
        "source": f"{QUESTION.start}\n\n{text}",
    }  # fmt: skip
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})


@pytest.fixture
def graded(tmp_path):
    """A class, and the grades of it with what was decided: `grade(rules, rows)`."""
    folder, out = tmp_path / "submissions", tmp_path / "the grades"
    for student, text in {"ada": "It saturates at 60.", "bob": "", "cyd": "So."}.items():
        path = folder / student / LAB.notebook.name
        path.parent.mkdir(parents=True)
        path.write_text(notebook(text))
    (folder / "wrong file").mkdir()
    (folder / "wrong file" / "other.ipynb").write_text("{}")
    (folder / "nothing there").mkdir()
    out.mkdir()
    (out / "roster.csv").write_text("student\nada\nbob\ncyd\njoe\n")

    def grade(status=0, **files):
        for name, text in files.items():
            ending = "toml" if name == "rules" else "csv"
            (out / f"{name}.{ending}").write_text(text)
        said = labs(
            "grade", folder, "--lab", "02", "--no-sandbox", "--out", out, status=status
        )
        return out, said

    return grade


def totals(out):
    with open(out / "grades.csv", newline="") as file:
        return {row["student"]: row["total"] for row in csv.DictReader(file)}


def page_of(out, student):
    [path] = (out / "feedback").glob(f"{student}*/{LAB.name}.html")
    return html.unescape(path.read_text())


def test_comments_without_points_and_points_for_a_whole_lab(graded):
    out, _ = graded(overrides=ROWS)
    assert totals(out) == {
        "ada": "0", "bob": "5.5", "cyd": "0", "joe": "", "wrong file": "",
        "nothing there": "",
    }, "a comment decides nothing: the words do not count yet"  # fmt: skip
    ada, bob, cyd = (page_of(out, student) for student in ("ada", "bob", "cyd"))
    assert "Look at the first epoch <again>." in ada
    assert "has given" not in ada
    assert "A good sentence." in ada
    assert "No points yet." in ada
    assert "5.5 of 6 points" in bob
    for page, comment in ((bob, "Shown to me"), (cyd, "Please come")):
        assert 'about the whole lab</h2>\n<p class="said">' + comment in page
    # Once words count, the whole lab has their points as well.
    for row in ("ada,2.figure,,", "ada,2.figure,2,"):
        _, said = graded(
            status=row.endswith(",,"),
            overrides=ROWS.replace("ada,2.figure,,", row).replace("bob,2,5.5", "bob,2,7"),
        )
    assert totals(out)["bob"] == "7"
    assert (
        "line 4: points are '7'; 02 has 0 to 6."
        in graded(status=1, overrides=ROWS.replace("bob,2,5.5", "bob,2,7"))[1]
    )
    _, said = graded(status=1, overrides=ROWS + "ada,2.2,,\n")
    assert "line 6: neither points nor a comment" in said


def test_missing_is_zero_only_if_a_rule_says_so_and_nothing_was_handed_in(graded):
    out, _ = graded(rules="missing = 0\n")
    assert totals(out) == {
        "ada": "0", "bob": "0", "cyd": "0", "joe": "0", "wrong file": "",
        "nothing there": "0",
    }  # fmt: skip
    assert "It has 0 of 6 points, as your instructor decided." in page_of(out, "joe")
    assert "That is not zero points" in page_of(out, "wrong")
    _, said = graded(status=1, rules="missing = 1\n")
    assert "missing is 1; it must be 0, or left out." in said


def test_missing_is_not_zero_before_it_is_due(graded):
    dates = {"ada": "", "bob": "", "cyd": "", "joe": "2999-12-01 10:00"}
    dates["nothing there"] = "2020-01-01 00:00"
    roster = "student,due\n" + "".join(f"{name},{due}\n" for name, due in dates.items())
    out, _ = graded(rules="missing = 0\n", roster=roster)
    assert totals(out)["joe"] == ""
    assert totals(out)["nothing there"] == "0"
    overview = html.unescape((out / "overview.html").read_text())
    assert "nothing was handed in; open until 2999-12-01 10:00" in overview
    assert "Hand in the file" in page_of(out, "joe")
    assert "Hand in the file" not in page_of(out, "nothing"), "it is decided"


@pytest.mark.parametrize("cents", range(0, 2000, 7))
def test_half_a_hundredth_goes_up(cents):
    assert to_cents((cents + 0.5) / 100) == (cents + 1) / 100
    assert to_cents(cents / 100) == cents / 100
    assert to_cents(cents / 100 + 0.003) == cents / 100


def test_words_that_nobody_has_read_need_you_and_have_statistics(graded):
    out, _ = graded()
    overview = html.unescape((out / "overview.html").read_text())
    needs = overview.partition("Needs you</h2>")[2].partition("<h2>The labs")[0]
    assert "nobody has read: 2 for 2.figure" in needs
    assert f"<code>labs mark --out '{out}'</code>" in needs
    assert 'href="marking.html"' in needs
    assert "Start <code>labs mark</code>" in (out / "marking.html").read_text()
    assert "<td>2 of 3</td><td>2.5</td><td>0 of 2</td><td></td><td></td>" in overview
    graded(
        overrides="student,exercise,points,comment\nada,2.figure,1.5,\ncyd,2.figure,0,\n"
    )
    bob = page_of(out, "bob")
    assert "0 of 8 points" in bob
    assert "2.figure</a></th><td>an answer in words</td><td>0 of 2</td>" in bob
    assert "You wrote nothing here." in bob
    overview = (out / "overview.html").read_text()
    assert "nobody has read" not in overview
    assert "<td>2 of 2</td><td>0.75 of 2</td><td>1 × 0, 1 × 1.5</td>" in overview


def test_the_overview_says_whose_file_is_the_same(graded, tmp_path):
    path = tmp_path / "submissions" / "{}" / LAB.notebook.name
    for student in ("ann", "kim"):
        copy = Path(str(path).format(student))
        copy.parent.mkdir()
        # Ann has handed in Ada's file, and Kim, as Bob, one without an answer.
        copy.write_text(notebook("It saturates at 60." if student == "ann" else ""))
    out, _ = graded()
    overview = html.unescape((out / "overview.html").read_text())
    said = re.findall(r"the same file as (\w+)", overview)
    assert sorted(said) == ["ada", "ann"]


def test_the_wrong_lab_gives_nobody_zero_points(graded, tmp_path):
    out, _ = graded(rules="missing = 0\n")
    before = (out / "grades.csv").read_bytes()
    folder = tmp_path / "submissions"
    said = labs("grade", folder, "--lab", "01", "--no-sandbox", "--out", out, status=1)
    assert f"{folder} has no notebook of lab 01, but of lab 02: ask for that." in said
    assert (out / "grades.csv").read_bytes() == before


def test_points_for_a_whole_lab_say_whose_they_are_and_what_they_replace(graded):
    out, _ = graded(overrides=ROWS.replace("ada,2.figure,,", "ada,2.figure,2,"))
    page = page_of(out, "bob")
    assert "5.5 of 8 points, which your instructor has given" in page
    # Bob began no exercise, and wrote nothing: his page is only about the whole lab.
    headings = re.findall("<h2.*?>(.*)</h2>", page)
    assert headings == ["Your instructor says about the whole lab"]
    assert "0 of" not in page
    overview = html.unescape((out / "overview.html").read_text())
    assert "by you, instead of 0" in overview


def test_the_terminal_names_files_that_belong_to_no_student(graded, tmp_path):
    folder = tmp_path / "submissions"
    for number in range(7):
        (folder / f"02_throughput_{number}.ipynb").write_text(notebook(""))
    out, said = graded()
    assert "not graded: 02_throughput_0.ipynb: its name says no student or lab" in said
    assert said.count("not graded: 02_throughput") == 5
    assert "not graded: 2 more, at the end of overview.html" in said
    assert (out / "overview.html").read_text().count(">02_throughput_") == 7


def test_another_folder_of_grades_with_these_students_is_named(graded, tmp_path):
    graded()
    folder, out = tmp_path / "submissions", tmp_path / "other"
    said = labs("grade", folder, "--lab", "02", "--no-sandbox", "--out", out)
    assert f"{out} has no roster.csv, but {tmp_path / 'the grades'} has one" in said
    table = tmp_path / "table.csv"
    table.write_text("Identifier,Full name\n")
    said = labs("hand-back", table, "--out", out, status=1)
    assert f"{out} has no roster.csv with these students" in said
