"""Cells that ran, beside those of the notebook as it is stored."""

import os

import nbformat
import pytest

from helpers.notebook.notebook_cells import (
    Cell,
    missed_by_the_page,
    stored_cells,
    without_deleted,
)

STORED = 1000.0  # Unix seconds


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """A stored notebook: cell "a" has the number 1, and "b" has not run."""
    made = [("a", "a = 1", 1), ("b", "b = 2", None)]
    cells = [
        nbformat.v4.new_code_cell(source, id=identity, execution_count=number)
        for identity, source, number in made
    ]
    cells.insert(1, nbformat.v4.new_markdown_cell("## Section", id="text"))
    path = tmp_path / "lab.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    os.utime(path, (STORED, STORED))
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    return path


def ran(identity, number, after):
    return Cell(f"{identity} = 1", number, identity, "", STORED + after)


def test_a_cell_that_is_stored_after_a_heading_is_not_of_the_set_up(notebook):
    assert [cell.is_set_up for cell in stored_cells()] == [True, False]
    notebook.write_text("{")
    assert stored_cells() == []


def test_a_cell_counts_as_deleted_only_if_the_notebook_was_stored_without_it(notebook):
    cells = [
        ran("a", 1, -9), ran("gone", 2, -9), ran("new", 3, 9), ran(None, 4, -9),
    ]  # fmt: skip
    left = [cell.number for cell in without_deleted(cells)]
    assert left == [1, 3, 4]
    notebook.unlink()
    assert without_deleted(cells) == cells


@pytest.mark.parametrize(
    ("cells", "missed"),
    [
        ([ran("a", 1, -9)], ""),
        ([ran("a", 5, -9)], 'of cell [5], "a = 1".'),  # its number is not the stored one
        ([ran("a", 1, 9)], 'of cell [1], "a = 1".'),  # it went on after that
        (
            [ran("b", 2, 9), ran("a", 3, 9)],
            'of 2 cells, from [2], "b = 1", to [3], "a = 1".',
        ),
        ([ran("gone", 7, 9)], ""),  # no cell of this notebook
    ],
)
def test_a_page_is_told_of_the_cells_whose_output_it_does_not_show(notebook, cells, missed):
    line = missed_by_the_page(cells)
    assert line.startswith("This page was reloaded") == bool(missed)
    assert missed in line
