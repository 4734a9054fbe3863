"""make's set-up makes an environment, leaves it alone, and repairs it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.files import REPOSITORY
from helpers.machine.computer import nvidia_gpus

LABS = Path(sys.executable).with_name("labs")
# There already: the set-up of the kit itself has installed it.
UV = Path(sys.executable).parent
PROJECT = """
[build-system]
requires = ["setuptools>=80"]
build-backend = "setuptools.build_meta"
[project]
name = "small"
version = "1"
[project.scripts]
labs = "kit.cli:main"
[tool.setuptools]
packages = ["kit"]
"""


@pytest.fixture
def checkout(tmp_path):
    """A project with the kit's own set-up and nothing to install but itself."""
    folder = tmp_path / "a checkout"  # with a space, as many homes have
    (folder / "kit" / "place").mkdir(parents=True)
    (folder / "kit" / "__init__.py").write_text("")
    (folder / "kit" / "cli.py").write_text("def main():\n    print('it starts')\n")
    script = "kit/place/setup.sh"
    (folder / script).write_bytes((REPOSITORY / script).read_bytes())
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "requirements.txt").write_text("")
    return folder


def set_up(folder):
    ended = subprocess.run(
        ["sh", "kit/place/setup.sh"],
        cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHON": sys.executable, "PATH": f"{UV}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    started = subprocess.run([folder / ".venv/bin/labs"], capture_output=True, check=True)
    assert started.stdout == b"it starts\n"
    return ended.stdout


@pytest.mark.slow
@pytest.mark.weekly
def test_an_environment_that_does_not_start_any_more_is_made_again(checkout, tmp_path):
    assert "Setting up .venv" in set_up(checkout)
    assert set_up(checkout) == "", "it works: nothing to do"

    (checkout / "requirements.txt").write_text("# another pin\n")
    said = set_up(checkout)
    assert "Installing" in said
    assert "Setting up .venv" not in said

    moved = checkout.rename(tmp_path / "moved again")
    said = set_up(moved)
    assert "does not start here" in said
    assert str(moved) in (moved / ".venv/bin/labs").read_text()
    for_jupyter = moved / ".venv" / "etc" / "jupyter"
    served = for_jupyter / "jupyter_server_config.d" / "labs.json"
    kits = moved / "kit" / "jupyter"
    assert served.readlink() == kits / "jupyter_server_config.d" / "labs.json"
    assert (for_jupyter / "labconfig").readlink() == kits / "labconfig"

    python = moved / ".venv" / "bin" / "python"  # as after an upgrade of Python
    python.unlink()
    python.symlink_to("/gone/python3")
    assert "does not start here" in set_up(moved)
    assert set_up(moved) == ""


@pytest.fixture
def copied_course(tmp_path):
    """As after `cp -r course course2`, without the packages, which nothing here reads."""
    course = tmp_path / "course2"
    (course / "kit").mkdir(parents=True)
    shutil.copy(REPOSITORY / "kit" / "cli.py", course / "kit")
    (course / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(LABS, course / ".venv" / "bin")
    return course


def started(command, **variables):
    return subprocess.run(
        [command, "data", "--help"], capture_output=True, text=True, check=False,
        cwd=command.parent, env=os.environ | variables,
    )  # fmt: skip


def test_a_copied_folder_does_not_run_the_original(copied_course, tmp_path):
    copy, linked = copied_course / ".venv" / "bin" / "labs", tmp_path / "labs"
    linked.symlink_to(copy)
    moved = copied_course.with_name("course3")
    (moved / "kit").mkdir(parents=True)
    shutil.copy(REPOSITORY / "kit" / "cli.py", moved / "kit")
    (moved / ".venv").symlink_to(sys.prefix)
    for command, course in (
        (copy, copied_course), (linked, copied_course), (moved / ".venv/bin/labs", moved),
    ):  # fmt: skip
        ended = started(command)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr == (
            f"labs: the .venv of {course} is a copy, which would run {REPOSITORY}: run "
            f"`make setup` in {course}.\n"
        )
    assert started(copy, PYTHONPATH=str(REPOSITORY)).returncode == 0, "as it was asked to"


def test_an_environment_outside_of_the_course_runs_it(tmp_path):
    """As conda's or an image's, and a link to the command, or to the whole course."""
    conda, linked = tmp_path / "conda" / "bin" / "labs", tmp_path / "bin" / "labs"
    for command in (conda, linked):
        command.parent.mkdir(parents=True)
    shutil.copy(LABS, conda)
    linked.symlink_to(LABS)
    commands = [conda, linked]
    if LABS.is_relative_to(REPOSITORY):
        (tmp_path / "course").symlink_to(REPOSITORY)
        commands.append(tmp_path / "course" / LABS.relative_to(REPOSITORY))
    for command in commands:
        ended = started(command)
        assert ended.returncode == 0, ended.stderr
        assert "fetch" in ended.stdout


def test_the_docs_say_how_large_the_environment_is():
    page = (REPOSITORY / "docs" / "operators.md").read_text(encoding="utf-8")
    said = float(
        re.search(r"requirements-dev.txt` \| ([\d,]+) \|", page)[1].replace(",", "")
    )
    environment = REPOSITORY / ".venv"
    if not (environment / "ready").is_file() or nvidia_gpus():
        pytest.skip("no environment of make setup-tests, or one with CUDA")
    all_of_it = [path.lstat() for path in environment.rglob("*")]
    files = {(stat.st_dev, stat.st_ino): stat.st_blocks * 512 for stat in all_of_it}
    assert sum(files.values()) / 1e6 == pytest.approx(said, rel=0.1)
