"""The figures of lab 04 draw what was measured, and a prediction only if there is one."""

import pytest

from callbacks.live.figure_table import figure_table
from helpers.lab_04.figures import step_modes

TIMES = {"eager": [90, 80, 100], "graph": [10, 9, 12], "jit_compile": [11, 10, 30]}


@pytest.mark.parametrize(
    ("predicted", "drawn"),
    [(None, []), ({"graph": 0}, []), ({"graph": 3.0}, [30]), ({"jit_compile": 0.1}, [900])],
    ids=str,
)
def test_only_a_prediction_that_was_made_is_drawn(predicted, drawn):
    [axes] = step_modes(TIMES, predicted).axes
    found = [line for line in axes.lines if line.get_label() == "your prediction"]
    assert [y for line in found for y in line.get_ydata()] == drawn
    assert 100 < axes.get_ylim()[1] < 130  # the bars stay readable


def test_the_scatter_of_the_times_is_in_the_table():
    table = figure_table(step_modes(TIMES))
    assert "<td>(80 to 100)</td><td>90</td>" in table
