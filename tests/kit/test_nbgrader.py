"""nbgrader reads the generated notebooks; where it cannot be installed this is skipped."""

import json
import subprocess
import sys

import pytest

from helpers.errors import LabError
from kit import nbgrader
from kit.labs import all_labs

# Reading validates the marks of every cell, by nbgrader's own schema.
READ = """
import json, sys
from nbgrader import utils
from nbgrader.nbgraderformat import read
notebook = read(sys.argv[1], as_version=4)
print(json.dumps({
    "points": {c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points
               for c in notebook.cells if utils.is_grade(c)},
    "solutions": [c.metadata.nbgrader.grade_id for c in notebook.cells
                  if utils.is_solution(c)],
    "locked": [c.metadata.nbgrader.grade_id for c in notebook.cells if utils.is_locked(c)],
}))
"""


@pytest.fixture(scope="module")
def environment():
    try:
        return nbgrader.environment()
    except LabError as error:
        pytest.skip(str(error))


def read(path, environment):
    return subprocess.run(
        [sys.executable, "-c", READ, path],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_nbgrader_reads_a_lab_and_finds_its_exercises(lab, environment):
    ended = read(lab.notebook, environment)
    assert ended.returncode == 0, ended.stderr[-500:]
    found = json.loads(ended.stdout.splitlines()[-1])
    assert len(found["solutions"]) == len(found["points"]) >= 1
    assert set(found["points"]) <= set(found["locked"])
    assert all(points > 0 for points in found["points"].values())


def test_nbgrader_would_refuse_wrong_marks(environment, tmp_path):
    notebook = json.loads(all_labs()[0].notebook.read_text())
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"].pop("grade_id")
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(notebook))
    assert read(path, environment).returncode
