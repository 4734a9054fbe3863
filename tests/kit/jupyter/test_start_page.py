"""The start page says what is done, and what to do next."""

import json
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest

from helpers.files import REPOSITORY, write_atomically
from helpers.machine import computer
from helpers.notebook import notebooks, session
from helpers.run_card.documents import open_card
from helpers.texts import read_texts
from kit.jupyter import start_page
from kit.jupyter.start_page import lab_states, way_on
from kit.labs import all_labs, find_lab
from kit.todo_cells import todo_cells

LABS = all_labs()


def state_of(number):
    [state] = [state for state in lab_states() if state.name[:2] == number]
    return state


def cards_of_page():
    return re.findall(r'<li class="panel lab.*?</li>', start_page.page(), re.DOTALL)


def row_of(number):
    link = f'<h3><a href="{find_lab(number).name}.ipynb">'
    [row] = [card for card in cards_of_page() if link in card]
    return row


def do_all(lab):
    card = open_card(lab.name, {}, {})
    for exercise in todo_cells(lab):
        card.check(exercise.number, True)
    for question in range(1, len(read_texts(lab.number)["quiz"]) + 1):
        card.answer(question, 1, False)
    card.finish()


def test_every_lab_has_a_card_with_link_picture_and_time_in_order():
    page = start_page.page()
    places = [page.index(f'<h3><a href="{lab.name}.ipynb">') for lab in LABS]
    assert places == sorted(places)
    for lab in LABS:
        state = state_of(lab.number)
        assert state.title.startswith(f"Lab {lab.number}: ")
        assert 40 <= state.minutes <= 240, "a person's, not the solution's"
        numbers = [exercise.number for exercise in todo_cells(lab)]
        assert list(state.work.exercises) == numbers
        assert "</svg>" in row_of(lab.number), "helpers/lab_NN/picture.svg"
    assert len(cards_of_page()) == len(LABS)


def test_the_labs_stand_under_headings_in_hues_of_their_own():
    page = start_page.page()
    parts = re.findall(r'<h2>(.+?)</h2>\s*<ol class="grid labs (\w+)" start="(\d+)"', page)
    assert parts == [
        ("One device", "blue", "0"),
        ("Several devices", "orange", "5"),
        ("Faster, and on many machines", "green", "8"),
    ]
    assert page.count("</ol>") == len(parts)


def test_progress_is_added_up_over_runs():
    first = open_card("02_throughput", {"seed": 1}, {})
    first.check("2.1", True)
    first.check("2.2", False, "it is not")
    second = open_card("02_throughput", {"seed": 2}, {})
    second.check("2.1", False, "broken again")
    second.check("2.3", True)
    second.answer(2, 1, False)
    assert state_of("02").work.passed == {"2.1", "2.3"}
    of = 3 + len(read_texts("02")["quiz"])
    assert f'<progress max="{of}" value="3" aria-label="3 of {of}">' in row_of("02")
    assert "last begun" in row_of("02")
    assert 'value="0"' in row_of("03")
    assert "last begun" not in row_of("03")


def test_a_card_from_before_the_coach_counts():
    card = open_card("02_throughput", {}, {})
    for name in ("hints", "quiz", "solution"):
        del card.content[name]
    card.check("2.1", True)
    assert state_of("02").work.passed == {"2.1"}


@pytest.mark.parametrize("variable", ["LABS_NOTEBOOK", "JPY_SESSION_NAME"])
def test_a_check_that_a_solution_passes_is_not_the_students(variable, monkeypatch):
    monkeypatch.setenv(variable, str(find_lab("02").solution))
    open_card("02_throughput", {}, {}).check("2.1", True)
    assert state_of("02").work.passed == frozenset()
    monkeypatch.setenv(variable, str(find_lab("02").notebook))
    mine = open_card("02_throughput", {}, {})
    assert not mine.content["checks"], "an interrupted solution is not taken up"
    mine.check("2.2", True)
    assert state_of("02").work.passed == {"2.2"}


def button():
    text, state, _ = way_on(lab_states())
    if state:
        link = rf'<a class="button" data-place="(.*)" href="/lab/{state.name}.ipynb">{text}'
        place = re.search(link, start_page.page("/lab/"))[1]
        for leads, there in {"exercise": "#Exercise-", "quiz": "#Quiz"}.items():
            assert place.startswith(there) == (leads in text)
    return text


def test_the_button_leads_all_the_way_through():
    assert button() == "Begin: Lab 00"
    card = open_card("00_devices", {}, {})
    card.check("0.1", True)
    assert button() == "Continue: Lab 00, exercise 0.2"
    for exercise in ("0.2", "0.3"):
        card.check(exercise, True)
    assert button() == "Continue: Lab 00, the quiz at its end"
    assert "✓ done" not in row_of("00")
    for lab, following in pairwise(LABS):
        do_all(lab)
        assert "✓ done" in row_of(lab.number)
        assert button() == f"Continue: Lab {following.number}"
    do_all(LABS[-1])
    assert "finished every lab" in button()


def test_the_button_comes_back_to_a_lab_that_was_left_out():
    for lab in LABS[1:]:
        do_all(lab)
    assert button() == f"Continue: Lab {LABS[0].number}"


def own_course(folder, monkeypatch):
    for module in (notebooks, start_page):
        monkeypatch.setattr(module, "REPOSITORY", folder)
    monkeypatch.setattr(notebooks, "WORK", folder / "work")


def test_a_renamed_notebook_is_found_and_one_that_is_gone_is_named(tmp_path, monkeypatch):
    for folder in ("notebooks", "solutions"):
        (tmp_path / folder).mkdir()
    lab, gone = find_lab("02"), find_lab("03")
    shutil.copy(lab.notebook, tmp_path / "notebooks" / "my 2nd lab.ipynb")
    shutil.copy(gone.solution, tmp_path / "solutions")
    own_course(tmp_path, monkeypatch)
    card = open_card(lab.name, {}, {})
    card.check("2.1", True)
    found, other = lab_states()
    assert (found.name, found.work.passed) == (lab.name, {"2.1"})
    assert (other.name, other.file) == (gone.name, "")
    page = start_page.page("/lab/")
    place = "#Exercise-2.2:-sweep-the-batch-size"
    link = (
        f'<a class="button" data-place="{place}" href="/lab/my%202nd%20lab.ipynb">Continue'
    )
    assert f'<p class="way-on">{link}: Lab 02, exercise 2.2</a>' in page
    assert "Its notebook is gone" in page
    assert page.count("In use: <code>my 2nd lab.ipynb</code>") == 1
    shutil.copy(lab.notebook, tmp_path / "notebooks" / "my 2nd lab-Copy1.ipynb")
    first, second = (
        f'href="/lab/my%202nd%20lab{end}.ipynb">my 2nd lab{end}.ipynb</a>'
        for end in ("-Copy1", "")
    )
    page = start_page.page("/lab/")
    assert re.search(rf"exercise 2.2: <a .*{first} or <a .*{second}\?", page), "asks which"
    assert f"<h3>How many images a second?: <a {first} or <a {second}?" in page
    shutil.copy(lab.notebook, tmp_path / "notebooks")
    assert lab_states()[0].file == lab.notebook.name, "a copy beside it is not meant"
    (tmp_path / "work").mkdir()
    assert lab_states()[0].file == lab.notebook.name, "an empty folder, as a new volume is"
    shutil.copy(lab.notebook, tmp_path / "work" / "mine.ipynb")
    assert lab_states()[0].file == "mine.ipynb", "the student's own, once there is one"


def test_your_time_is_that_of_all_runs():
    for seed, seconds in ((1, 600), (2, 3300)):
        card = open_card("02_throughput", {"seed": seed}, {})
        card.content["wall_seconds"] = seconds
        write_atomically(card.path, json.dumps(card.content))
    assert "yours so far: 1 h 05 min" in row_of("02")


def test_what_is_left_becomes_less_with_every_exercise():
    def minutes_left():
        return sum(map(start_page._minutes_left, start_page.lab_states()))

    before = minutes_left()
    open_card("02_throughput", {}, {}).check("2.1", True)
    assert before - 60 < minutes_left() < before


def test_a_damaged_notebook_or_card_does_not_spoil_the_page(tmp_path, monkeypatch):
    write_atomically(tmp_path / "runs" / "02_throughput" / "1.json", "{")
    write_atomically(tmp_path / "notebooks" / "02_throughput.ipynb", "{")
    write_atomically(tmp_path / "notebooks" / "02_throughput.kept-1.ipynb", "{}")
    write_atomically(tmp_path / "notebooks" / "03_time_to_accuracy.ipynb", '{"cells": [1]}')
    own_course(tmp_path, monkeypatch)
    page = start_page.page()
    assert len(cards_of_page()) == 2
    assert '<a href="02_throughput.ipynb">02_throughput</a>' in page


def test_the_machine_is_described(monkeypatch):
    monkeypatch.delenv("TPU_NAME", raising=False)
    monkeypatch.setattr(computer, "nvidia_gpus", lambda: [])
    page = start_page.page()
    assert computer.cpu_name() in page
    assert "GiB of memory" in page
    assert "no GPU" in page
    monkeypatch.setattr(computer, "nvidia_gpus", lambda: ["NVIDIA X", "NVIDIA X"])
    page = start_page.page()
    assert "2 × NVIDIA X" in page
    assert "no GPU" not in page


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("echo NVIDIA A; echo NVIDIA B", ["NVIDIA A", "NVIDIA B"]),
        ("echo cannot talk to the driver; exit 9", []),
    ],
)
def test_gpus_are_those_of_a_driver_that_answers(script, found, tmp_path, monkeypatch):
    command = tmp_path / "nvidia-smi"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert computer.nvidia_gpus() == found


def test_the_page_is_made_without_tensorflow():
    code = (
        "import sys, kit.authoring.index; from kit.jupyter import start_page; "
        "start_page.page(); "
        "print(sorted({'tensorflow', 'keras', 'matplotlib'} & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ended.stdout.strip() == "[]"


def predict(lab, guess, measured, **parameters):
    card = open_card(lab, parameters, {})
    card.predict("ratio", guess)
    card.outcome("ratio", measured)
    card.finish()


def test_the_first_run_with_predictions_is_in_the_labs_row():
    assert "Predictions: " not in row_of("02")
    predict("02_throughput", 1.0, 3.0)
    assert "Predictions: 1 of 6 made, off by a factor of 3" in row_of("02")
    # In a second run the student knows what came out.
    predict("02_throughput", 1.0, 2.0)
    assert "off by a factor of 3" in row_of("02")
    predict("02_throughput", None, 5.0)
    assert "off by a factor of 3" in row_of("02")
    assert "Predictions: " not in row_of("03")


def test_a_prediction_of_a_solution_is_not_the_students(monkeypatch):
    monkeypatch.setenv("LABS_NOTEBOOK", str(find_lab("02").solution))
    predict("02_throughput", 1.0, 3.0)
    assert "Predictions: " not in row_of("02")


def test_the_development_is_told_in_order_from_two_labs_on():
    said = "you were typically off by this factor: "
    predict("03_time_to_accuracy", 1.0, 2.0)
    predict("04_custom_training_loop", "up", "down")
    assert said not in start_page.page(), "one lab with a factor is no development"
    predict("00_devices", 10, 25)
    predict("07_tpu_cores", 8.0, 8.0)
    page = start_page.page()
    assert f"{said}2.5 in lab 00, 2 in lab 03 and 1 in lab 07." in page


EDITED = {
    "value": 1,
    "unix_seconds": 1,
    "locked_unix_seconds": 1,
    "later": [],
    "outcome": 1,
}


@pytest.mark.parametrize(
    "stored",
    [1.5, None, True, [1], {"eager": 1.0}, {"value": 1.5}, EDITED | {"factor_off": "<b>"},
     EDITED | {"locked_unix_seconds": "?"}, EDITED | {"right": None, "of": 1}],
)  # fmt: skip
def test_an_older_or_edited_prediction_is_none(stored, monkeypatch, capsys):
    card = open_card("02_throughput", {}, {})
    card.content["predictions"]["old"] = stored
    card.save()
    assert "Predictions: " not in row_of("02")
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    session.finish()
    assert "Predictions" not in capsys.readouterr().out


def test_the_end_of_a_lab_says_how_the_predictions_went(monkeypatch, capsys):
    card = open_card("02_throughput", {}, {})
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    card.predict("not made", None)
    session.finish()
    assert "Predictions" not in capsys.readouterr().out
    for name, guess, measured in (("a", 1, 3), ("b", 8, 4), ("c", True, False)):
        card.predict(name, guess)
        card.outcome(name, measured)
    card.predict("d", {1: "x", 2: "y"})
    card.outcome("d", {1: "x", 2: "y"})
    session.finish()
    line = "Predictions: 4 of 10 made, off by factors of 2 and 3, 2 of 3 choices right"
    assert line in capsys.readouterr().out.splitlines()


NEXT = [(lab.name, following.name) for lab, following in pairwise(LABS)]


def test_in_the_students_own_folder_the_way_on_stays_there(tmp_path, monkeypatch, capsys):
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(session, "WORK", tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    current = SimpleNamespace(card=open_card("02_throughput", {}, {}))
    monkeypatch.setattr(session, "_current", current)
    session.finish()
    assert capsys.readouterr().out.endswith("Next: work/03_time_to_accuracy.ipynb\n")


@pytest.mark.parametrize(("name", "following"), [*NEXT, (LABS[-1].name, "index")])
def test_the_end_of_a_lab_says_what_is_next(name, following, monkeypatch, capsys):
    current = SimpleNamespace(card=open_card(name, {}, {}))
    monkeypatch.setattr(session, "_current", current)
    session.finish()
    assert capsys.readouterr().out.endswith(f"Next: notebooks/{following}.ipynb\n")
