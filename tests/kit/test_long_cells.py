"""Above a cell that takes minutes a line says so, and only above such a cell."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from kit import long_cells
from kit.generate import generate
from kit.labs import all_labs, find_lab
from kit.long_cells import key_of, minutes_of, record_seconds, say_minutes

each_lab = pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)


def notebook(answer):
    cells = [
        new_markdown_cell("Guess."), new_code_cell("my_guess = None"),
        new_code_cell("measure()"), new_markdown_cell("An exercise."),
        new_code_cell(answer),
    ]  # fmt: skip
    return new_notebook(cells=cells)


@pytest.mark.parametrize(("minutes", "said"), [(1, "a minute"), (7, "7 minutes")])
def test_the_line_ends_the_text_above_in_both_notebooks(minutes, said):
    student, solution = notebook("# TODO 1.1"), notebook("# Solution 1.1")
    say_minutes(student, solution, {key_of("measure()"): minutes})
    line = f"*The measurement below takes about {said} on two cores.*"
    for made in (student, solution):
        texts = [cell.source for cell in made.cells if cell.cell_type == "markdown"]
        assert texts == [f"Guess.\n\n{line}", "An exercise."]


def test_a_changed_cell_has_no_line():
    student, solution = notebook("# TODO 1.1"), notebook("# Solution 1.1")
    say_minutes(student, solution, {key_of("measure(again=True)"): 3})
    assert student.cells[0].source == "Guess."


def test_only_long_cells_are_recorded_and_none_of_a_run_before(tmp_path, monkeypatch):
    lab = find_lab("02")
    monkeypatch.setattr(long_cells, "_path", lambda lab: tmp_path / "minutes.json")
    long_cells.minutes_of.cache_clear()
    record_seconds(lab, {"short()": 44.0, "long()": 46.0, "longer()": 200.0})
    assert minutes_of(lab) == {key_of("long()"): 1, key_of("longer()"): 3}
    record_seconds(lab, {"long()": 10.0})
    assert minutes_of(lab) == {}
    long_cells.minutes_of.cache_clear()


@each_lab
def test_each_recorded_cell_is_one_of_the_lab(lab):
    """Else `labs outputs` has to run again."""
    _, solution = generate(lab)
    assert set(minutes_of(lab)) <= {key_of(cell.source) for cell in solution.cells}
