"""What a TODO cell can use in grading: `lab` with every parameter, and no run card."""

import contextlib

import pytest

from helpers.parameters import rules_of
from kit.labs import all_labs
from kit.todo_cells import points_of, setup, todo_cells, written


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_lab_has_every_parameter_at_smoke_scale(lab):
    namespace = {}
    for statement in setup(lab):
        if "helpers" not in statement and "callbacks" not in statement:
            with contextlib.suppress(Exception):  # as in the box
                exec(statement, namespace)
    found = vars(namespace["lab"])
    assert set(rules_of(lab.name)) <= set(found)
    assert found["scale"] == "smoke"
    assert found["seed"] == 0
    assert not any("session.start" in statement for statement in setup(lab))


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_the_notebook_says_the_points_of_all_that_its_source_asks(lab):
    asked = (*todo_cells(lab), *written(lab))
    assert points_of(lab) == {one.number: one.points for one in asked}
