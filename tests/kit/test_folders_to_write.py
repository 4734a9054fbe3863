"""A folder that cannot be written, or that fills up, is named; nothing runs in vain."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.files import REPOSITORY

LABS = Path(sys.executable).with_name("labs")
BOX = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/"]
SMALL_DISK = [*BOX, "--size", str(2**23), "--tmpfs"]


def run(*command):
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False
    )


def why_no_mounts():
    """Why no file system can be mounted here; empty where one can."""
    if not shutil.which("bwrap"):
        return "there is no bwrap"
    return run(*SMALL_DISK, "/mnt", "true").stderr


needs_mounts = pytest.mark.skipif(bool(why_no_mounts()), reason=why_no_mounts())


def one_line(ended):
    """The line on the terminal of a command that has refused before anything ran."""
    assert (ended.returncode, ended.stdout) == (1, ""), ended.stderr
    [line] = ended.stderr.splitlines()
    return line


def test_a_sweep_into_a_folder_that_cannot_be_written_runs_nothing(tmp_path):
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "out"
    said = one_line(run(LABS, "sweep", "01", "-p", "seed=0..3", "--out", out))
    assert said == (
        f"labs: results cannot be written to {out} (Not a directory): name another folder "
        "with --out."
    )
    assert not (tmp_path / "runs").exists()


@needs_mounts
@pytest.mark.parametrize("what", ["checks", "profile"])
def test_a_bench_in_a_folder_that_cannot_be_written_measures_nothing(what):
    folder = REPOSITORY / ("helpers/lab_08" if what == "profile" else "docs/bench")
    said = one_line(run(*BOX, "--ro-bind", folder, folder, LABS, "bench", what))
    assert said.startswith(f"labs: results cannot be written to {folder} (Read-only file")


@needs_mounts
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_disk_that_is_full_is_named_before_a_lab_runs(command, tmp_path):
    reports = tmp_path / "reports"
    reports.mkdir()
    fill = 'head -c 9M /dev/zero >"$0" 2>/dev/null; exec "$@"'
    labs = [LABS, command, "01", "-p", "seed=1"]
    said = one_line(run(*SMALL_DISK, reports, "sh", "-c", fill, reports / "full", *labs))
    assert "(No space left on device): free some space there, or " in said
    assert not list((tmp_path / "runs").glob("*/*"))


@needs_mounts
def test_the_doctor_finds_a_full_disk_by_writing_to_it(tmp_path, monkeypatch):
    """The disk of the repository has room: only that of the run cards is full."""
    monkeypatch.setenv("COLUMNS", "600")
    runs = tmp_path / "runs"
    runs.mkdir()
    fill = 'head -c 9M /dev/zero >"$0" 2>/dev/null; exec "$@"'
    ended = run(*SMALL_DISK, runs, "sh", "-c", fill, runs / "full", LABS, "doctor")
    assert ended.returncode == 1
    row = ended.stdout.partition("run cards ")[2]
    found, to_do, *_ = row.splitlines()
    assert found.split()[0] == "missing"
    assert f"{runs}: No space left on device" in found
    assert "Free some space there, or set LABS_RUNS_DIR to" in to_do


@pytest.mark.slow
@needs_mounts
@pytest.mark.weekly
def test_a_disk_that_fills_up_while_a_lab_runs_ends_in_lines(tmp_path):
    """With room for a part of the notebook, which must not be taken for the whole."""
    reports, runs = tmp_path / "reports", tmp_path / "runs"
    reports.mkdir()
    script = f"""
        {LABS} run 01 & until ls {runs}/*/*.json; do kill -0 $! || exit 2; sleep 0.1; done
        head -c 9M /dev/zero >{reports}/full; truncate -s -64K {reports}/full
        wait $!; ended=$?; find {reports} -name "*.ipynb" -size +0; exit $ended
    """
    ended = run(*SMALL_DISK, reports, "bash", "-c", script)
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout.count(f"no space left in {reports}") == 1
    assert ".ipynb" not in ended.stdout
