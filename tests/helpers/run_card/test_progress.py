"""Progress is counted over all runs of a lab, and only what is the student's counts."""

import pytest

from helpers.run_card import progress, reset_exercises
from helpers.run_card.documents import open_card
from helpers.run_card.predictions import asked_and_left, how_they_went
from helpers.texts import read_texts
from kit.labs import all_labs, find_lab

LABS = all_labs()
LAB = "02_throughput"


def run(seed):
    """Each run has a card of its own."""
    return open_card(LAB, {"seed": seed}, {})


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_lab_without_runs_is_all_open(lab):
    done = progress.of_student(lab.name)
    assert done.open_exercises == list(done.exercises)
    assert done.counted == (0, len(done.exercises) + len(read_texts(lab.number)["quiz"]))
    assert not done.done


def test_the_first_answer_is_of_the_first_run_and_the_last_of_the_last():
    first, second = run(1), run(2)
    first.answer(1, 1, False)
    second.answer(1, 3, True)
    second.answer(2, 2, True)
    first.answer(9, 1, True)  # of a quiz that was longer
    done = progress.of_student(LAB)
    assert done.answers["1"]["first"] == {"choice": 1, "right": False}
    assert done.answers["1"]["last"] == {"choice": 3, "right": True}
    assert done.right_at_once == 1
    assert done.open_questions == ["3", "4", "5"]
    assert done.counted[0] == 2


def test_passed_exercises_and_hints_come_back_until_an_exercise_is_reset():
    first = run(1)
    first.check("2.1", True)
    first.hint("2.2", 3)
    second = run(2)
    second.check("2.1", False, "changed")
    second.hint("2.2", 1)
    done = progress.of_student(LAB)
    assert done.passed == {"2.1"}
    assert done.hints == {"2.2": 3}
    reset_exercises.note(LAB, ["2.1"])
    assert progress.of_student(LAB).passed == frozenset()


def test_a_prediction_comes_back_where_the_new_run_has_none():
    first = run(1)
    first.predict("share_of_peak", 0.5)
    first.outcome("share_of_peak", 0.25)
    first.predict("law_holds_at_48", True)
    second = run(2)
    second.predict("share_of_peak", 0.6)  # not measured yet
    second.predict("law_holds_at_47", None)
    second.lock("law_holds_at_47")
    together = progress.of_student(LAB).together
    assert how_they_went(together) == "2 of 5 made, off by a factor of 2"
    asked, still_open, too_late = asked_and_left(together)
    assert (asked, len(still_open), too_late) == (5, 3, [])


def test_what_a_later_run_measured_without_a_prediction_is_not_open_any_more():
    run(1).predict("share_of_peak", None)
    second = run(2)
    second.predict("share_of_peak", None)
    second.lock("share_of_peak")
    second.outcome("share_of_peak", 0.25)
    second.predict("share_of_peak", 0.25)
    _, still_open, too_late = asked_and_left(progress.of_student(LAB).together)
    assert "share_of_peak" not in still_open
    assert too_late == ["share_of_peak"]


def test_the_forecast_of_lab_10_is_no_prediction_of_the_student(capsys):
    card = open_card("10_more_machines", {}, {}, confirm=print)
    card.predict("held_out_by_the_law", 100.0)
    assert capsys.readouterr().out == ""
    card.outcome("held_out_by_the_law", 200.0)
    said = capsys.readouterr().out
    assert said == "The lab's forecast 100, measured 200: off by a factor of 2.\n"
    assert how_they_went(card.content) == ""
    asked, _, _ = asked_and_left(card.content)
    assert asked == 5
    card.predict("best_bucket", 400)
    assert "400 is noted; it will be locked" in capsys.readouterr().out
    card.lock("best_bucket")
    card.predict("best_bucket", 400)
    assert capsys.readouterr().out == ""


def test_runs_of_the_solution_do_not_count(monkeypatch):
    monkeypatch.setenv("LABS_NOTEBOOK", str(find_lab("02").solution))
    card = run(1)
    card.check("2.1", True)
    assert progress.of_student(LAB).passed == frozenset()
    assert progress.of_runs(LAB, [card.content]).passed == {"2.1"}


@pytest.mark.parametrize(
    "quiz", [{"1": {}}, {"1": {"first": 1, "last": 2}}, {"1": {"first": {"choice": 1}}}]
)
def test_a_damaged_answer_is_none(quiz):
    card = run(1)
    card.content["quiz"] = quiz
    card.save()
    assert progress.of_student(LAB).answers == {}


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ([2], "off by a factor of 2"),
        ([15300, 1.5], "off by factors of 1.5 and 15,300"),
        ([3, 1, 2], "typically off by a factor of 2"),
    ],
)
def test_no_factor_is_called_typical_where_there_are_one_or_two(factors, says):
    card = run(1)
    for number, factor in enumerate(factors):
        card.predict(f"mine_{number}", 1.0)
        card.outcome(f"mine_{number}", 1.0 * factor)
    assert how_they_went(card.content).endswith(f" made, {says}")
    if len(factors) > 2:
        card.predict("no_factor", 0)
        card.outcome("no_factor", 3)
        assert how_they_went(card.content).endswith(f" made, 3 of them {says}")
