"""What the overview says of a class, against a class reckoned by hand."""

import math

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output, writes

from helpers.coach import hint
from kit.grading.classroom import item_statistics
from kit.grading.submissions import about, notebook_of
from kit.labs import find_lab
from kit.todo_cells import todo_cells

LAB = find_lab("02")
FIRST, SECOND, THIRD = "2.1", "2.2", "2.3"
# Who passed 2.1, 2.2, 2.3, of two points each. For 2.1 the others' points are 4, 4, 4, 2, 2
# of those who passed it and 2, 2, 0, 0, 0 of those who did not: around the means 1/2 and 2
# the sum of products is 6, the sums of squares are 2.5 and 24.
CLASS = [
    (1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 0), (1, 0, 1),
    (0, 1, 0), (0, 1, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0),
]  # fmt: skip


def submission(passed, student="ada", status="graded", **more):
    verdicts = {
        number: {
            "passed": bool(one), "judged": 2 * one,
            "reaction": "" if one else f"reaction to {number}",
            "code": f"code of {student}", "reason": "it is wrong",
        }
        for number, one in zip((FIRST, SECOND, THIRD), passed, strict=True)
    }  # fmt: skip
    of = {"total": 2.0 * sum(passed), "of": 6, "about": {}, "excused": False}
    return of | {"student": student, "lab": LAB.name, "status": status,
                 "exercises": verdicts} | more  # fmt: skip


def class_of(rows):
    return [submission(passed, f"s{place}") for place, passed in enumerate(rows)]


def test_discrimination_is_the_correlation_with_the_rest_of_the_lab():
    found = item_statistics.discrimination(class_of(CLASS), FIRST)
    assert found == pytest.approx(6 / math.sqrt(2.5 * 24))
    half = [(1, 1, 1)] * 5 + [(0, 0, 0)] * 5
    assert item_statistics.discrimination(class_of(half), SECOND) == pytest.approx(1)
    against = [(1, 0, 0)] * 5 + [(0, 1, 1)] * 5
    assert item_statistics.discrimination(class_of(against), FIRST) == pytest.approx(-1)


@pytest.mark.parametrize(
    "rows", [CLASS[:9], [(1, 1, 0), (1, 0, 0)] * 5, [(1, 1, 1), (0, 1, 1)] * 5]
)
def test_too_few_or_all_alike_have_no_discrimination(rows):
    assert item_statistics.discrimination(class_of(rows), FIRST) is None


def test_an_exercise_has_its_counts_and_the_mistakes_with_code():
    mine = class_of(CLASS)
    mine[3]["about"] = {"hints": [THIRD, FIRST]}
    others = [
        submission((0, 0, 0), "gone", "missing", total=None),
        submission((0, 0, 0), "elsewhere", lab="01_gradient_descent"),
    ]
    rows = {row["number"]: row for row in item_statistics.by_exercise(mine + others, [LAB])}
    assert [(rows[n]["passed"], rows[n]["graded"]) for n in (FIRST, SECOND, THIRD)] == [
        (5, 10), (6, 10), (4, 10),
    ]  # fmt: skip
    assert [rows[n]["asked"] for n in (FIRST, SECOND, THIRD)] == [1, 0, 1]
    assert rows[FIRST]["discrimination"] == pytest.approx(6 / math.sqrt(60))
    [mistake] = rows[FIRST]["mistakes"]
    assert (mistake["reaction"], mistake["count"]) == ("reaction to 2.1", 5)
    assert mistake["examples"][0] == ("s5", "code of s5", "it is wrong")
    # A cell that was left as it was handed out is no mistake of the student's.
    mine[5]["exercises"][FIRST]["code"] = f"{todo_cells(LAB)[0].start}\n"
    [row, *_] = item_statistics.by_exercise(mine, [LAB])
    assert (row["unchanged"], row["passed"], row["graded"]) == (1, 5, 10)
    [mistake] = row["mistakes"]
    assert mistake["count"] == 4
    assert mistake["examples"][0][0] == "s6"


def test_totals_fall_into_tenths_and_open_ones_are_counted_apart():
    mine = [*class_of(CLASS), submission((0, 0, 0), "gone", "missing", total=None)]
    [row] = item_statistics.by_lab(mine, [LAB])
    # Of 6 points three have 0, two have 2, two have 4, and three have all.
    assert row["bins"] == [3, 0, 0, 2, 0, 0, 2, 0, 0, 3]
    assert (row["closed"], row["open"], row["median"], row["of"]) == (10, 1, 3.0, 6)


def test_a_hint_counts_however_it_was_asked_for(capsys):
    hint("2.2")
    shown = capsys.readouterr().out
    button = new_output("display_data", {"text/plain": shown, "text/html": "<p>"})
    quoted = new_output("display_data", {"text/plain": f"He said: {shown}"})
    cells = [
        new_code_cell('check("2.2", StopAtAccuracy)', outputs=[button]),
        new_code_cell("hint( '2.3')"),
        new_code_cell("print(1)", outputs=[quoted, new_output("stream", text=shown)]),
    ]
    notebook = new_notebook(cells=cells)
    assert about(notebook_of(writes(notebook).encode()), LAB)["hints"] == ["2.2", "2.3"]
    notebook.cells[0].outputs = []
    assert about(notebook_of(writes(notebook).encode()), LAB)["hints"] == ["2.3"]
