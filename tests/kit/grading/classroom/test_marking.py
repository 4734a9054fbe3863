"""`labs mark` as a browser has it: a rubric, answers alike in a group, names hidden."""

import contextlib
import csv
import html
import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kit.labs import find_lab
from kit.todo_cells import written

LAB = find_lab("02")
[QUESTION] = written(LAB)
LABS = Path(sys.executable).with_name("labs")
TEXTS = {
    "ada": "The fixed cost of a step decides, until the processor has no more to give.",
    "bob": "the fixed cost of a step decides until the processor has no more to give",
    "cyd": "It grows because batches are large.",
}
RUBRIC = "1: Names the cause\n-0.5: No unit"


@pytest.fixture
def graded(tmp_path):
    """The folder of submissions, and the grades of a class that has answered in words."""
    for student, text in TEXTS.items():
        cell = {
            "cell_type": "markdown", "id": QUESTION.cell_id, "metadata": {},
            "source": f"{QUESTION.start}\n\n{text}",
        }  # fmt: skip
        path = tmp_path / "in" / student / LAB.notebook.name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}))
    grade(tmp_path)
    return tmp_path


def grade(folder):
    command = [LABS, "grade", "in", "--lab", "02", "--no-sandbox"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


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
        other = RUBRIC.replace("1:", "1.5:")
        page, form = save(address, form, **{"rubric-2.figure": other})
        by_place = {place: student for student, place in places.items()}
        points = {student: points for student, (points, _) in decided(graded).items()}
        assert points == {"cyd": "1", by_place[first]: "1.5", by_place[second]: "0"}
        # A line that is no item changes nothing.
        page, form = save(address, form, **{"rubric-2.figure": "good"})
        assert "'good' is not an item: write '1.5: a comment'." in page
        assert "Nothing was saved" in page
        assert "<strong>Saved.</strong>" not in page
        page, form = load(address)
        assert form.fields["rubric-2.figure"] == other
        signed = other.replace("1.5:", "+1.5").replace("-0.5:", "-0.5")
        page, form = save(address, form, **{"rubric-2.figure": signed})
        assert "<strong>Saved.</strong>" in page
        assert form.fields["rubric-2.figure"] == other
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
