"""The rubric that is suggested for an answer in words: it adds up to its points."""

import pytest

from kit.grading.classroom.marking.rubric import as_line, from_line, suggested_items
from kit.labs import all_labs
from kit.todo_cells import written

POINTS = {one.number: one.points for lab in all_labs() for one in written(lab)}


@pytest.mark.parametrize("number", suggested_items())
def test_the_items_that_we_suggest_give_a_full_answer_all_points(number):
    lines = suggested_items()[number]
    items = [from_line(number, line) for line in lines]
    assert sum(item.points for item in items) == POINTS[number]
    assert [as_line(item) for item in items] == lines
