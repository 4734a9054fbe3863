"""`labs mark` as a browser has it: a rubric, answers alike in a group, names hidden."""

import contextlib
import csv
import html
import json
import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kit.labs import find_lab
from kit.todo_cells import written
from tests.kit.grading.test_figure import figure_cell, png

LAB = find_lab("02")
[QUESTION] = written(LAB)
LABS = Path(sys.executable).with_name("labs")
TEXTS = {
    "ada": "The fixed cost of a step decides, until the processor has no more to give.",
    "bob": "the fixed cost of a step decides until the processor has no more to give",
    "cyd": "It grows because batches are large.",
}
SCRIPT = "<script>alert(1)</script>"
# Ada has none, and Cyd's first one is what lab 02 asks about.
FIGURES = {
    "bob": [figure_cell("mine", png(4_000_000, 4_000_000, cut=True))],
    "cyd": [
        figure_cell(f"Size 8 {html.escape(SCRIPT)}; half lie within 2% of the law", png()),
        figure_cell("Another one", png(20, 20)),
    ],
}
RUBRIC = "1: Names the cause\n-0.5: No unit"


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for student, text in TEXTS.items():
        hand_in(folder, student, text, FIGURES.get(student, ()))
    grade(folder)
    return folder


@pytest.fixture
def graded(graded_once, tmp_path):
    """The folder of submissions, and the grades of a class that has answered in words."""
    return shutil.copytree(graded_once, tmp_path, dirs_exist_ok=True)


def hand_in(folder, student, text, figures=()):
    cell = {
        "cell_type": "markdown", "id": QUESTION.cell_id, "metadata": {},
        "source": f"{QUESTION.start}\n\n{text}",
    }  # fmt: skip
    path = folder / "in" / student / LAB.notebook.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": [*figures, cell]}))


def grade(folder):
    command = [LABS, "grade", "in", "--lab", "02", "--no-sandbox"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def total_of(folder, student):
    with open(folder / "grades" / "grades.csv", newline="") as file:
        return next(r["total"] for r in csv.DictReader(file) if r["student"] == student)


@contextlib.contextmanager
def marking(folder, *options):
    """`labs mark`, and the address that it prints."""
    with subprocess.Popen(
        [LABS, "mark", *options], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.send_signal(2)  # Ctrl+C


def test_a_port_that_is_taken_is_named(graded):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [LABS, "mark", "--port", port], cwd=graded, capture_output=True, text=True
        )
    assert ended.returncode == 1
    assert f"port {port} is in use: give another --port" in ended.stderr


class Form(HTMLParser):
    """What a browser shows and sends: fields, and boxes that are ticked."""

    def __init__(self, page):
        super().__init__()
        self.fields, self.boxes, self.area, self.labels = {}, {}, None, {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        one = dict(attributes)
        if tag == "input" and one.get("type") == "checkbox":
            self.boxes[one["name"]] = "checked" in one
            self.box = one["name"]
        elif tag == "input":
            self.fields[one["name"]] = one["value"]
        elif tag == "textarea":
            self.area, self.fields[one["name"]] = one["name"], ""

    def handle_data(self, data):
        if self.area:
            self.fields[self.area] += data.removeprefix("\n")
        elif self.boxes and self.box not in self.labels:
            self.labels[self.box] = data.strip()

    def handle_endtag(self, tag):
        self.area = None if tag == "textarea" else self.area

    def line_of(self, comment):
        """The name of a rubric's line with a comment."""
        lines = {v: k for k, v in self.fields.items() if k.startswith("line-")}
        return next(lines[text] for text in lines if text.endswith(comment))

    def lines(self):
        """The rubric, in its order."""
        return [v for k, v in self.fields.items() if k.startswith("line-")]

    def box_of(self, place, comment):
        """The name of an answer's box with a comment."""
        own = [name for name in self.boxes if name.startswith(f"item-{place}-")]
        return next(name for name in own if self.labels[name].endswith(comment))


def headings(page):
    return [one.strip() for one in re.findall("<h3.*?>([^<]*)", page)]


def load(address):
    page = urllib.request.urlopen(address, timeout=60).read().decode()
    return page, Form(page)


def save(address, form, tick=(), **changes):
    ticked = {name: "yes" for name, is_on in form.boxes.items() if is_on or name in tick}
    sent = form.fields | ticked | changes
    content = urllib.parse.urlencode(sent).encode()
    page = urllib.request.urlopen(address, content, timeout=60).read().decode()
    return html.unescape(page), Form(page)


def decided(folder):
    with open(folder / "grades" / "overrides.csv", newline="") as file:
        return {
            row["student"]: (row["points"], row["comment"]) for row in csv.DictReader(file)
        }


def place_of(page, text):
    """The place of an answer on the page."""
    said = re.findall(r'<p class="said">(.*?)</p>', html.unescape(page), re.DOTALL)
    return said.index(text)


def test_names_are_hidden_unless_they_are_asked_for_and_the_overview_finds_the_page(graded):
    link = graded / "grades" / "marking.html"
    with marking(graded) as address:
        page, _ = load(address)
        assert not any(f"{student}<" in page or f"{student}:" in page for student in TEXTS)
        assert headings(page) == ["Answer 1", "Answer 2", "Answer 3"]
        assert f"url={address}" in link.read_text()
        assert link.stat().st_mode & 0o077 == 0
    assert "Start <code>labs mark</code>" in link.read_text()
    with marking(graded, "--names") as address:
        assert set(headings(load(address)[0])) == set(TEXTS)


def test_a_rubric_is_ticked_and_alike_answers_get_one_mark(graded):
    with marking(graded) as address:
        page, form = load(address)
        places = {student: place_of(page, text) for student, text in TEXTS.items()}
        first, second = sorted((places["ada"], places["bob"]))
        assert second == first + 1, "answers alike stand together"
        assert list(form.boxes) == [f"group-{first}"]
        _, form = save(address, form, **{"rubric-2.figure": RUBRIC})
        assert len(form.boxes) == 1 + 2 * 3
        cyd = places["cyd"]
        ticks = [form.box_of(cyd, "Names the cause"), form.box_of(cyd, "No unit"),
                 form.box_of(first, "Names the cause"), f"group-{first}"]  # fmt: skip
        comment = {f"comment-{first}": "Well said."}
        page, form = save(address, form, ticks, **comment)
        assert "Not saved" not in page
        assert decided(graded) == {
            "ada": ("1", "Names the cause\nWell said."),
            "bob": ("1", "Names the cause\nWell said."),
            "cyd": ("0.5", "Names the cause\nNo unit"),
        }
        assert form.boxes[form.box_of(cyd, "No unit")]
        assert form.fields[f"comment-{first}"] == "Well said."
        # Points typed in place of the sum stay, and sums follow the rubric.
        page, form = save(address, form, **{f"points-{second}": "0"})
        line = form.line_of("Names the cause")
        page, form = save(address, form, **{line: "1.5: Names the cause"})
        by_place = {place: student for student, place in places.items()}
        points = {student: points for student, (points, _) in decided(graded).items()}
        assert points == {"cyd": "1", by_place[first]: "1.5", by_place[second]: "0"}
        # A line that is no item changes nothing.
        page, form = save(address, form, **{"rubric-2.figure": "good"})
        assert "'good' is not an item: write '1.5: a comment'." in page
        assert "Nothing was saved" in page
        assert "<strong>Saved.</strong>" not in page
        page, form = load(address)
        assert form.lines() == ["1.5: Names the cause", "-0.5: No unit"]
        signed = {form.line_of("No unit"): "-0.5 No unit", "rubric-2.figure": "+1 Clear"}
        page, form = save(address, form, **signed)
        assert "<strong>Saved.</strong>" in page
        assert form.lines() == ["1.5: Names the cause", "-0.5: No unit", "1: Clear"]
        # Without its items an answer has no points again.
        form.boxes[form.box_of(cyd, "Names the cause")] = False
        form.boxes[form.box_of(cyd, "No unit")] = False
        save(address, form)
        assert "cyd" not in decided(graded)
    grade(graded)
    for student, value in points.items():
        if student != "cyd":  # whose points are gone
            [page] = (graded / "grades" / "feedback").glob(f"{student}*/*.html")
            shown = "+1.5: " if value == "1.5" else ""  # not beside points typed instead
            assert f">{shown}Names the cause\nWell said." in page.read_text()


NEW = "With large batches the arithmetic decides, and no longer the fixed cost."


def test_points_for_an_answer_that_changes_do_not_count_until_they_are_renewed(graded):
    with marking(graded) as address:
        page, form = load(address)
        sent = {f"points-{place_of(page, TEXTS[s])}": "0.5" for s in ("ada", "cyd")}
        save(address, form, **sent)
        grade(graded)
        assert total_of(graded, "cyd") == "0.5"
        _, older_page = load(address)
        for student in ("ada", "cyd"):
            hand_in(graded, student, NEW)
        said = grade(graded)
        assert "2 decisions of yours are about an older submission" in said
        assert "ada (2.figure), cyd (2.figure)" in said
        assert total_of(graded, "cyd") == ""
        overview = (graded / "grades" / "overview.html").read_text()
        assert overview.count("2.figure has changed since you gave 0.5 points") == 2
        # The running page shows the new texts, and proposes the old points.
        page, form = load(address)
        assert page.count(">changed</span>") == 2
        places = [n for n in range(3) if f"keep-{n}" in form.boxes]
        assert [form.fields[f"points-{n}"] for n in places] == ["0.5", "0.5"]
        page, _ = save(address, form, **{f"comment-{places[0]}": "Hm."})
        assert page.count(">changed</span>") == 2, "to save a comment keeps no points"
        # A page from before the last grading is about the older text.
        page, _ = save(address, older_page, **{sorted(sent)[0]: "2"})
        assert page.count(">changed</span>") == 2
        page, form = load(address)
        # One is kept, and the other one changed.
        first, second = places
        page, form = save(address, form, [f"keep-{first}"], **{f"points-{second}": "1.5"})
        assert ">changed</span>" not in page
    assert "older submission" not in grade(graded)
    totals = sorted(total_of(graded, student) for student in ("ada", "cyd"))
    assert totals in (["0.5", "1.5"], ["1.5", "2"])


def test_a_page_shows_the_comment_that_another_page_has_saved(graded):
    with marking(graded) as address:
        _, form = load(address)
        save(address, form, **{"comment-0": "Which cost?\nSee me."})
        page, form = save(address, form, **{"points-0": "1"})
        assert "saved no points and the comment “Which cost? / See me.”" in page
        assert [comment for _, comment in decided(graded).values()] == [
            "Which cost?\nSee me."
        ]


def test_a_rubric_line_that_answers_have_is_removed_only_after_a_warning(graded):
    with marking(graded) as address:
        _, form = load(address)
        _, form = save(address, form, **{"rubric-2.figure": RUBRIC})
        ticks = [form.box_of(place, "Names the cause") for place in range(3)]
        ticks.append(form.box_of(0, "No unit"))
        _, form = save(address, form, ticks)
        before = decided(graded)
        line = form.line_of("Names the cause")
        page, form = save(address, form, **{line: ""})
        assert "without “Names the cause”, the points of 3 answers change" in page
        assert decided(graded) == before
        assert form.lines() == ["", "-0.5: No unit"]
        page, form = save(address, form)
        assert "Not saved" not in page
        assert sorted(points for points, _ in decided(graded).values()) == ["", "", "0"]


def test_a_reworded_rubric_line_stays_on_the_answers_with_its_points(graded):
    with marking(graded) as address:
        _, form = load(address)
        _, form = save(address, form, **{"rubric-2.figure": RUBRIC})
        _, older_page = load(address)
        ticks = [form.box_of(place, "Names the cause") for place in (0, 1)]
        ticks.append(form.box_of(0, "No unit"))
        _, form = save(address, form, ticks, **{"comment-1": "Well said."})
        edits = {
            form.line_of("Names the cause"): "1.5: Explains the cause",
            "rubric-2.figure": "0.5: Names the cause",
        }
        page, form = save(address, form, **edits)
        assert "<strong>Saved.</strong>" in page
        assert "Not saved" not in page
        assert sorted(decided(graded).values()) == [
            ("1", "Explains the cause\nNo unit"),
            ("1.5", "Explains the cause\nWell said."),
        ]
        assert form.lines() == [
            "1.5: Explains the cause", "-0.5: No unit", "0.5: Names the cause",
        ]  # fmt: skip
        assert form.boxes[form.box_of(1, "Explains the cause")]
        assert not form.boxes[form.box_of(1, "Names the cause")]
        # A page from before that says nothing of these answers, and changes nothing.
        before = decided(graded)
        page, _ = save(address, older_page, **{"comment-2": "Hm."})
        assert "Not saved" not in page
        assert decided(graded).items() - before.items() == {
            (next(s for s in TEXTS if s not in before), ("", "Hm."))
        }
        # Two lines cannot become one.
        line = form.line_of("No unit")
        page, form = save(address, form, **{line: "2: Explains the cause"})
        assert "'Explains the cause' appears twice" in page
    assert "older submission" not in grade(graded)


def test_a_line_that_two_pages_have_edited_is_not_overwritten_without_a_word(graded):
    with marking(graded) as address:
        _, form = load(address)
        _, first = save(address, form, **{"rubric-2.figure": RUBRIC})
        _, second = load(address)
        line = first.line_of("Names the cause")
        save(address, first, **{line: "2: Names the cause"})
        page, second = save(address, second, **{line: "1: Says the cause"})
        assert "another page has made it “2: Names the cause” meanwhile" in page
        page, _ = save(address, second)
        assert "Not saved" not in page
        page, second = save(address, second, **{line: "0.5: Gives the cause"})
        assert "another page has changed or removed “2: Names the cause”" in page
        assert second.lines() == ["1: Says the cause", "-0.5: No unit"]


def test_points_that_were_refused_do_not_count_as_read(graded):
    with marking(graded) as address:
        _, form = load(address)
        sent = {"points-0": "zwei", "points-1": "3", "points-2": "1"}
        page, form = save(address, form, **sent)
        assert page.count("Not saved: give 0 to 2 points") == 2
        assert "1 of 3 read" in page
        assert page.count(">unread</span>") == 2
        assert form.fields["points-0"] == "zwei"
        page, _ = save(address, form, **{"points-0": "2", "points-1": "0"})
        assert "3 of 3 read" in page


def test_the_figure_stands_under_the_answer_at_an_address_of_its_own(graded):
    grades = graded / "grades"
    with marking(graded) as address:
        page, _ = load(address)
        assert SCRIPT not in page
        [image] = re.findall("<img .*?>", page)
        assert f'alt="Size 8 {html.escape(SCRIPT)}; half lie within 2%' in image
        assert 'width="900" height="450" loading="lazy"' in image
        assert page.count("No figure in the notebook.") == 1
        assert "cannot be shown: it has more than 4,000,000 pixels." in page
        name = re.search('src="(.*?)"', image)[1]
        with urllib.request.urlopen(address + name, timeout=60) as picture:
            assert picture.headers["Content-Type"] == "image/png"
            assert picture.read() == (grades / "figures" / name).read_bytes()
        for other in ("0" * 32 + ".png", f"figures/{name}", "../grades.json", name[1:]):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(address + other, timeout=60)
        with pytest.raises(urllib.error.HTTPError):  # without the secret
            urllib.request.urlopen(urllib.parse.urljoin(address, f"/{name}"), timeout=60)
        # A class that was graded before this has no figures, and the page says nothing.
        document = json.loads((grades / "grades.json").read_text())
        for result in document["results"]:
            del result["about"]["figure"]
        (grades / "grades.json").write_text(json.dumps(document))
        page, _ = load(address)
        assert "<img" not in page
        assert "igure in the notebook" not in page
    # A figure that nobody has any more goes.
    hand_in(graded, "cyd", TEXTS["cyd"])
    grade(graded)
    assert not list((grades / "figures").iterdir())
