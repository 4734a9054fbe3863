"""The board survives killed writers, and two writers lose nothing of each other."""

import signal
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.leaderboard.store import Store

SETTINGS = {"target": "sprint", "seeds": 10, "warm": False}
WRITER = """
import itertools, sys
from pathlib import Path
from kit.leaderboard.store import Store

store, name = Store(Path(sys.argv[1])), sys.argv[2]
number = store.begin(name, {"target": "sprint"}, {}, {})
print(number, flush=True)
for place in itertools.count() if len(sys.argv) == 3 else range(int(sys.argv[3])):
    store.log(number, "judged", place, {"place": place, "filler": name * 500})
    print(place, flush=True)
"""


def start(path, name, *count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, *count],
        cwd=REPOSITORY, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_two_writers_lose_nothing(tmp_path):
    path = tmp_path / "board.sqlite"  # both of them make it
    writers = [start(path, name, "40") for name in ("one", "other")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    for writer in writers:
        writer.stdout.close()
    with Store(path) as store:
        entries = store.entries()
    assert sorted(entry["code"] for entry in entries) == ["one", "other"]
    assert [len(entry["runs"]) for entry in entries] == [40, 40]


def test_a_writer_that_is_killed_leaves_all_that_it_had_logged(tmp_path):
    path, promised = tmp_path / "board.sqlite", -1  # it may be killed before the first
    for seconds in (0.02, 0.1, 0.2):
        writer = start(path, "one")
        writer.stdout.readline()
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
        said = writer.stdout.read().split("\n")[:-1]  # the last line may be half a one
        writer.wait()
        writer.stdout.close()
        promised = max([promised, *map(int, said)])
        with sqlite3.connect(path) as file:
            assert file.execute("pragma integrity_check").fetchall() == [("ok",)]
        with Store(path) as store:
            [entry] = store.entries()
            places = [run["place"] for run in entry["runs"]]
            assert places == list(range(len(places)))
            assert len(places) > promised
            secret = store.secret
    with Store(path) as store:
        assert store.secret == secret


def test_a_log_is_written_once(tmp_path):
    with Store(tmp_path / "board.sqlite") as store:
        number = store.begin("code", SETTINGS, {}, {})
        assert store.begin("code", SETTINGS, {}, {}) == number
        assert store.begin("code", SETTINGS | {"warm": True}, {}, {}) != number
        store.log(number, "judged", 0, {"accuracy": 0.1})
        store.log(number, "judged", 0, {"accuracy": 0.9})
        assert store.runs(number)[0]["log"] == {"accuracy": 0.1}


def test_only_its_owner_can_read_the_secret(tmp_path):
    path = tmp_path / "new" / "board.sqlite"
    with Store(path) as store:
        assert len(store.secret) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_no_board_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to look like something" * 40)
    before = path.read_bytes()
    with pytest.raises(LabError, match="is not a leaderboard"):
        Store(path)
    assert path.read_bytes() == before
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("pragma user_version = 99")
    with pytest.raises(LabError, match="version is 99"):
        Store(other)
