"""A new lab is one source and one folder: everything else finds it by itself."""

import os
import shutil
import subprocess
import sys

import pytest

from helpers.files import REPOSITORY
from kit.grading.box import sandbox

NAME = "13_example"
UNCHANGED = "graded; unchanged: the notebook as it was handed out"
TESTS = (
    "tests/test_style.py", "tests/helpers/checks/test_checks.py",
    "tests/helpers/coach/test_coach.py", "tests/helpers/test_parameters.py",
    "tests/kit/authoring/test_build.py",
    "tests/kit/authoring/test_notebooks.py", "tests/kit/authoring/test_students_names.py",
    "tests/kit/grading/box/test_allowlist.py",
)  # fmt: skip


def in_copy(copy, *command):
    """Run a Python module in the copy, with the copy's own kit."""
    environment = os.environ | {
        "PYTHONPATH": str(copy),
        "LABS_RUNS_DIR": str(copy / "runs"),
    }
    environment.pop("PYTEST_XDIST_WORKER", None)
    ended = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=copy, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


def files_of(folder):
    """What each file of a folder holds, but for what Python and pytest leave there."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", "runs", "reports"} & set(path.parts)
    }


@pytest.mark.slow
def test_a_new_lab_builds_runs_is_checked_and_graded_with_no_other_file_touched(tmp_path):
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns(
        ".venv", ".git", "__pycache__", "runs", "reports", "build", "work", "*.kept-*"
    )
    shutil.copytree(REPOSITORY, copy, ignore=ignore)
    before = files_of(copy)
    away = (
        in_copy(copy, "kit.cli", "new", NAME)
        .rpartition("remove it again: ")[2]
        .split(";")[0]
    )
    in_copy(copy, "kit.cli", "mutants", "13")
    said = in_copy(copy, "kit.cli", "outputs", "13")
    assert "13_example: its outputs are stored in solutions/" in said
    after = files_of(copy)
    ours = {
        "labs/13_example.py",
        "notebooks/13_example.ipynb",
        "solutions/13_example.ipynb",
    }
    for path in after.keys() - before.keys():
        assert str(path) in ours or str(path).startswith(
            ("helpers/lab_13/", "tests/answers/lab_13/", "docs/run_cards/13_example.json")
        )
    changed = {str(path) for path in before if after[path] != before[path]}
    pages = {"README.md", "docs/teaching/teach.md", "docs/checks.md"}
    generated = pages | {"notebooks/index.ipynb"}
    assert changed == generated, "lists of labs"
    said = in_copy(copy, "pytest", "-q", "-p", "no:cacheprovider", "-k", "13", *TESTS)
    assert "failed" not in said
    # Nor a lesson, which only its author can write.
    in_copy(
        copy,
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/kit/authoring/test_teaching.py",
    )
    said = in_copy(copy, "kit.cli", "run", "13", "-p", "batch_size=16", "-p", "scale=smoke")
    assert "1 of 1" in said
    if sandbox.problem():
        pytest.skip(sandbox.problem())
    for student, folder in (("solved", "solutions"), ("unsolved", "notebooks")):
        (copy / "handed-in" / student).mkdir(parents=True)
        source = copy / folder / f"{NAME}.ipynb"
        shutil.copy(source, copy / "handed-in" / student / source.name)
    in_copy(
        copy,
        "kit.cli",
        "grade",
        "handed-in",
        "--lab",
        "13",
        "--out",
        "grades",
        "--jobs",
        "1",
    )
    grades = (copy / "grades" / "grades.csv").read_text().splitlines()
    assert [line.split(",")[:7] for line in grades] == [
        ["student", "lab", "13.1", "13.figure", "total", "of", "status"],
        ["solved", "13_example", "1", "0", "1", "1", "graded"],
        ["unsolved", "13_example", "0", "0", "0", "1", UNCHANGED],
    ]
    subprocess.run(away, shell=True, cwd=copy, check=True)
    in_copy(copy, "kit.cli", "build")
    for made in ("handed-in", "grades"):
        shutil.rmtree(copy / made)
    left = files_of(copy)
    differ = [str(path) for path, text in left.items() if before.get(path) != text]
    assert differ == ["docs/checks.md"], "the table that `labs mutants` writes"
    assert before.keys() == left.keys()
