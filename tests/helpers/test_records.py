"""Run cards survive interruptions, and are never half there."""

import json
import os
import signal
import subprocess
import sys

import pytest

from helpers.errors import RecordError
from helpers.files import write_atomically
from helpers.records import latest_cards, open_card, read_card


def test_a_card_is_on_disk_after_every_change():
    card = open_card("02_x", {"seed": 1}, {"device": "cpu"})
    card.predict("guess", [1, 2])
    card.measure("images_per_second", 12.5)
    card.check("2.1", False, "it printed nothing")
    stored = read_card(card.path)
    assert stored["predictions"] == {"guess": [1, 2]}
    assert stored["measurements"] == {"images_per_second": 12.5}
    assert stored["checks"]["2.1"] == {"passed": False, "reason": "it printed nothing"}
    assert stored["parameters"] == {"seed": 1}


def test_an_unfinished_card_is_taken_up_and_a_finished_one_is_not():
    first = open_card("02_x", {"seed": 1}, {})
    first.points("sweep")[8] = 100.0
    assert open_card("02_x", {"seed": 2}, {}).path != first.path
    again = open_card("02_x", {"seed": 2}, {})
    again.points("sweep")[16] = None
    taken_up = open_card("02_x", {"seed": 2}, {})
    assert taken_up.path == again.path
    assert dict(taken_up.points("sweep")) == {16: None}
    taken_up.finish()
    assert open_card("02_x", {"seed": 2}, {}).path != again.path
    assert latest_cards().keys() == {"02_x"}


def test_an_older_card_with_these_parameters_is_found_behind_a_newer_one():
    first = open_card("02_x", {"batch_size": 64}, {})
    open_card("02_x", {"batch_size": 128}, {})
    assert open_card("02_x", {"batch_size": 64}, {}).path == first.path


def test_a_card_that_another_process_writes_is_left_alone():
    card = open_card("02_x", {}, {})
    card.content["owner"] = {"host": card.content["owner"]["host"], "pid": os.getppid()}
    card.path.write_text(json.dumps(card.content))
    assert open_card("02_x", {}, {}).path != card.path


def test_points_can_be_cleared_to_measure_again():
    card = open_card("02_x", {}, {})
    points = card.points("sweep")
    points.update({8: 1.0, 16: 2.0})
    assert read_card(card.path)["measurements"]["sweep"] == {"8": 1.0, "16": 2.0}
    points.clear()
    assert read_card(card.path)["measurements"]["sweep"] == {}


def test_a_sweep_resumes_after_kill(tmp_path):
    script = """
import os, signal
from helpers.records import open_card
from helpers.lab_02.reference import sweep
points = open_card("02_x", {}, {}).points("sweep")
def measure(size):
    if size == 32 and not os.environ.get("SECOND"):
        os.kill(os.getpid(), signal.SIGKILL)
    print(size)
    return size * 2.0
sweep([8, 16, 32, 64], measure, points)
"""

    def run(**more):
        return subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | more,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run().returncode == -signal.SIGKILL
    assert run(SECOND="1").stdout.split() == ["32", "64"]
    [content] = [read_card(path) for path in (tmp_path / "runs").rglob("*.json")]
    assert content["measurements"]["sweep"] == {
        "8": 16.0,
        "16": 32.0,
        "32": 64.0,
        "64": 128.0,
    }


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "card.json"
    write_atomically(path, "old")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_folder_that_cannot_be_written_is_one_clear_line(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABS_RUNS_DIR", str(tmp_path / "file"))
    with pytest.raises(RecordError, match="LABS_RUNS_DIR"):
        open_card("02_x", {}, {})


def test_a_file_that_is_no_run_card_is_passed_over(tmp_path):
    card = open_card("02_x", {}, {})
    for name, text in (("0.json", "{"), ("9.json", json.dumps([1]))):
        (card.path.parent / name).write_text(text)
    assert read_card(card.path.parent / "9.json") is None
    assert latest_cards()["02_x"]["lab"] == "02_x"
    assert open_card("02_x", {}, {})
