"""Bars are for terminals: a log file gets a few lines."""

import re
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

from helpers.files import REPOSITORY
from kit.progress import Progress
from tests.terminal import on_a_terminal

COMMAND = [
    sys.executable,
    "-c",
    "from kit.progress import Progress\n"
    "for _ in Progress(range(3), what='copying', unit='file'): pass\n"
    "with Progress(what='training', unit='step', leave=True) as bar:\n"
    "    bar.total = 2\n    bar.set_description('epoch 1')\n    bar.update(2)",
]


def test_a_log_has_two_lines_and_a_terminal_a_bar():
    ended = subprocess.run(
        COMMAND, capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert re.sub(r"\d+ s$", "N s", ended.stderr, flags=re.M).splitlines() == [
        "copying: 0 of 3 files", "copying: 3 of 3 files, N s",
        "training: started", "epoch 1: 2 of 2 steps, N s",
    ]  # fmt: skip
    drawn = on_a_terminal(COMMAND)
    assert re.search(r"copying: +\d+%\|", drawn)
    assert re.search(r"epoch 1: 100%\|.* 2/2 \[", drawn)
    assert "copying: 0 of 3" not in drawn


def test_what_is_interrupted_says_how_far_it_came_and_nothing_to_do_says_nothing(capsys):
    with Progress(what="grading", total=3, unit="submission") as bar:
        bar.update()
    with Progress(what="grading", total=0, unit="submission"):
        pass
    with Progress(what="training", total=3, unit="step", quiet=True) as bar:
        bar.update()
    assert capsys.readouterr().err.splitlines() == [
        "grading: 0 of 3 submissions", "grading: 1 of 3 submissions, 0 s",
    ]  # fmt: skip


def test_what_takes_minutes_says_how_far_it_is_at_most_once_a_minute(capsys, monkeypatch):
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr("kit.progress.time", SimpleNamespace(monotonic=lambda: next(clock)))
    with Progress(what="sweep", total=20, unit="run") as bar:
        for _ in range(20):
            bar.update()
    first, *between, last = capsys.readouterr().err.splitlines()
    assert (first, last[:18]) == ("sweep: 0 of 20 runs", "sweep: 20 of 20 ru")
    seconds = [
        int(re.fullmatch(r"sweep: \d+ of 20 runs, (\d+) s", line)[1]) for line in between
    ]
    assert 2 <= len(between) <= 6
    assert all(b - a > 60 for a, b in pairwise(seconds))


def test_a_bar_that_stands_still_says_what_it_waits_for(capsys, monkeypatch):
    command = [
        sys.executable, "-c",
        "from kit.progress import Progress\n"
        "with Progress(what='it', total=3, unit='one') as bar: bar.wait_for('ada 2.1')",
    ]  # fmt: skip
    assert "ada 2.1]" in on_a_terminal(command)
    with Progress(what="grading", total=3, unit="one") as bar:
        bar.wait_for("ada 2.1")
        monkeypatch.setattr("kit.progress.WAIT_SECONDS", 0)
        bar.wait_for("")
        bar.wait_for("ada 2.1")
    assert capsys.readouterr().err.splitlines()[1:] == [
        "grading: 0 of 3 ones, waiting for ada 2.1", "grading: 0 of 3 ones, 0 s",
    ]  # fmt: skip
