"""Figures that were measured beside other programs say so; all others stay as they are."""

import os
import subprocess
import sys
import time

import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from helpers.machine import other_load
from helpers.machine.other_load import Reading, Watch, others_percent
from helpers.run_card.documents import cards_of, open_card
from kit.headless.report import write_report
from kit.labs import find_lab

SPIN = [sys.executable, "-c", "while True: pass"]


@pytest.fixture
def other_programs():
    """As many as there are processors, which do nothing but compute."""
    started = [subprocess.Popen(SPIN) for _ in range(len(os.sched_getaffinity(0)))]
    yield
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("busy", "idle", "own", "percent"),
    [
        (2.0, 2.0, 2.0, 0),
        (2.0, 2.0, 0.2, 45),
        (4.0, 0.0, 0.0, 100),
        (2.0, 2.0, 2.1, 0),  # clocks that differ a little
        (0.0, 0.0, 1.0, 0),  # a system that counts nothing
    ],
)
def test_only_the_time_of_other_programs_counts(busy, idle, own, percent):
    before = Reading(10.0, 20.0, 5.0, 0.0)
    now = Reading(10.0 + busy, 20.0 + idle, 5.0 + own, 1.0)
    assert others_percent(before, now) == percent


def test_what_this_process_starts_is_its_own_also_when_it_has_ended():
    before = other_load.reading()
    for _ in range(2):
        process = subprocess.Popen(["timeout", "0.6", *SPIN])
        if not _:
            process.wait()
    time.sleep(0.5)
    during = other_load.reading()
    process.wait()
    now = other_load.reading()
    # On a busy machine they get a core for a part of their time.
    assert before.own + 0.05 < during.own <= now.own + 0.02


def test_a_reading_costs_nothing_that_anybody_notices():
    began = time.thread_time()
    for _ in range(10):
        other_load.reading()
    assert (time.thread_time() - began) / 10 < 0.05


@pytest.fixture
def at_times(monkeypatch):
    """A watch, and a function that lets a cell of so many seconds run beside others."""
    noted, now = [], [Reading(0.0, 0.0, 0.0, 0.0)]
    monkeypatch.setattr(other_load, "reading", lambda: now[0])
    watch = Watch(lambda *one: noted.append(one))

    class Result:
        success = True

    def cell(seconds, percent, figure=None):
        watch.cell_begins()
        busy, idle, own, clock = now[0]
        part = seconds * percent / 100
        now[0] = Reading(busy + part, idle + seconds - part, own, clock + seconds)
        said = watch.figure(figure) if figure else ""
        watch.cell_ends(Result())
        return said

    return watch, cell, noted


def test_a_figure_is_spoiled_by_the_cells_that_it_shows(at_times, capsys):
    watch, cell, noted = at_times
    cell(5, 45)
    assert capsys.readouterr().out == (
        "Busy machine: other programs used 45% of the CPUs while this cell ran.\n"
    )
    cell(5, 3)
    said = "Busy machine: other programs used 45% of the CPUs while this was measured."
    assert cell(0.1, 0, "The first.") == said
    assert cell(0.1, 90, "The same again.") == said
    cell(5, 3)
    assert cell(0.1, 0, "Measured when it was quiet.") == ""
    assert watch.percent() == 0
    assert cell(5, 30, "Measured in its own cell.").startswith("Busy machine: ")
    assert [(percent, figure) for percent, _, figure in noted] == [
        (45, None), (45, "The first."), (45, "The same again."),
        (30, "Measured in its own cell."), (30, None),
    ]  # fmt: skip


def test_on_a_quiet_machine_nothing_is_said(at_times, capsys):
    _, cell, noted = at_times
    for seconds in (0.1, 5, 500):
        assert cell(seconds, 10, "A figure.") == ""
    assert capsys.readouterr().out == ""
    assert noted == []


SETUP = """\
from helpers.figures import show_figure, use_figures
from helpers.machine import other_load
from helpers.run_card.documents import open_card
import matplotlib.pyplot as plt, time
use_figures()
card = open_card("02_throughput", {"scale": "smoke"}, {
    "device": {"name": "no device"}, "versions": {}})
other_load.watch(card.note_other_load)"""
CELLS = [
    SETUP,
    """\
card.predict("law_holds_at_48", True)
card.lock("law_holds_at_48")
time.sleep(2.5)
card.measure("images_per_second", 812.5)""",
    'card.outcome("law_holds_at_48", True)',
    """\
figure, axes = plt.subplots()
axes.set(xlabel="epoch", ylabel="mean loss")
show_figure(figure, "Losses.", "no device")
figure, axes = plt.subplots()
axes.set(xlabel="batch size [images]", ylabel="time of a step [s]")
show_figure(figure, "Bars.", "no device")""",
    "card.finish()",
]


def said_by(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.mark.weekly
def test_a_lab_beside_other_programs_says_what_they_may_have_spoiled(
    tmp_path, other_programs
):
    path = str(tmp_path / "busy.ipynb")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = new_notebook(cells=[new_code_cell(c) for c in CELLS], metadata=kernel)
    nbformat.write(notebook, path)
    papermill.execute_notebook(path, path, progress_bar=False)
    _, measured, scored, drawn, _ = nbformat.read(path, as_version=4).cells
    assert said_by(measured).startswith("Busy machine: other programs used ")
    assert "right. Busy machine: other programs used " in said_by(scored)
    pages = [output.data["text/html"] for output in drawn.outputs if "data" in output]
    assert sum('alt="Losses."' in page for page in pages) == 1, "no time, nothing to spoil"
    assert sum('alt="Bars. Busy machine: ' in page for page in pages) == 1
    assert said_by(drawn) == "Losses.\nBars.\n"
    [card] = cards_of("02_throughput")
    noted = card["other_load"]
    assert noted["percent"] >= other_load.BUSY_PERCENT
    assert noted["load_average"] >= 0
    assert noted["figures"] == ["Bars."]
    result = {
        "lab": find_lab("02"),
        "given": {},
        "card": card,
        "seconds": 1.0,
        "error": None,
    }
    page = write_report([result], tmp_path, "run").read_text()
    assert "of the CPUs during this run." in page
    assert "1 figure says so in its caption." in page
    assert "(busy machine)" in page


def test_a_card_is_as_before_on_a_quiet_machine(monkeypatch):
    lines = []
    card = open_card("02_x", {}, {}, lines.append)
    card.predict("rate", 2.0)
    card.outcome("rate", 1.0)
    assert "other_load" not in card.content
    assert "other_load_percent" not in card.content["predictions"]["rate"]
    assert lines == ["Your prediction 2, measured 1: off by a factor of 2."]
    assert other_load.report(card.content) == ""
