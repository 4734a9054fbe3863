"""The names of files and folders: what students give, and what grading leaves."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest

from helpers.files import REPOSITORY, write_atomically
from kit.generate import generate
from kit.grading.box.temporary import PREFIX, temporary_folder
from kit.grading.submissions import classes_in, file_name, find, shown_name
from kit.labs import all_labs, find_lab


def test_no_two_students_share_a_file():
    names = ["Ada", "ada", "a b", "a_b", "=1", "ÅSA", "x" * 180, "x" * 181, "", "con"]
    files = {file_name(name) for name in names}
    assert len(files) == len(names)
    # A folder that is called what another student's file is called.
    assert not files & {file_name(file) for file in files - set(names)}


def found_in(folder):
    """What grading finds of lab 02 in a folder with one student's: a path, or a problem."""
    [submission], unassigned = find(folder, [find_lab("02")])
    assert unassigned == []
    return submission.path and submission.path.name, submission.problem


def test_a_second_notebook_of_a_lab_is_never_ignored(tmp_path):
    """Neither under a name of its own nor in another folder nor beside the folder."""
    lab, notebook = find_lab("02"), generate(find_lab("02"))[1]
    own, other = tmp_path / "ada" / lab.notebook.name, tmp_path / "ada" / "my best.ipynb"
    write_atomically(own, nbformat.writes(notebook))
    write_atomically(other, nbformat.writes(notebook))
    assert found_in(tmp_path) == (own.name, ""), "equal files count as one"
    notebook.cells[-1].source += "\n\nAn answer."
    for place in (other, own.with_name("old") / own.name, tmp_path / f"ada_{own.name}"):
        other.unlink(missing_ok=True)
        write_atomically(place, nbformat.writes(notebook))
        names = sorted(
            os.path.relpath(path, os.path.commonpath([own, place])) for path in (own, place)
        )
        problem = f"handed in twice ({', '.join(names)}): keep one of them"
        assert found_in(tmp_path) == (None, problem)
        place.unlink()
    backup = own.parent / "backups" / f"{lab.name}-20261120T101112.ipynb"
    write_atomically(backup, nbformat.writes(notebook))
    assert found_in(tmp_path) == (own.name, ""), "what `labs update` keeps is an older one"
    own.unlink()
    assert "there is backups (older copies, not searched" in found_in(tmp_path)[1]


def test_a_folder_of_classes_is_no_class(tmp_path):
    name, classes = find_lab("02").notebook.name, ("canvas", "week2")
    for place in ("week2/ada", "week2/bob/work", "canvas/ada", "canvas/cyd", "other"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / name).write_text("{}")
    assert classes_in(tmp_path) == list(classes)
    assert classes_in(tmp_path / "week2") == []
    command = [Path(sys.executable).with_name("labs"), "grade", tmp_path, "--no-sandbox"]
    done = subprocess.run(
        [*command, "--out", tmp_path / "out"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    meant = " or ".join(str(tmp_path / one) for one in classes)
    assert f"did you mean {meant}?" in " ".join(done.stderr.split())
    # Notebooks side by side are a class as well; one student's two labs are none.
    (tmp_path / "flat").mkdir()
    for student in ("ada", "bob"):
        (tmp_path / "flat" / f"{student}_{name}").write_text("{}")
    other = find_lab("03").notebook.name
    (tmp_path / "week2" / "bob" / "03").mkdir()
    (tmp_path / "week2" / "bob" / "03" / other).write_text("{}")
    assert classes_in(tmp_path) == ["canvas", "flat", "week2"]
    assert classes_in(tmp_path / "week2") == []


def test_labs_that_nobody_handed_in_are_graded_only_if_they_are_asked_for(tmp_path):
    for number, student in (("02", "ada"), ("03", "bob")):
        path = tmp_path / "in" / student / find_lab(number).notebook.name
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    command = [Path(sys.executable).with_name("labs"), "grade", "in", "--no-sandbox"]
    for arguments, rows in (([], 2 * 2), (["--lab", "all"], 2 * len(all_labs()))):
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert f"Graded 0 of {rows}:" in done.stdout
        is_said = "handed in: 02_throughput, 03_time_to_accuracy" in done.stdout
        assert is_said == (not arguments)


def test_the_folders_of_a_killed_run_are_removed_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = (
        "from kit.grading.box.temporary import temporary_folder\nimport time\n"
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
