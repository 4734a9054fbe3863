"""A function of a notebook becomes a file that runs by itself."""

import math
import runpy

import numpy as np
import pytest

from helpers.errors import LabError
from helpers.lab_12 import submission

HALF = 0.5
TABLE = {"a": 1}


def halved(images):
    return images * HALF


halved.__module__ = "__main__"  # as in a notebook


def train(x, y, seed):
    """Uses a module, a constant, another function, and a comprehension."""
    label = math.floor(np.median([int(one) for one in y]) + 0 * halved(x).sum())
    return lambda images: np.full(len(images), label)


def of_the_notebook(x, y, seed):
    return TABLE


def undefined(x, y, seed):
    return absent(x)  # noqa: F821


def with_a_literal(x, y, seed):
    return "0123456789" * 9 + "01234567890123456789012345678901234567890123456789" * 5


def test_the_file_runs_by_itself(tmp_path):
    text = submission.source(train, "A first try.", predicted_gain=1.25)
    path = tmp_path / "record.py"
    path.write_text(text)
    names = runpy.run_path(str(path))
    x, y = np.ones((3, 28, 28, 1), "uint8"), np.array([4, 4, 9], "uint8")
    assert names["train"](x, y, 0)(x).tolist() == [4, 4, 4]
    assert names["__doc__"].splitlines()[0] == "A first try."
    assert "predicted gain: 1.25" in names["__doc__"]


def test_it_is_written_beside_the_run_cards_where_nobody_has_a_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(submission, "WORK", tmp_path / "work")
    monkeypatch.setattr(submission, "runs_folder", lambda: tmp_path)
    assert submission.write(train, "My 2nd Try!").name == "record_my_2nd_try.py"
    (tmp_path / "work").mkdir()
    assert submission.write(train, "...") == tmp_path / "work" / "record_untitled.py"


@pytest.mark.parametrize(
    ("function", "problem"),
    [(of_the_notebook, "TABLE, a dict"), (undefined, "absent, which is not defined")],
)
def test_a_value_that_no_file_can_hold_is_refused_by_name(function, problem):
    with pytest.raises(LabError, match=problem):
        submission.source(function, "Odd")


def test_a_source_that_breaks_a_rule_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(submission, "WORK", tmp_path)
    with pytest.raises(LabError, match="defines no function train"):
        submission.write(with_a_literal, "Odd")
    assert not list(tmp_path.iterdir())
