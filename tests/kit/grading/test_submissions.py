"""The names of files and folders: what students give, and what grading leaves."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from helpers.files import REPOSITORY, write_atomically
from kit.grading.submissions import file_name, shown_name
from kit.grading.temporary import PREFIX, temporary_folder


def test_no_two_students_share_a_file():
    names = ["Ada", "ada", "a b", "a_b", "=1", "ÅSA", "x" * 180, "x" * 181, "", "con"]
    files = {file_name(name) for name in names}
    assert len(files) == len(names)
    # A folder that is called what another student's file is called.
    assert not files & {file_name(file) for file in files - set(names)}


def test_what_a_killed_run_left_is_removed_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = (
        "from kit.grading.temporary import temporary_folder\nimport time\n"
        "with temporary_folder() as folder: print(folder, flush=True); time.sleep(600)"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=REPOSITORY, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    left = Path(running.stdout.readline().strip())
    others = tmp_path / f"{PREFIX}of-somebody"
    others.mkdir()
    with temporary_folder():
        assert left.exists(), "its process is alive"
    running.kill()
    running.communicate()
    assert left.exists()
    with temporary_folder() as mine:
        assert not left.exists()
        assert Path(mine).is_dir()
    assert list(tmp_path.iterdir()) == [others]


def test_a_file_may_have_the_longest_name_that_there_is(tmp_path):
    path = tmp_path / ("学" * 85)
    write_atomically(path, "x")
    write_atomically(path, "half a pair: \ud800")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "half a pair: ?"


def test_names_that_cannot_be_shown_as_they_are_stay_apart():
    names = [
        b"a\xff",
        b"a\xfe",
        rb"a\xff",
        b"a\n",
        b"a ",
        b"a",
        "a\u202e".encode(),
        b"a\\u202e",
    ]
    shown = [shown_name(os.fsdecode(name)) for name in names]
    assert len(set(shown)) == len(names)
    assert all(name.encode().decode().isprintable() for name in shown)
    assert shown_name("Zoë ＝ 学生") == "Zoë ＝ 学生"


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def no_space(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left") as error:
        write_atomically(tmp_path / "grades.csv", "x")
    assert error.value.filename == str(tmp_path / "grades.csv")
    assert list(tmp_path.iterdir()) == []
