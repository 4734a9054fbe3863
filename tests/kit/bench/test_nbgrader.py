"""nbgrader reads the generated notebooks; where it cannot be installed this is skipped."""

import json
import re
import subprocess
import sys

import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from kit.bench import nbgrader
from kit.labs import all_labs, find_lab
from kit.todo_cells import todo_cells

pytestmark = pytest.mark.weekly  # it installs nbgrader first

# Reading validates the marks of every cell, by nbgrader's own schema.
READ = """
import json, sys
from nbgrader import utils
from nbgrader.nbgraderformat import read
for path in sys.argv[1:]:
    notebook = read(path, as_version=4)
    print(json.dumps({
        "points": {c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points
                   for c in notebook.cells if utils.is_grade(c)},
        "solutions": [c.metadata.nbgrader.grade_id for c in notebook.cells
                      if utils.is_solution(c)],
        "locked": [c.metadata.nbgrader.grade_id for c in notebook.cells
                   if utils.is_locked(c)],
    }))
"""


@pytest.fixture(scope="module")
def environment():
    try:
        return nbgrader.environment()
    except LabError as error:
        pytest.skip(str(error))


def test_the_command_of_the_docs_keeps_what_students_begin_with(environment, tmp_path):
    path = REPOSITORY / "docs" / "teaching" / "grade-elsewhere.md"
    page = path.read_text(encoding="utf-8")
    command = re.search(r"`nbgrader (generate_assignment [^`]*)`", page)[1]
    lab = find_lab("02")
    source = tmp_path / "source" / lab.name / lab.notebook.name
    source.parent.mkdir(parents=True)
    source.write_bytes(lab.notebook.read_bytes())
    nbgrader.run(command.split(), tmp_path)
    released = json.loads((tmp_path / "release" / lab.name / lab.notebook.name).read_text())
    cells = {"".join(cell["source"]).strip() for cell in released["cells"]}
    assert {exercise.start.strip() for exercise in todo_cells(lab)} <= cells


def read(environment, *paths):
    return subprocess.run(
        [sys.executable, "-c", READ, *paths],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_nbgrader_reads_every_lab_and_finds_its_exercises(environment):
    ended = read(environment, *(lab.notebook for lab in all_labs()))
    assert ended.returncode == 0, ended.stderr[-500:]
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    for lab, found in zip(all_labs(), map(json.loads, lines), strict=True):
        numbers = {f"check-{e.number.replace('.', '-')}" for e in todo_cells(lab)}
        in_words = f"{int(lab.number)}-figure"  # read by a person: not locked
        assert set(found["points"]) == numbers | {in_words}
        assert len(found["solutions"]) == len(found["points"])
        assert numbers <= set(found["locked"])
        assert all(points > 0 for points in found["points"].values())


def test_nbgrader_would_refuse_wrong_marks(environment, tmp_path):
    notebook = json.loads(all_labs()[0].notebook.read_text())
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"].pop("grade_id")
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(notebook))
    assert read(environment, path).returncode
