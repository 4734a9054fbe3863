"""What a whole notebook can save in its box."""

import nbformat
import pytest

from helpers.files import REPOSITORY
from kit.grading.box import sandbox
from kit.grading.box.allowlist import visible_files
from kit.grading.box.whole_notebook import DISK_MIB, run_notebook
from kit.labs import find_lab


@pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
def test_it_can_save_what_lab_09_saves_twice_and_cannot_fill_the_machine():
    cells = [
        *[f"open('{name}', 'wb').write(bytes({64 * 2**20}))" for name in "ab"],
        f"open('c', 'wb').write(bytes({DISK_MIB * 2**20}))",
    ]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    show = [REPOSITORY / path for path in visible_files(find_lab("09"))]
    text = nbformat.writes(notebook)
    outcome, executed = run_notebook(text, sandbox.Limits(), True, (), show)
    assert outcome == "executed, 1 cell with errors"
    *saved, full = nbformat.reads(executed, as_version=4).cells
    assert all(cell.outputs[0].output_type == "execute_result" for cell in saved)
    assert full.outputs[0].ename == "OSError"
