"""The page on teaching: its routes leave nothing out, and its answers are measured."""

import re
import tomllib

import pytest

from helpers.errors import LabError
from kit.authoring.pages.teaching import TEACHING, teaching_tables
from kit.labs import all_labs, find_lab

SAID = tomllib.loads(TEACHING.read_text(encoding="utf-8"))
ROUTES = SAID.pop("routes")
MINUTES = dict.fromkeys(all_labs(), 90)


@pytest.mark.parametrize("name", ROUTES)
def test_a_route_has_the_labs_on_which_its_labs_build_before_them(name):
    taken = []
    for number in ROUTES[name]:
        assert set(SAID[number]["after"]) <= set(taken), number
        taken.append(number)


def test_a_route_takes_the_time_of_its_labs():
    rows = teaching_tables(MINUTES)["routes"].splitlines()[2:]
    assert [row.split(" | ")[2] for row in rows] == [
        f"{len(numbers) * 1.5:.0f} h |" for numbers in ROUTES.values()
    ]


def test_every_lab_is_in_the_order_and_each_question_has_its_measured_answer():
    tables = teaching_tables(MINUTES)
    for lab in MINUTES:
        assert f"\n| [{lab.number}](../../solutions/{lab.name}.ipynb) " in tables["order"]
    assert tables["votes"].count("<details>") == len(SAID)
    assert tables["goals"].count("\n| [") == len(SAID)
    assert "\n\n256 images, by the median." in tables["votes"]  # the stored run of lab 03
    assert "{" not in tables["votes"]
    assert tables["lessons"].count("\n| [") == len(SAID)


def test_a_lesson_says_when_a_class_comes_to_its_predictions():
    rows = teaching_tables(MINUTES)["lessons"].splitlines()[2:]
    for lab, row in zip(map(find_lab, SAID), rows, strict=True):
        _, link, first, vote, heading, _, _ = row.split("|")
        assert lab.number in link
        first, vote = (int(re.search(r"\d+", cell)[0]) for cell in (first, vote))
        assert first <= vote
        headings = re.findall(r"^# ##+ (.+)$", lab.source.read_text(), re.M)
        assert heading.strip(" *") in headings


def test_an_outcome_that_no_run_has_is_refused(tmp_path):
    file = tmp_path / "teach.toml"
    lines = ['can = "?"', "after = []", 'question = "?"', 'answer = "{}"', 'talk = "?"']
    lines += ['reply = "?"', 'compare = "?"']
    file.write_text("\n".join(["[03]", 'outcome = "fastest"', *lines]))
    with pytest.raises(LabError, match="lab 03 has no outcome 'fastest'"):
        teaching_tables(MINUTES, file)
