"""The labs command: what it prints, and that a mistake is one line."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.files import REPOSITORY
from helpers.records import latest_cards
from kit import build as builder
from kit.cli import app

LABS = Path(sys.executable).with_name("labs")


def labs(*arguments, **options):
    return subprocess.run(
        [LABS, *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "02", "-p", "batch_size=0"], "batch_size must be a whole number"),
        (["run", "02", "-p", "scale=huge"], "auto, gpu, laptop, smoke"),
        (["run", "02", "-p", "width"], "NAME=VALUE"),
        (["run", "02", "03", "-p", "train_images=100"], "512 is larger"),
        (["run", "77"], "there is no lab '77'"),
        (["run", "02", "03", "-p", "patience_seconds=5"], "03_time_to_accuracy has no"),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(arguments, says):
    ended = labs(*arguments)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert says in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_doctor_names_what_it_looks_at_and_what_to_do():
    ended = labs("doctor")
    for what in ("Python", "packages", "device", "Fashion-MNIST", "disk"):
        assert what in ended.stdout
    assert ended.returncode == 0


def test_doctor_fails_where_run_cards_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LABS_RUNS_DIR", str(tmp_path / "file"))
    ended = labs("doctor")
    assert ended.returncode == 1
    assert "missing" in ended.stdout


def test_run_ends_with_a_table_and_a_report(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "140")
    ended = labs("run", "03", "-p", "batch_sizes=[64]", "-p", "epochs=1", "-p", "repeats=2")
    assert ended.returncode == 0, ended.stderr
    assert "3 of 3" in ended.stdout
    assert latest_cards()["03_time_to_accuracy"]["solution"], "no student's progress"
    report = (tmp_path / "reports" / "index.html").read_text()
    assert 'href="03_time_to_accuracy.html"' in report
    assert report.count("<img ") >= 2
    page = (tmp_path / "reports" / "03_time_to_accuracy.html").read_text()
    assert 'src="http' not in page, "a page must need nothing from the network"


@pytest.mark.parametrize("writable", [True, False])
def test_lab_fills_the_start_page_in_before_it_opens_it(writable, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    folder = tmp_path / ("notebooks" if writable else "file")
    index = folder / "index.ipynb"
    monkeypatch.setattr(builder, "INDEX", index)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    opened = []
    monkeypatch.setattr(
        "os.execv", lambda _, arguments: opened.append((arguments, index.is_file()))
    )
    ended = CliRunner().invoke(app, ["lab", "--port=1234"])
    [(arguments, filled)] = opened
    assert arguments[-1] == "--port=1234"
    assert "--LabApp.default_url=/lab/tree/notebooks/index.ipynb" in arguments
    assert filled == writable
    assert ("stays as it was" in ended.stderr) != writable


def test_setup_says_which_python_it_needs(tmp_path):
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1\nexit 1\n')
    old.chmod(0o755)
    ended = subprocess.run(
        ["/bin/sh", REPOSITORY / "kit" / "setup.sh"],
        env={"PATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13; found: Python 3.9.1" in ended.stderr
