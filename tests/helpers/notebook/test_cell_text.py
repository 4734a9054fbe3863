"""The names that a cell makes and needs, and how it is quoted."""

import pytest

from helpers.notebook.cell_text import (
    made_in_words,
    names_assigned,
    names_made,
    names_read,
    names_used,
    quoted,
)

CELL = """import math as m
def area(radius):
    return m.pi * radius ** factor
class Shape: pass
table["a"] = side = area(2)
"""


def test_what_a_cell_makes_is_not_what_its_functions_make():
    assert names_made(CELL) == {"m", "area", "Shape", "table", "side"}
    assert names_assigned(CELL) == {"table", "side"}
    assert names_made("squares = [n * n for n in range(9)]") == {"squares"}
    assert made_in_words("2") == "nothing"
    assert made_in_words(CELL) == "`Shape`, `area`, `m`, `side`, `table`"


def test_what_a_cell_needs_is_not_what_it_makes_itself():
    assert names_used(CELL) == {"factor", "table"}, "an entry needs its table"
    assert names_used("print(side)") == {"print", "side"}
    assert names_read("side = 2 * width") == {"width"}


@pytest.mark.parametrize("source", ["def area(radius:\n", "\0", "side = ("])
def test_of_a_cell_that_python_cannot_read_the_beginnings_of_lines_are_known(source):
    known = {"def": {"area"}, "\0": set(), "side": {"side"}}[source.split()[0]]
    assert names_made(source) == known
    assert names_assigned(source) == names_used(source) == names_read(source) == set()


def test_a_cell_is_quoted_by_its_first_line_that_is_seen():
    assert quoted("%matplotlib inline\n\nside = 2\n") == '"side = 2"'
    assert quoted("x" * 20 + " " + "y" * 40) == f'"{"x" * 20} ..."'
    assert quoted("") == '""'
