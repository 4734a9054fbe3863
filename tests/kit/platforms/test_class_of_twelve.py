"""An instructor takes a class from Moodle's zip to its gradebook, by commands alone."""

import csv
import html
import io
import json
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
import zipfile
from datetime import datetime
from pathlib import Path

import nbformat
import pytest

from helpers.errors import LabError
from kit.generate import generate
from kit.grading.box import sandbox
from kit.grading.classroom.class_files import read_overrides
from kit.grading.classroom.feedback import all_points
from kit.grading.classroom.marking.server import serve
from kit.grading.classroom.marks import NO_DATE
from kit.grading.grade import grade
from kit.labs import find_lab
from kit.platforms import exchange

LAB = find_lab("01")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("grading"),
    pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem())),
]
HEAD = [
    "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
    "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
    "Feedback comments",
]  # fmt: skip
ON_TIME, TOO_LATE = "Friday, 20 November 2026, 9:05 AM", "Sunday, 22 November 2026, 8:00 AM"
# As Moodle writes it into `Status`, behind what it says there of everybody.
EXTENDED = {112: f" - 1 day 8 hours late - Extension granted until: {TOO_LATE}"}
TEXT = '<script>alert("x")</script> =cmd() The noise scale grows near the lowest point.'


def notebook(solved=True, text="", changes=()):
    """A submission for lab 01 as bytes; `changes` are replacements in its exercises."""
    made = generate(LAB)[solved]
    for cell in made.cells:
        if cell.id == "1-figure":
            cell.source += f"\n\n{text}"
        if cell.cell_type == "code" and re.match("# (TODO|Solution)", cell.source):
            for old, new in changes:
                cell.source = re.sub(old, new, cell.source)
    return nbformat.writes(made).encode()


def copied():
    """The solution under other names, without comments and in another layout."""
    return notebook(changes=[(r"(?m)^ +# .*\n", ""), (r"\bx\b", "inputs"), (r"\by\b", "t")])


# Name, number, when it came, and the files of the zip.
CLASS = [
    ("Ada Lovelace", 101, ON_TIME, {f"{LAB.name}.ipynb": notebook(text=TEXT)}),
    ("Bob Copy", 102, ON_TIME, {f"{LAB.name}.ipynb": copied()}),
    ("Cyd Start", 103, ON_TIME, {f"{LAB.name}.ipynb": notebook(solved=False)}),
    ("Dan Late", 104, TOO_LATE, {f"work/my {LAB.name}.ipynb": notebook()}),
    ("Eve Broken", 105, ON_TIME, {f"{LAB.name}.ipynb": notebook()[:5000]}),
    ("Fay Twice", 106, ON_TIME, {"the best.ipynb": notebook(),
                                 f"{LAB.name}.ipynb": notebook(solved=False)}),
    ("Gus Paper", 107, ON_TIME, {"answers.pdf": b"%PDF-1.4", "lab.zip": b"PK"}),
    ("=cmd()", 108, ON_TIME, {f"{LAB.name}.ipynb": notebook(text="+1")}),
    ("Ida Empty", 109, ON_TIME, {f"{LAB.name}.ipynb": b""}),
    ("Jon Nothing", 110, "-", {}),
    ("Kim Error", 111, ON_TIME, {f"{LAB.name}.ipynb": notebook(
        changes=[(r"(?m)^    return .*", "    raise ValueError(1 / 0)")])}),
    ("José Ñandú", 112, TOO_LATE, {f"{LAB.name}.ipynb": notebook(),
                                  f"a/{LAB.name}.ipynb": notebook()}),
]  # fmt: skip
OPEN = {"105", "106", "107", "109", "110"}


def moodles_files(folder):
    """The zip of submissions and the grading worksheet, as Moodle 4.1 gives them."""
    archive, worksheet = folder / "class.zip", folder / "Grades-CS-Lab 01-7.csv"
    with zipfile.ZipFile(archive, "w") as made:
        for name, number, _, files in CLASS:
            for path, content in files.items():
                made.writestr(f"{name}_{number}_assignsubmission_file/{path}", content)
        made.writestr("../../outside.ipynb", notebook())
        made.writestr("Ada Lovelace_101_assignsubmission_onlinetext/onlinetext.html", "hi")
    with open(worksheet, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(HEAD)
        for name, number, came, files in CLASS:
            state = "Submitted for grading" if files else "No submission"
            table.writerow([
                f"Participant {number}", name, f"s{number}@example.org",
                state + EXTENDED.get(number, ""), "", "100.00", "Yes", came, "-", "",
            ])  # fmt: skip
    return archive, worksheet


def labs(*arguments, cwd):
    command = [Path(sys.executable).with_name("labs"), *map(str, arguments)]
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mark(grades, points, comment):
    """What `labs mark` serves, filled in and saved as a browser does."""
    server, address = serve(
        grades, lambda: read_overrides(grades, all_points()), names=True
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with server:
        shown = html.unescape(urllib.request.urlopen(address).read().decode())
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{address}more")
        strange = urllib.request.Request(address, headers={"Host": "evil.example:80"})
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(strange)
        headings = [one.strip() for one in re.findall(r"<h3.*?>([^<]*)", shown)]
        place = headings.index("Ada Lovelace (Ada Lovelace_101)")
        form = {f"points-{place}": points, f"comment-{place}": comment}
        saved = urllib.request.urlopen(address, urllib.parse.urlencode(form).encode())
        text = saved.read().decode()
        server.shutdown()
    return shown, text


@pytest.mark.weekly
def test_from_moodles_zip_to_its_gradebook(tmp_path):
    archive, worksheet = moodles_files(tmp_path)
    said = labs(
        "collect", archive, "submissions", "--table", worksheet,
        "--due", "2026-11-20 23:59", cwd=tmp_path,
    )  # fmt: skip
    assert "outside.ipynb: its name says no student" in said
    assert "Gus Paper_107: answers.pdf: not a notebook" in said
    assert "Gus Paper_107: lab.zip: an archive that cannot be read, not unpacked" in said
    assert "Notebooks of 10 students" in said
    assert not list(tmp_path.parent.glob("outside*"))
    grades = tmp_path / "grades"
    (grades / "rules.toml").write_text("percent_per_day = 10\n")
    (grades / "overrides.csv").write_text(
        "student,exercise,points,comment\nKim Error_111,1.1,1,The idea is right: -1 typo\n"
        "Nobody,1.1,1,\n"
    )
    said = labs("grade", "submissions", "--lab", "01", "--jobs", "1", cwd=tmp_path)
    assert "5 submissions are open" in said
    assert "overrides.csv, line 3: there is no student 'Nobody'" in said
    shown, text = mark(grades, "7", "")
    assert TEXT in shown
    assert text.count("<script>") == 1, "ours"
    assert "give 0 to 2 points" in html.unescape(text)
    mark(grades, "1,5", "=Good, but why?")
    labs("grade", "submissions", "--lab", "01", "--jobs", "1", cwd=tmp_path)

    rows = {row["id"]: row for row in read(grades / "grades.csv")}
    assert len(rows) == len(CLASS)
    # =cmd() wrote an answer too, which nobody has read: it is open as well.
    still = OPEN | {"108"}
    assert {number for number, row in rows.items() if not row["total"]} == still
    assert {number for number, row in rows.items() if not row["1.1"]} == OPEN
    assert rows["101"]["total"] == "7.5"
    assert rows["101"]["of"] == "8"
    assert rows["104"]["late"] == "1 day 8 hours late"
    assert (rows["104"]["penalty"], rows["104"]["total"]) == ("1.2", "4.8")
    assert (rows["112"]["late"], rows["112"]["total"]) == ("", "6"), "an extension"
    assert rows["103"]["total"] == "0"
    assert rows["111"]["1.1"] == "1"
    assert rows["108"]["name"] == "'=cmd()"
    assert all(re.fullmatch("[0-9a-f]{64}", rows[n]["sha256"]) for n in ("101", "105"))

    overview = html.unescape((grades / "overview.html").read_text())
    needs = overview.partition("<h2>Needs you</h2>")[2].partition("<h2>The labs</h2>")[0]
    opened, _, to_look_at = needs.partition("Look at these")
    assert set(re.findall(r"_(\d{3})</a>", opened)) == still
    assert re.findall(r"_(\d{3})</a>", to_look_at) == ["103"], "it is as handed out"
    assert "you have handed in the wrong file" in page_of(grades, "Cyd")
    assert "handed in twice (01_gradient_descent.ipynb, the best.ipynb)" in needs
    assert "of 7" in overview, "seven were graded"
    alike = html.unescape((grades / "similar.html").read_text())
    assert "Ada Lovelace_101 and Bob Copy_102" in alike
    assert "the reference and Ada Lovelace_101" in alike
    ada = html.unescape(page_of(grades, "Ada"))
    assert "=Good, but why?" in ada
    assert "1.5 of 2 points" in ada
    assert "<script" not in page_of(grades, "Ada")
    assert "The idea is right: -1 typo" in page_of(grades, "Kim")
    assert "That costs 20% of the points reached: 1.2 points" in page_of(grades, "Dan")
    assert "That is not zero points" in page_of(grades, "Eve")

    # What was decided after the grades is not handed back as if it were in them. A copy of
    # the folder has other dates, and the same decisions.
    decided = (grades / "overrides.csv").read_bytes()
    (grades / "overrides.csv").write_bytes(decided + b"101,1.1,0,Not so.\n")
    with pytest.raises(LabError, match=r"overrides.csv has changed since the grades"):
        exchange.hand_back(grades, worksheet)
    (grades / "overrides.csv").write_bytes(decided)
    shutil.copytree(grades, tmp_path / "a copy", copy_function=shutil.copyfile)
    exchange.hand_back(tmp_path / "a copy", worksheet)
    labs("hand-back", worksheet, cwd=tmp_path)
    [path] = (grades / "hand-back").glob("*.csv")
    before, after = read(worksheet), read(path)
    assert [list(row) for row in after] == [HEAD] * len(CLASS)
    for old, new in zip(before, after, strict=True):
        number = new["Identifier"].removeprefix("Participant ")
        for name in ("Identifier", "Last modified (grade)", "Email address"):
            assert new[name] == old[name]
        assert (new["Grade"] == "") == (number in still)
        assert not new["Grade"] or 0 <= float(new["Grade"]) <= 100
    assert after[0]["Grade"] == f"{100 * 7.5 / 8:.2f}"
    assert not [c for row in after for c in row.values() if c[:1] in tuple("=+@")]
    with zipfile.ZipFile(grades / "hand-back" / "feedback.zip") as pages:
        # As Moodle's importers read it: the new one NAME_ID_TYPE_PLUGIN/FILE or with a "_"
        # more, the one before 4.1 only the latter, as five parts of the whole path.
        parts = [name.split("/") for name in pages.namelist()]
        numbers = {str(number) for _, number, *_ in CLASS}
        assert {folder.split("_")[1] for folder, _ in parts} == numbers
        assert all(folder.endswith("_assignsubmission_file_") for folder, _ in parts)
        assert {file for _, file in parts} == {f"{LAB.name}.html"}
        content = pages.read(f"Ada Lovelace_101_assignsubmission_file_/{LAB.name}.html")
    assert content.decode() == page_of(grades, "Ada")
    assert json.loads((grades / "grades.json").read_text())["kit"].startswith("Scaling")


def page_of(grades, first):
    [path] = (grades / "feedback").glob(f"{first}*/{LAB.name}.html")
    return path.read_text()


def test_canvas_gets_its_columns_and_its_files_back(tmp_path):
    """Without grading: the files in the form that Canvas gives and takes."""
    archive = tmp_path / "submissions.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(f"lovelaceada_901_77001_{LAB.name}.ipynb", notebook())
        made.writestr(f"latedan_LATE_902_77002_{LAB.name}-1.ipynb", notebook())
    head = ["Student", "ID", "SIS Login ID", "Section", "Essay (5)", "Lab 01 (6)", "Total"]
    table = tmp_path / "gradebook.csv"
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(head)
    writer.writerow(["    Points Possible", "", "", "", "10", "20", "(read only)"])
    writer.writerow(["Lovelace, Ada", "901", "ada", "A", "9", "", "90"])
    writer.writerow(["Late, Dan", "902", "dan", "A", "8", "", "80"])
    writer.writerow(["=Absent, Joe", "903", "joe", "A", "7", "", "70"])
    table.write_text(text.getvalue(), encoding="utf-8")
    out = tmp_path / "grades"
    due = datetime(2026, 11, 20, 23, 59)
    with pytest.raises(LabError, match="is neither"):
        exchange.collect(archive, tmp_path / "in", out, Path(__file__), due)
    exchange.collect(archive, tmp_path / "in", out, table, due)  # nothing was left there
    roster = {row["id"]: row for row in read(out / "roster.csv")}
    assert {n: row["due"] != "" for n, row in roster.items()} == {
        "901": False, "902": True, "903": True,
    }  # fmt: skip
    assert {path.parent.name for path in (tmp_path / "in").rglob("*.ipynb")} == {
        "lovelaceada_901", "latedan_902",
    }  # fmt: skip
    for student in (tmp_path / "in").iterdir():
        (tmp_path / "none" / student.name).mkdir(parents=True)
    # Nothing to run: all are missing.
    grade(tmp_path / "none", [LAB], out, seed="s", jobs=1)
    document = json.loads((out / "grades.json").read_text())
    for result in document["results"]:
        if result["person"]["id"] == "901":
            result |= {"total": 3, "of": 6, "needs": [NO_DATE]}
            unread = {"number": "1.figure", "text": "It rises.", "points": None}
            result["texts"] = [unread, unread | {"text": ""}, unread | {"points": 1}]
    (out / "grades.json").write_text(json.dumps(document))
    path, pages, missing, absent, undecided = exchange.hand_back(out, table)
    rows = read(path)
    assert list(rows[0]) == ["Student", "ID", "SIS Login ID", "Section", "Lab 01 (6)"]
    assert [row["Lab 01 (6)"] for row in rows] == ["20", "10.00", "", ""]
    assert rows[3]["Student"] == "'=Absent, Joe"
    with zipfile.ZipFile(pages) as made:
        assert sorted(made.namelist()) == [
            f"latedan_902_77002_{LAB.name}.html", f"lovelaceada_901_77001_{LAB.name}.html",
        ]  # fmt: skip
    assert missing == []
    assert absent == [
        "=Absent, Joe_903 has handed in nothing, and Canvas takes no page for them"
    ]
    assert undecided == [
        "2 of 3 grades are open: =Absent, Joe_903, latedan_902 "
        f"({out / 'overview.html'} says why)",
        f"1 answer in words is unread: `labs mark --out {out}` shows them",
        "1 of 3 came without a date, so lateness costs nothing there: lovelaceada_901 "
        f"(write it into {out / 'roster.csv'}, and grade again)",
    ]
    with pytest.raises(LabError, match="no grades for 02_throughput, but for 01"):
        exchange.hand_back(out, table, find_lab("02"))
