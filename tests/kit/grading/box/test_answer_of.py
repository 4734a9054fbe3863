"""A box says what stands for an answer that is no function."""

import sys

import pytest

from kit.grading.box.cells_in_box import answer_of


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("fit = None", "its `fit` is None, where a function or a class is asked for"),
        ("fit = 3", "its `fit` is of type int, where a function or a class is asked for"),
        ("def fitt(points): pass", "its cell does not define `fit`"),
        ("1 / 0", "the cell raised ZeroDivisionError: division by zero"),
        ("def fit(points:", "the cell raised SyntaxError (line 1): '(' was never closed"),
        ('raise SyntaxError("6 of 6\\npoints")', "the cell raised SyntaxError: 6 of 6"),
        ("def fit(points): pass", None),
    ],
)
def test_five_mistakes_are_told_apart(cell, problem, monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    answer, found = answer_of([], cell, "2.3", "fit", [], seconds=4.0)
    assert callable(answer) == (problem is None)
    if problem:
        assert found["error"].startswith(problem)
