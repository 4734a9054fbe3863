"""Run cards survive interruptions, and are never half there."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from fnmatch import fnmatch

import numpy as np
import psutil
import pytest

from helpers.errors import RunCardError
from helpers.files import REPOSITORY, TEMPORARY, write_atomically
from helpers.run_card.documents import (
    KEYS,
    cards_of,
    latest_cards,
    open_card,
    read_card,
    this_process,
)

IGNORED = f".*{TEMPORARY}*"


def test_a_card_is_on_disk_after_every_change():
    card = open_card("02_x", {"seed": 1}, {"device": "cpu"})
    card.predict("guess", [1, 2])
    card.measure("images_per_second", 12.5)
    card.check("2.1", False, "it printed nothing")
    stored = read_card(card.path)
    assert stored["predictions"]["guess"]["value"] == [1, 2]
    assert stored["measurements"] == {"images_per_second": 12.5}
    said = {"passed": False, "reason": "it printed nothing"}
    assert said.items() <= stored["checks"]["2.1"].items()
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


def process(**changed):
    """The owner of a card: the parent of this process, with changes."""
    parent = psutil.Process(os.getppid())
    own = {"pid": parent.pid, "started_unix_seconds": parent.create_time()}
    return this_process() | own | changed


@pytest.mark.parametrize(
    ("owner", "continued"),
    [
        (process(), False),
        (process(host="another name"), False),
        (process(started_unix_seconds=12.0), True),
        (process(pid=2**22 + 1), True),
        (process(pid=2**22 + 1, host="another name"), True),
        (process(machine="before the restart"), True),
        (process(machine="another", host="another"), False),
        ({"host": process()["host"], "pid": os.getppid()}, False),
        ({"host": process()["host"], "pid": 2**22 + 1}, True),
        ({"host": "another", "pid": 2**22 + 1}, False),
    ],
    ids=[
        "alive", "alive, host renamed", "its number is another process's now", "dead",
        "dead, host renamed", "the system was restarted", "another machine",
        "older version, alive", "older version, dead", "older version, another machine",
    ],
)  # fmt: skip
def test_a_card_is_continued_only_if_its_process_has_ended(owner, continued):
    card = open_card("02_x", {}, {})
    card.content["owner"] = owner
    card.path.write_text(json.dumps(card.content))
    assert (open_card("02_x", {}, {}).path == card.path) == continued


def test_two_starts_in_one_instant_never_take_the_same_card(tmp_path):
    first = open_card("02_x", {}, {})
    first.content["owner"] = process(pid=2**22 + 1)
    first.path.write_text(json.dumps(first.content))
    script = """
import sys, time
from helpers.run_card.documents import open_card
print("ready", flush=True)
sys.stdin.readline()
for _ in range(5):
    card = open_card("02_x", {}, {})
    card.points("sweep")[8] = 1.0
    print(card.path.name, flush=True)
sys.stdin.readline()  # alive until all have their cards
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([sys.executable, "-c", script], **pipes) for _ in range(6)]
    for process_ in started:
        assert process_.stdout.readline() == "ready\n"
    for process_ in started:
        print(file=process_.stdin, flush=True)
    taken = [{process_.stdout.readline() for _ in range(5)} for process_ in started]
    for process_ in started:
        process_.communicate("\n")
    assert all(len(names) == 1 for names in taken), "its own card, again and again"
    assert len(set.union(*taken)) == len(started)
    assert f"{first.path.name}\n" in set.union(*taken)
    for path in first.path.parent.glob("*.json"):
        assert read_card(path)["measurements"]["sweep"] == {"8": 1.0}


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.array([1, 2]), [1, 2]),
        ({8: np.float64(1)}, {"8": 1.0}),
        ((1, 2.5, True, "x"), [1, 2.5, True, "x"]),
        (np.bool_(True), True),
    ],
)
def test_numbers_of_numpy_are_stored_as_numbers(value, stored):
    card = open_card("02_x", {}, {})
    card.predict("guess", value)
    card.measure("measured", value)
    card.points("points")[1] = value
    content = read_card(card.path)
    assert content["predictions"]["guess"]["value"] == stored
    assert content["measurements"] == {"measured": stored, "points": {"1": stored}}


@pytest.mark.parametrize(
    "value", [float("nan"), np.float32("inf"), {1, 2}, 1j, len, [1, {"x": object()}]]
)
def test_a_value_that_json_cannot_hold_is_refused_by_name_and_spoils_nothing(value):
    card = open_card("02_x", {}, {})
    card.points("sweep")[8] = 1.0
    sweep = card.points("sweep")
    for store in (card.predict, card.outcome, card.measure, sweep.__setitem__):
        with pytest.raises(RunCardError, match="'my_guess'") as error:
            store("my_guess", value)
        assert "\n" not in str(error.value)
    card.check("2.1", True)
    content = read_card(card.path)
    assert content["checks"]["2.1"]["passed"]
    assert "my_guess" not in {*content["predictions"], *content["measurements"]}
    assert content["measurements"]["sweep"] == {"8": 1.0}


def test_what_is_never_reached_is_none_in_a_dict_and_nan_is_refused():
    card = open_card("02_x", {}, {})
    card.measure("laws", {"floor": float("inf"), "bend": np.float64("inf"), "peak": 2.0})
    stored = read_card(card.path)["measurements"]["laws"]
    assert stored == {"floor": None, "bend": None, "peak": 2.0}
    for wrong in (float("nan"), -float("inf")):
        with pytest.raises(RunCardError, match="finite"):
            card.measure("laws", {"floor": wrong})


@pytest.mark.parametrize("key", [*KEYS, None])
@pytest.mark.parametrize("wrong", ["missing", "another type", "cut short"])
def test_a_damaged_card_is_set_aside_with_one_line(key, wrong, capsys):
    card = open_card("02_x", {}, {})
    if wrong == "cut short":
        card.path.write_text(card.path.read_text()[:-20])
    elif key is None:
        card.content["checks"]["2.1"] = "passed"
        card.path.write_text(json.dumps(card.content))
    else:
        content = {k: v for k, v in card.content.items() if k != key}
        if wrong == "another type":
            content[key] = ["what"]
        card.path.write_text(json.dumps(content))
    before = card.path.read_bytes()
    assert latest_cards() == {}
    assert len(capsys.readouterr().out.splitlines()) == 1
    [kept] = card.path.parent.glob("*.unreadable")
    assert kept.read_bytes() == before
    assert latest_cards() == {}
    assert open_card("02_x", {}, {}).path.is_file()
    assert capsys.readouterr().out == ""


def test_the_files_of_a_killed_writer_are_swept_at_the_next_start():
    """At once; but never what another process is writing."""
    script = """
import os, signal
from helpers import files
card = files.runs_folder() / "02_x" / "card.json"
os.replace = lambda *paths: (print("written", flush=True), input())
files.write_atomically(card, "{}")
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout.readline() == b"written\n"
    folder = open_card("02_x", {}, {}).path.parent
    assert len(list(folder.glob(IGNORED))) == 1, "somebody is writing it"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    open_card("02_x", {}, {})
    assert not list(folder.glob(IGNORED))


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
from helpers.run_card.documents import open_card
points = open_card("02_x", {}, {}).points("sweep")
def measure(size):
    if size == 32 and not os.environ.get("SECOND"):
        os.kill(os.getpid(), signal.SIGKILL)
    print(size)
    return size * 2.0
for size in [8, 16, 32, 64]:
    if size not in points:
        points[size] = measure(size)
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


def test_a_full_disk_names_the_folder_and_what_to_do_and_keeps_the_card(monkeypatch):
    card = open_card("02_x", {}, {})
    card.points("sweep")[8] = 1.0
    before = card.path.read_bytes()

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunCardError, match="No space left") as error:
        card.points("sweep")[16] = 2.0
    assert str(card.path.parent) in str(error.value)
    assert "Free some space there" in str(error.value)
    assert card.path.read_bytes() == before


def test_a_killed_writer_leaves_a_whole_file_and_nothing_that_git_sees(tmp_path):
    script = """
import sys
from pathlib import Path
from helpers.files import write_atomically
print("ready", flush=True)
while True:
    for letter in "ab":
        write_atomically(Path(sys.argv[1]), letter * 200_000)
"""
    path = tmp_path / "index.html"
    for killed_after in range(1, 9):
        writer = subprocess.Popen(
            [sys.executable, "-c", script, path], stdout=subprocess.PIPE, cwd=REPOSITORY
        )
        writer.stdout.readline()
        time.sleep(0.01 * killed_after)
        writer.kill()
        writer.communicate()
        if path.exists():
            assert path.read_text() in ("a" * 200_000, "b" * 200_000)
    assert path.exists()
    left = [other for other in tmp_path.iterdir() if other.is_file() and other != path]
    assert all(fnmatch(other.name, IGNORED) for other in left)
    assert IGNORED in (REPOSITORY / ".gitignore").read_text().splitlines()


def test_a_run_folder_that_cannot_be_written_is_one_clear_line(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABS_RUNS_DIR", str(tmp_path / "file"))
    with pytest.raises(RunCardError, match="LABS_RUNS_DIR"):
        open_card("02_x", {}, {})


def test_a_file_that_is_not_a_run_card_is_ignored(tmp_path):
    card = open_card("02_x", {}, {})
    for name, text in (("0.json", "{"), ("9.json", json.dumps([1]))):
        (card.path.parent / name).write_text(text)
    assert read_card(card.path.parent / "9.json") is None
    assert latest_cards()["02_x"]["lab"] == "02_x"
    assert open_card("02_x", {}, {})


def test_a_measurement_that_json_cannot_hold_is_none_on_the_card():
    given = {"learning_rate": float("nan")}, {}
    card = open_card("02_throughput", *given)
    stored = json.loads(card.path.read_text(), parse_constant=pytest.fail)
    assert stored["parameters"] == {"learning_rate": None}
    assert open_card("02_throughput", *given).path == card.path, "it is continued"


def test_a_card_of_an_older_version_was_no_solution_and_of_no_command():
    path = open_card("02_throughput", {}, {}).path
    content = json.loads(path.read_text())
    for name in ("run", "solution"):
        content.pop(name, None)
    path.write_text(json.dumps(content))
    [found] = cards_of("02_throughput")
    assert (found["run"], found["solution"]) == ("", False)
