"""Whatever names a student binds, the lab's own cells still work."""

import symtable

import pytest

from kit.generate import generate
from kit.labs import all_labs

# Ours in a lab are np, keras, time and so on as well: for the exercises. A student's
# `from time import time` or `model = ...` changes them for every later cell.
LIKELY = {
    "time", "np", "keras", "tf", "math", "random", "statistics", "model", "x", "y",
    "optimizer", "metrics", "loss", "history",
}  # fmt: skip


def code_cells(lab):
    """The lab's own code cells, each with whether an exercise comes before it."""
    student, _ = generate(lab)
    exercise_seen = False
    for cell in student.cells:
        if cell.cell_type != "code":
            continue
        if cell.source.startswith("# TODO"):
            exercise_seen = True
        else:
            yield cell.source, exercise_seen


def names_read(source, exercise_seen):
    """The global names that a cell's functions read, and after an exercise its lines.

    A line may read what its own cell has bound; a function is called later as well.
    """
    table = symtable.symtable(source, "<cell>", "exec")

    def read_in(scope):
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and symbol.is_global():
                yield symbol.get_name()
        for child in scope.get_children():
            yield from read_in(child)

    found = {name for scope in table.get_children() for name in read_in(scope)}
    if exercise_seen:
        lines = [s for s in table.get_symbols() if s.is_referenced()]
        found |= {s.get_name() for s in lines if not s.is_assigned()}
    return found


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_no_cell_of_ours_relies_on_a_name_that_a_student_is_likely_to_bind(lab):
    for source, exercise_seen in code_cells(lab):
        assert not names_read(source, exercise_seen) & LIKELY, source
