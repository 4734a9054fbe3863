"""The entries that the kit ships keep its own rule, and train in the box."""

import ast

import pytest

from helpers.data.images import synthetic_images
from helpers.files import REPOSITORY
from helpers.speed_record.source_rules import source_problems, without_docstrings
from helpers.speed_record.splits import Split
from kit.grading.box import sandbox
from kit.leaderboard import box_run
from kit.leaderboard.header import header

FILES = sorted((REPOSITORY / "docs" / "leaderboard" / "entries").glob("*.py"))
each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


def test_there_are_entries():
    assert FILES


@each_file
def test_an_entry_keeps_the_rule_and_says_who_wrote_it(file):
    text = file.read_text(encoding="utf-8")
    assert source_problems(text) == []
    about = header(text)
    assert about.title != "untitled"
    assert about.authors
    assert about.target


@pytest.mark.weekly
@pytest.mark.skipif(sandbox.problem() is not None, reason=str(sandbox.problem()))
@pytest.mark.xdist_group("grading")
@each_file
def test_an_entry_trains_in_the_box(file):
    """On few images: here the accuracy and the shares of the time say nothing."""
    images = synthetic_images()
    data = Split(
        images.x_train[:320], images.y_train[:320], images.x_test[:200], images.y_test[:200]
    )  # fmt: skip
    code = ast.unparse(without_docstrings(file.read_text(encoding="utf-8")))
    found = box_run.run_in_box(code, 1, data)
    assert found.accuracy is not None, found.problem
    assert "went on working" not in (found.problem or "")
