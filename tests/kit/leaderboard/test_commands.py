"""`labs leaderboard`: whole judgings, small ones, as a user starts them."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.speed_record import rule
from kit import cli
from kit.grading.box import sandbox
from kit.leaderboard import calibrator, judge
from kit.leaderboard.box_run import Outcome
from kit.leaderboard.store import Store
from kit.parallel import workers
from tests.kit.leaderboard import submissions

needs_box = pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
in_boxes = pytest.mark.xdist_group("grading")
SMALL = ["--seeds", "2", "--train-images", "300", "--test-images", "200"]
# The command in a process of its own, with a load of three steps.
COMMAND = """
from helpers.speed_record import rule

rule.CALIBRATION_STEPS = 3
rule.MOST_REPEATS = 0
from kit.cli import main

main()
"""


@pytest.fixture
def board(tmp_path, monkeypatch):
    path = tmp_path / "board.sqlite"
    monkeypatch.setenv("LABS_BOARD", str(path))
    monkeypatch.setattr(rule, "CALIBRATION_STEPS", 3)
    monkeypatch.setattr(rule, "MOST_REPEATS", 0)
    return path


def labs(*words):
    return CliRunner().invoke(cli.app, ["leaderboard", *map(str, words)])


def submission(folder, text=submissions.HONEST, name="nearest.py"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


@needs_box
@in_boxes
@pytest.mark.slow
def test_a_trial_from_the_file_to_the_page(board, tmp_path):
    path = submission(tmp_path)
    ended = labs("add", path, *SMALL)
    assert ended.exit_code == 0, ended.output
    assert "nearest.py: entry 1, trial." in ended.output
    with Store(board) as store:
        [entry] = store.entries()
    judged = [run["log"] for run in entry["runs"] if run["kind"] == "judged"]
    assert len(judged) == 2
    for log in judged:
        assert 0.3 < log["accuracy"] <= 1
        assert min(log["seconds"], log["cpu_seconds"], log["before"], log["after"]) > 0
    began = time.monotonic()
    assert labs("add", path, *SMALL).exit_code == 0
    assert time.monotonic() - began < 5, "nothing is run again"
    out = tmp_path / "page"
    assert labs("build", "--out", out).exit_code == 0
    assert "The nearest mean" in (out / "index.html").read_text()
    log = json.loads((out / "001.json").read_text())
    assert log["runs"] == entry["runs"]


@needs_box
@in_boxes
@pytest.mark.weekly
def test_a_judging_that_is_killed_again_and_again_loses_no_seed(board, tmp_path):
    path = submission(tmp_path, submissions.SLOW)
    words = ["leaderboard", "add", path, "--seeds", "6", *SMALL[2:]]
    command = [sys.executable, "-c", COMMAND, *map(str, words)]
    seen = 0
    for _ in range(3):
        running = subprocess.Popen(command, cwd=REPOSITORY, start_new_session=True)
        while len(runs_of(board)) < seen + 1:
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        kept = runs_of(board)
        assert len(kept) >= seen + 1
        seen = len(kept)
    assert subprocess.run(command, cwd=REPOSITORY, check=False).returncode == 0
    ended = runs_of(board)
    assert len(ended) == 8
    assert [run for run in ended if run in kept] == kept


def runs_of(board):
    if not board.exists():
        return []
    with Store(board) as store:
        return [run for entry in store.entries() for run in entry["runs"]]


def test_a_target_has_to_be_named(board, tmp_path):
    path = submission(tmp_path, "x = 1")
    with pytest.raises(LabError, match="has no target: give --target"):
        raise labs("add", path).exception
    with pytest.raises(LabError, match="--target must be one of sprint"):
        raise labs("add", path, "--target", "moon").exception


def test_a_refused_file_says_why_and_fails(board, tmp_path):
    path = submission(tmp_path, "import requests")
    ended = labs("add", path, "--target", "sprint")
    assert ended.exit_code == 1
    assert "refused" in ended.output
    assert "imports requests" in ended.output


def test_an_empty_folder_is_not_a_class(board, tmp_path):
    with pytest.raises(LabError, match="has no Python files"):
        raise labs("add-all", tmp_path).exception


def test_a_board_with_one_entry_needs_no_order(board):
    ended = labs("verify")
    assert ended.exit_code == 0
    assert "No board of this machine has two entries" in ended.output


@pytest.fixture
def quick(monkeypatch):
    """A judging that takes no time."""
    monkeypatch.setattr(judge, "run_in_box", lambda *_: Outcome(0.93, 10.0, 9.5, 0.5, 19.0))
    monkeypatch.setattr(judge, "data_of", lambda *_: None)
    monkeypatch.setattr(calibrator.Calibrator, "seconds", lambda self: 20.0)


def test_a_class_is_judged_one_after_another(board, tmp_path, quick):
    folder = tmp_path / "class"
    for number in range(3):
        own = f"\n\ndef own_{number}():\n    return {number} + 0.5\n"
        submission(folder, submissions.HONEST + own, f"{number}.py")
    ended = labs("add-all", folder)
    assert ended.exit_code == 0, ended.output
    with Store(board) as store:
        states = [entry["state"] for entry in store.entries()]
    assert states == ["record", "entry", "entry"]


def test_a_cluster_judges_by_the_boards_secret_and_sets_no_record(
    board, tmp_path, quick, monkeypatch
):
    seen = []

    def on_a_cluster(function, tasks, address):
        assert address == "tls://somewhere"
        for place, task in enumerate(json.loads(json.dumps(tasks))):
            seen.append(task["secret"])
            yield place, json.loads(json.dumps(function(task)))

    monkeypatch.setattr(workers, "on_a_cluster", on_a_cluster)
    submission(tmp_path / "class")
    ended = labs("add-all", tmp_path / "class", "--scheduler", "tls://somewhere")
    assert ended.exit_code == 0, ended.output
    with Store(board) as store:
        [entry] = store.entries()
        assert seen == [store.secret.hex()]
    assert entry["state"] == "entry"
    assert "compares it with the holder" in entry["reason"]
    assert len(entry["runs"]) == 12


def test_the_load_starts_when_it_is_needed():
    with calibrator.Calibrator() as unused:
        assert "_process" not in vars(unused)


def test_a_cluster_changes_no_verdict_and_add_compares_what_it_judged(
    board, tmp_path, quick, monkeypatch
):
    def on_a_cluster(function, tasks, address):
        for place, task in enumerate(json.loads(json.dumps(tasks))):
            yield place, json.loads(json.dumps(function(task)))

    monkeypatch.setattr(workers, "on_a_cluster", on_a_cluster)
    path = submission(tmp_path / "class")
    elsewhere = ["add-all", path.parent, "--scheduler", "tls://somewhere"]
    here = ["add", path]
    for words, state in ((elsewhere, "entry"), (here, "record"), (elsewhere, "record")):
        assert labs(*words).exit_code == 0
        with Store(board) as store:
            assert store.entry(1)["state"] == state
