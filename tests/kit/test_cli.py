"""The labs command: what it prints, and that a mistake is one line."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.errors import ParameterError
from helpers.files import REPOSITORY
from helpers.records import latest_cards
from kit import index
from kit.cli import app
from kit.labs import all_labs, find_lab
from kit.parameters import declared, parsed

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


def test_a_mistake_is_answered_before_anything_slow_is_imported():
    script = (
        "import sys; from kit.cli import main; sys.argv[1:] = ['run', '02', '-pepochs=0']\n"
        "slow = {'tensorflow', 'keras', 'papermill', 'nbformat'}\n"
        "try: main()\n"
        "finally: print(slow & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, "set()\n")
    assert "epochs must be a whole number" in ended.stderr


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


@pytest.mark.slow
def test_run_passes_parameters_on_and_ends_with_a_table_and_a_report(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "140")
    log = tmp_path / "log"
    given = {"epochs": 1, "sweep_batch_sizes": [4, 8], "log_dir": str(log)}
    options = [f"-p{name}={value}" for name, value in given.items()]
    ended = labs("run", "02", *options)
    assert ended.returncode == 0, ended.stderr
    assert "3 of 3" in ended.stdout
    card = latest_cards()["02_throughput"]
    assert card["solution"], "no student's progress"
    assert {name: card["parameters"][name] for name in given} == given
    assert set(card["measurements"]["sweep_images_per_second"]) >= {"4", "8"}
    assert list(log.rglob("events.*")), "TensorBoard's files"
    report = (tmp_path / "reports" / "index.html").read_text()
    assert 'href="02_throughput.html"' in report
    assert report.count("<img ") >= 2
    page = (tmp_path / "reports" / "02_throughput.html").read_text()
    assert 'src="http' not in page, "a page must need nothing from the network"
    assert page.count("Epoch 1:") == 1
    assert "Epoch 2:" not in page


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_the_command_line_knows_every_parameter_of_a_lab_and_refuses_others(lab):
    usual, _ = declared(lab)
    by_scale = [f"{name}=None" for name, value in usual.items() if value is None]
    given = parsed(["scale=smoke", "seed=2", *by_scale], lab)
    assert (given["scale"], given["seed"]) == ("smoke", 2)
    with pytest.raises(ParameterError, match="has no parameter"):
        parsed(["bacth_size=8"], lab)


def test_a_text_stays_a_text_and_a_list_may_be_a_tuple():
    given = parsed(["log_dir=2026", "sweep_batch_sizes=4,8"], find_lab("02"))
    assert given == {"log_dir": "2026", "sweep_batch_sizes": [4, 8]}


@pytest.mark.parametrize("writable", [True, False])
def test_lab_fills_the_start_page_in_before_it_opens_it(writable, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    folder = tmp_path / ("notebooks" if writable else "file")
    page = folder / "index.ipynb"
    monkeypatch.setattr(index, "INDEX", page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    opened = []
    monkeypatch.setattr(
        "os.execv", lambda _, arguments: opened.append((arguments, page.is_file()))
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
