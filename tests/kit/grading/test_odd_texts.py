"""Texts, names and files that nobody expects cost the class nothing, from file to mark."""

import contextlib
import csv
import html
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers.files import REPOSITORY
from kit.grading import grade as grader
from kit.grading import submissions
from kit.grading.box import sandbox
from kit.grading.classroom.class_files import read_overrides
from kit.grading.classroom.feedback import all_points
from kit.grading.classroom.marking import server as marking_server
from kit.grading.submissions import find
from kit.labs import find_lab
from kit.todo_cells import written
from tests.submissions import corpus

LAB = find_lab("02")
needs_box = pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
NO_UTF_8 = os.fsdecode(b"b\xffb")
# Folders as they are on disk, and as the tables show them.
STUDENTS = {
    "ada": "ada", "ada ": "ada ", "=x": "=x", "'=x": "'=x", "a;=x": "a;=x",
    NO_UTF_8: r"b\xffb", "two\nlines": r"two\nlines", "ＺＯ;＝1": "ＺＯ;＝1",
}  # fmt: skip


def labs(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "kit.cli", *map(str, arguments)],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip


def hand_in(folder, student, cells):
    path = folder / student / f"{LAB.name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))


def answer_in_words(text):
    [question] = written(LAB)
    return {
        "cell_type": "markdown", "id": question.cell_id, "metadata": {},
        "source": f"{question.start}\n\n{text}",
    }  # fmt: skip


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@contextlib.contextmanager
def marking(grades):
    """`labs mark`, and the address that it prints."""
    with subprocess.Popen(
        [sys.executable, "-m", "kit.cli", "mark", "--names", "--out", str(grades)],
        cwd=REPOSITORY, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.terminate()


def load(address):
    """The page: its text, and each answer's place by student."""
    page = urllib.request.urlopen(address, timeout=60).read().decode()
    headings = re.findall(
        r"<h3[^>]*>(.*?)(?: <span[^>]*>unread</span>)?</h3>", page, re.DOTALL
    )
    return page, {html.unescape(name): place for place, name in enumerate(headings)}


def form_of(page):
    """What a browser sends if nobody has changed anything."""
    fields = dict(re.findall(r'<input[^>]* name="([^"]+)"[^>]* value="([^"]*)"', page))
    areas = re.findall(r'<textarea name="([^"]+)"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    return {name: html.unescape(value) for name, value in (fields | dict(areas)).items()}


def save(address, form):
    content = urllib.parse.urlencode(form).encode()
    return urllib.request.urlopen(address, content, timeout=60).read().decode()


@pytest.fixture(scope="module")
def class_in_words(tmp_path_factory):
    """A class that has answered in words only, and its grades."""
    base = tmp_path_factory.mktemp("words")
    for student in STUDENTS:
        hand_in(base / "in", student, [answer_in_words(f"A law of {len(student)}.")])
    ended = labs("grade", base / "in", "--lab", "02", "--out", base / "out", "--no-sandbox")
    assert ended.returncode == 0, ended.stderr
    return base / "in", base / "out"


@pytest.fixture
def in_words(class_in_words, tmp_path):
    """The class, and a copy of its grades to mark."""
    folder, out = class_in_words
    shutil.copytree(out, tmp_path / "out")
    return folder, tmp_path / "out"


@needs_box
def test_no_text_of_one_student_ends_grading_for_the_class(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    honest = json.loads(corpus.notebook(order=("2.3",)))["cells"]
    key = "found = honest(points)\npoints['\\ud800'] = 1.0\nreturn found"
    forged = rb'{"observation": {"\ud800": ["\ud800\u0000", {"x\udfff": 1}]}}'
    odd = {
        "text": [*honest, answer_in_words("It saturates \ud800\0.")],
        "key": [corpus.code(corpus.fit(key), id="2-3")],
        "reply": json.loads(corpus.forged(forged, "").content)["cells"],
    }
    for student, cells in odd.items():
        hand_in(folder, student, cells)
    for student in ("honest", "blocked", NO_UTF_8):
        hand_in(folder, student, honest)
    (out / "feedback").mkdir(parents=True)
    (out / "feedback" / "blocked").write_text("a file where a folder has to be")
    command = ("grade", folder, "--lab", "02", "--out", out, "--jobs", "1")
    ended = labs(*command)
    assert ended.returncode == 0, ended.stderr
    assert "feedback/blocked/02_throughput.html could not be written" in ended.stdout
    assert len(list((out / "feedback").glob("*/*.html"))) == 5
    points = {student: row["2.3"] for student, row in rows(out / "grades.csv").items()}
    assert points == {
        "honest": "2",
        "blocked": "2",
        r"b\xffb": "2",
        "text": "2",
        "key": "0",
        "reply": "0",
    }
    assert "could not be written" in (out / "overview.html").read_text()

    # Results and grades as they were stored before their texts were cleaned.
    stored = out / "results" / "honest" / f"{LAB.name}.json"
    stored.write_text(stored.read_text().replace('"reason": ""', r'"reason": "\ud800"', 1))
    (out / "feedback" / "blocked").unlink()
    ended = labs(*command)
    assert ended.returncode == 0, ended.stderr
    assert "6 of 6 were graded before" in ended.stdout
    assert len(list((out / "feedback").glob("*/*.html"))) == 6
    grades = out / "grades.json"
    grades.write_text(grades.read_text().replace(r"saturates \ufffd", r"saturates \ud800"))
    with marking(out) as address:
        assert "It saturates \ufffd\ufffd." in load(address)[0]


def test_each_name_gets_its_own_mark_and_keeps_it(in_words):
    folder, out = in_words
    points = {shown: f"{n / 4:g}" for n, shown in enumerate(STUDENTS.values(), start=1)}
    with marking(out) as address:
        page, places = load(address)
        assert places.keys() == points.keys()
        form = form_of(page)
        for student, place in places.items():
            form |= {
                f"points-{place}": points[student],
                f"comment-{place}": "=so;=so\n- so",
            }
        save(address, form)
    ended = labs("grade", folder, "--lab", "02", "--out", out, "--no-sandbox")
    assert ended.returncode == 0, ended.stderr
    assert "there is no student" not in ended.stdout
    graded = json.loads((out / "grades.json").read_text())["results"]
    given = {result["student"]: result["texts"][0] for result in graded}
    assert {name: f"{text['points']:g}" for name, text in given.items()} == points
    assert {text["comment"] for text in given.values()} == {"=so;=so\n- so"}
    # Whatever a spreadsheet takes for the separator, no cell of its is a formula.
    for table in ("grades.csv", "overrides.csv"):
        cells = re.split("[,;\t\n]", (out / table).read_text())
        formulas = [cell for cell in cells if re.match(r'[\s"]*[=+@＝]', cell)]
        assert not formulas


def test_a_browser_that_opens_connections_and_says_nothing_keeps_nobody_waiting(in_words):
    _, out = in_words
    with marking(out) as address, contextlib.ExitStack() as stack:
        port = urllib.parse.urlsplit(address).port
        for _ in range(3):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        assert "ada" in load(address)[1]


def test_a_connection_that_says_nothing_is_closed(in_words, monkeypatch):
    _, out = in_words
    monkeypatch.setattr(marking_server, "SILENT_SECONDS", 0.1)
    server, _ = marking_server.serve(out, lambda: ())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with server, socket.create_connection(server.server_address) as connection:
        connection.settimeout(60)
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert connection.recv(1) == b""
        server.shutdown()


def test_marks_that_several_pages_save_at_once_are_all_kept(in_words):
    _, out = in_words
    with marking(out) as address:
        page, places = load(address)
        forms = {
            student: form_of(page) | {f"points-{place}": "1"}
            for student, place in places.items()
        }
        with ThreadPoolExecutor(len(forms)) as pages:
            list(pages.map(lambda form: save(address, form), forms.values()))
        kept = {one.student: one.points for one in read_overrides(out, all_points())}
        assert kept == dict.fromkeys(places, 1)

        # Of two pages about one answer the second is told, and may decide.
        new, _ = load(address)
        first, second = ({f"points-{places['ada']}": text} for text in ("2", "0"))
        save(address, form_of(new) | first)
        told = save(address, form_of(new) | second)
        assert "another page has saved 2 points and no comment meanwhile" in told
        assert {one.points for one in read_overrides(out, all_points())} == {1, 2}
        assert "Not saved" not in save(address, form_of(told))
        kept = {one.student: one.points for one in read_overrides(out, all_points())}
        assert kept == dict.fromkeys(places, 1) | {"ada": 0}

        # A table that somebody has broken by hand is named, and nothing is lost.
        table = out / "overrides.csv"
        good = table.read_text()
        table.write_text(good.replace("2.figure", "2. Jan"))
        with pytest.raises(urllib.error.HTTPError) as refused:
            save(address, form_of(told))
        assert "Nothing was saved" in refused.value.read().decode()
        table.write_text(good)
        assert 'value="0"' in load(address)[0]


def test_a_notebook_is_parsed_once(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_bytes(corpus.notebook())
    parsed = []

    def count(frame, event, _):
        if event == "call" and frame.f_code is json.loads.__code__:
            parsed.append(frame)

    grader.contents_of(path, LAB, full=True)  # generates the lab
    sys.setprofile(count)
    try:
        grader.contents_of(path, LAB, full=True)
    finally:
        sys.setprofile(None)
    assert len(parsed) == 1


def test_looking_for_a_lab_in_many_large_files_costs_one_student_only(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(submissions, "CPU_SECONDS", 1)  # here parsing all takes some 40
    outputs = b"[" + b"[]," * (18 * 10**6 // 3) + b"[]]"
    [cell] = json.loads(corpus.notebook(order=("2.3",)))["cells"]
    large = json.dumps({"nbformat": 4, "cells": [cell | {"outputs": "here"}]}).encode()
    first = tmp_path / "in" / "mallory" / "0.ipynb"
    first.parent.mkdir(parents=True)
    first.write_bytes(large.replace(b'"here"', outputs))
    for number in range(1, 20):
        os.link(first, first.with_name(f"{number}.ipynb"))
    hand_in(tmp_path / "in", "ada", [cell])
    (tmp_path / "in" / "ada" / f"{LAB.name}.ipynb").rename(
        tmp_path / "in" / "ada" / "my.ipynb"
    )
    ada, mallory = find(tmp_path / "in", [LAB])[0]
    assert ada.path.name == "my.ipynb"
    assert mallory.path is None
    assert "there is 0.ipynb" in mallory.problem


def test_a_file_that_takes_too_long_to_read_says_what_to_do():
    contents = grader._contents(Path("large.ipynb"), None)
    assert "more than 5 seconds of processor time: clear its outputs" in contents["problem"]
