"""The estimate of a person's time counts what the sentence about it says."""

import json

import pytest

from helpers.texts import read_texts
from kit.labs import all_labs, find_lab
from kit.working_time import ASSUMPTIONS, OPTIONAL, in_hours, places, working_minutes


def notebook_of(words, *points):
    exercises = [
        {"cell_type": "code", "source": "x", "metadata": {"nbgrader": {"points": worth}}}
        for worth in points
    ]
    text = {"cell_type": "markdown", "source": ["word "] * words, "metadata": {}}
    return {"cells": [text, {"cell_type": "code", "source": "y"}, *exercises]}


def test_reading_solving_and_waiting_take_time():
    texts = read_texts("02")
    least = 2 * len(texts["predictions"]) + len(texts["quiz"])
    for words, points, run in ((0, (), 0), (1000, (2, 3), 0), (300, (1,), 60)):
        minutes = least + words / 100 + 8 * sum(points) + run
        found = working_minutes("02", notebook_of(words, *points), run)
        assert abs(found - minutes) <= 2.5
        assert found % 5 == 0
    assert working_minutes("99", {}, 0) == 5


def test_a_person_comes_to_a_prediction_after_what_stands_before_it():
    def cell(kind, source, **nbgrader):
        return {"cell_type": kind, "source": [source], "metadata": {"nbgrader": nbgrader}}

    notebook = {
        "cells": [
            cell("markdown", "## Begin\n" + "word " * 198),  # with its heading 200 words
            cell("code", "# TODO 2.1", points=3),
            cell("code", 'card.predict("first", guess)'),
            cell("markdown", "### Go on\n"),
            cell("code", 'card.predict(\n    f"second_{size}", guess)'),
        ]
    }
    assert list(places(notebook)) == [
        (0, "heading", "Begin"),
        (2 + 24 + 2, "prediction", "first"),
        (28, "heading", "Go on"),
        (28.03 + 2, "prediction", "second_{size}"),
    ]


def test_an_optional_part_at_the_end_takes_no_time():
    notebook = notebook_of(500)
    notebook["cells"] += [
        {"cell_type": "markdown", "source": [OPTIONAL, "\n", "word " * 2000]},
        {"cell_type": "markdown", "source": ["word " * 2000]},
    ]
    assert working_minutes("02", notebook, 0) == working_minutes("02", notebook_of(500), 0)


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_nothing_in_an_optional_part_counts(lab):
    cells = json.loads(lab.notebook.read_text("utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    begins = (i for i, text in enumerate(texts) if text.startswith(OPTIONAL))
    begin = next(begins, len(cells))
    assert all("nbgrader" not in cell["metadata"] for cell in cells[begin:])
    counted = ("card.", "check(", "quiz(", "session.finish(", "\n## ")
    for text in texts[begin:]:
        assert not any(name in text for name in counted), text


def test_all_labs_take_a_person_some_three_days():
    total = sum(
        working_minutes(lab.number, json.loads(lab.notebook.read_text("utf-8")), 0)
        for lab in all_labs()
    )
    assert 15 < total / 60 < 30


def test_the_readme_states_what_is_assumed():
    page = find_lab("00").source.parent.parent / "README.md"
    assert ASSUMPTIONS in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(5, "5 min"), (60, "1 h"), (65, "1 h 05 min"), (150, "2 h 30 min")],
)
def test_hours_are_read_easily(minutes, words):
    assert in_hours(minutes) == words
