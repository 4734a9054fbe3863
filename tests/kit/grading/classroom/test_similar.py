"""Answers that are alike are shown as groups, and each pair once."""

import re
from pathlib import Path

import pytest

from kit import look
from kit.grading.classroom import similar
from kit.labs import find_lab
from kit.todo_cells import todo_cells

LAB = find_lab("02")
OTHER = """def sweep(sizes, measure, points):
    rest = [one for one in sizes if one not in points]
    while rest:
        size = rest.pop(0)
        value = {"error": None}
        value.update(found=measure(size))
        points[size] = value["found"]
    return sorted(points.items())
"""


def graded(**answers):
    """Results in which each student has one answer to each exercise."""
    return [
        {
            "student": student, "lab": LAB.name, "status": "graded",
            "exercises": {
                exercise.number: {"code": code if exercise.number == "2.2" else ""}
                for exercise in todo_cells(LAB)
            },
        }
        for student, code in answers.items()
    ]  # fmt: skip


def rows_of(**answers):
    return {row["number"]: row for row in similar.similar(graded(**answers), [LAB])}


def test_students_who_are_alike_are_one_group_and_a_pair_stands_alone():
    solved = similar.reference_cells(LAB)["2.2"]
    row = rows_of(ada=OTHER, bob=OTHER, cyd=OTHER, dan=solved)["2.2"]
    members = [group["members"] for group in row["groups"]]
    assert sorted(members) == [["ada", "bob", "cyd"], ["dan"]]
    [trio] = [group for group in row["groups"] if len(group["members"]) == 3]
    sides = [{who for who, _ in pair["sides"]} for pair in trio["pairs"]]
    assert len(sides) == 3
    template = Path(similar.__file__).parent / "pages" / "similar.html.j2"
    page = look.render(template, rows=[row], version="")
    assert "1.00 to 1.00: a group of 3: ada, bob, cyd</summary>" in page
    assert len(re.findall(r"1.00: (?!a group)", page)) == 4
    row = rows_of(ada=solved, bob=solved)["2.2"]
    page = look.render(template, rows=[row], version="")
    assert "1.00 to 1.00: 2 like the reference: ada, bob</summary>" in page


@pytest.mark.parametrize(
    ("pairs", "members"),
    [
        ([(0.9, "a", "b"), (0.8, "b", "c")], [["a", "b", "c"]]),
        ([(0.9, "a", "b"), (0.8, "c", "d")], [["a", "b"], ["c", "d"]]),
        ([(0.9, "a", "b"), (0.85, "c", "d"), (0.8, "a", "d")], [["a", "b", "c", "d"]]),
        (
            [(1.0, similar.REFERENCE, "a"), (0.9, similar.REFERENCE, "b")],
            [["a", "b"]],
        ),
        (
            [(1.0, similar.REFERENCE, "a"), (0.9, similar.REFERENCE, "b"), (0.8, "a", "c")],
            [["a", "b"], ["a", "c"]],
        ),
        ([], []),
    ],
)
def test_groups_are_of_students_who_are_alike_also_by_way_of_others(pairs, members):
    found = similar._groups(pairs)
    assert [who for who, _ in found] == members
    assert sorted(pair for _, shown in found for pair in shown) == sorted(pairs)
