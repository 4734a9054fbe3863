"""Hints grow stronger, a quiz explains itself, and both are noted on the run card."""

import html
import re
from types import SimpleNamespace

import pytest

from callbacks.live.picture import stored_copy
from callbacks.live.place import in_jupyterlab
from helpers.checks import check
from helpers.coach import hint, hints, quiz
from helpers.coach.quizzes import (
    ADVICE,
    RIGHT,
    WRONG,
    kept_quiz,
    live_quiz,
    static_quiz,
)
from helpers.exercise import find_exercise, numbers_of
from helpers.notebook import session
from helpers.run_card.documents import open_card, read_card
from helpers.texts import as_html, labs_with_texts, read_texts
from kit.labs import all_labs
from kit.todo_cells import todo_cells

LABS = all_labs()
each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
MOST_WORDS = 80  # of a hint or an explanation


@pytest.fixture
def card(monkeypatch):
    """The run card of a lab that runs in this process."""
    monkeypatch.setattr(hints, "_asked", hints.Counter())
    card = open_card("02_throughput", {}, {})
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    return card


def questions_of(lab):
    return read_texts(lab.number)["quiz"]


@each_lab
def test_every_exercise_has_hints_in_three_strengths(lab):
    numbers = numbers_of(lab.number)
    assert numbers == [cell.number for cell in todo_cells(lab)]
    for question, tool, way in (find_exercise(number).hints for number in numbers):
        assert "?" in question, "the first hint asks"
        assert len({question, tool, way}) == 3
        assert all(len(text.split()) <= MOST_WORDS for text in (question, tool, way))
        # An exercise is often a function of a few lines: no hint is made of code.
        assert not any(re.search(r"^\s*(def|class|return|for) ", text, re.M)
                       for text in (question, tool, way))  # fmt: skip


@each_lab
def test_a_quiz_has_one_right_choice_and_explains_every_one(lab):
    questions = questions_of(lab)
    assert 3 <= len(questions) <= 5
    for question in questions:
        assert question["question"].endswith("?")
        choices = question["choices"]
        assert 3 <= len(choices) <= 4
        assert sum(choice.get("right", False) for choice in choices) == 1
        assert len({choice["text"] for choice in choices}) == len(choices)
        for choice in choices:
            assert 5 <= len(choice["why"].split()) <= MOST_WORDS
            assert set(choice) <= {"text", "why", "right"}
    places = [[c.get("right", False) for c in q["choices"]].index(True) for q in questions]
    assert len(set(places)) > 1, "who always opens the same line must not be right"


@each_lab
def test_backticks_pair(lab):
    texts = read_texts(lab.number)
    found = [text for n in numbers_of(lab.number) for text in find_exercise(n).hints]
    for question in texts["quiz"]:
        found.append(question["question"])
        found += [c[name] for c in question["choices"] for name in ("text", "why")]
    assert not [text for text in found if text.count("`") % 2]


def test_no_text_belongs_to_a_lab_that_is_not_there():
    assert set(labs_with_texts()) == {lab.number for lab in LABS}


def test_each_call_gives_a_stronger_hint_and_is_noted(card, capsys):
    for _ in range(4):
        hint("2.1")
    shown = " ".join(capsys.readouterr().out.split())
    question, tool, way = (" ".join(text.split()) for text in find_exercise("2.1").hints)
    assert shown.index(question) < shown.index(tool) < shown.index(way)
    assert shown.count(way) == 1
    assert shown.count("A stronger one") == 2
    assert shown.index(way) < shown.index("Our solution of 2.1: class PrintThroughput")
    assert read_card(card.path)["hints"] == {"2.1": [1, 2, 3]}


def test_exercises_have_hints_of_their_own(card, capsys):
    hint("2.1")
    hint("2.2")
    hint(2.1)  # a slip that can be understood
    assert read_card(card.path)["hints"] == {"2.1": [1, 2], "2.2": [1]}
    assert "Hint 1 of 3 for 2.2" in capsys.readouterr().out


def test_a_hint_works_before_the_lab_has_started(monkeypatch, capsys):
    monkeypatch.setattr(session, "_current", None)
    monkeypatch.setattr(hints, "_asked", hints.Counter())
    hint("2.1")
    assert "Hint 1 of 3 for 2.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "named"),
    [("2.9", "2.1, 2.2, 2.3"), ("77.1", "0.1"), ("", "0.1"), ("x", "2.1")],
)
def test_an_unknown_exercise_is_one_line_with_those_that_there_are(
    asked, named, card, capsys
):
    hint(asked)
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert named in said
    assert read_card(card.path)["hints"] == {}


def test_a_quiz_that_is_asked_for_without_a_number_is_one_line(capsys):
    quiz()
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert 'as quiz("02"); there are 00, ' in said


def test_a_failed_check_says_how_to_get_more_help(card, capsys):
    check("2.3", lambda points: (0.0, 1.0))
    assert capsys.readouterr().out.endswith('  More help: hint("2.3")\n')
    reference = find_exercise("2.3").reference
    check("2.3", lambda points: reference(points))
    assert "More help" not in capsys.readouterr().out


def test_an_interrupted_card_from_before_there_were_hints_is_resumed():
    card = open_card("02_x", {}, {})
    del card.content["hints"], card.content["quiz"]
    card.save()
    taken_up = open_card("02_x", {}, {})
    assert taken_up.path == card.path
    taken_up.hint("2.1", 1)
    taken_up.answer(1, 2, False)
    taken_up = open_card("02_x", {}, {})
    taken_up.hint("2.1", 2)
    assert read_card(card.path)["hints"] == {"2.1": [1, 2]}
    assert read_card(card.path)["quiz"].keys() == {"1"}


@each_lab
def test_outside_of_jupyterlab_each_choice_opens_and_says_what_it_is(lab, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    quiz(lab.number)
    [page] = [output.data for output in shown]
    questions = questions_of(lab)
    assert page == static_quiz(questions), "nbval compares it to the letter"
    choices = [choice for question in questions for choice in question["choices"]]
    details = re.findall(
        r"<details><summary>(.+?)</summary><p>(.+?)</p></details>", page, re.S
    )
    assert [summary for summary, _ in details] == [as_html(c["text"]) for c in choices]
    for (_, content), choice in zip(details, choices, strict=True):
        assert content.startswith(
            f"<strong>{RIGHT if choice.get('right') else WRONG}</strong>"
        )
        assert content.endswith(as_html(choice["why"]))
    assert page.count("<legend>") == page.count("</fieldset>") == len(questions)
    assert "`" not in page
    assert "<script" not in page


def test_in_jupyterlab_a_stored_notebook_keeps_the_page_and_the_answers(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "02_throughput.ipynb")
    assert in_jupyterlab()
    shown, updates = [], []

    def display(bundle, **options):
        shown.append(bundle)
        return SimpleNamespace(update=lambda bundle, raw: updates.append(bundle))

    made = []

    def keep_made(*arguments):
        made.append(live_quiz(*arguments))
        return made[-1]

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr("helpers.coach.quizzes.live_quiz", keep_made)
    quiz("02")
    assert "application/vnd.jupyter.widget-view+json" in shown[0]
    questions = read_texts("02")["quiz"]
    page = kept_quiz(questions, {})
    assert page.count('<fieldset style="border: 0;') == len(questions)
    assert page.startswith('<div class="labs-message labs-message-quiz" style="border-left')
    assert updates.pop()["text/html"] == stored_copy(page)
    made[0].children[1].children[1].value = 1
    answered = updates.pop()["text/html"]
    assert ADVICE not in answered, "it is about a quiz that nobody has begun"
    assert f"<p>You have answered 1 of {len(questions)} questions. Run" in answered
    first, *others = answered.split("</fieldset>")
    chosen = questions[0]["choices"][1]
    [opened] = re.findall("<details open>.*?</details>", first, re.S)
    assert f"{as_html(chosen['text'])} <em>(your answer)</em>" in opened
    assert as_html(chosen["why"]) in opened
    assert "<details open>" not in "".join(others)
    every = {number: one["choices"][0] for number, one in enumerate(questions, 1)}
    assert "answer the others" not in kept_quiz(questions, every)


@each_lab
def test_a_choice_in_the_widget_is_explained_and_noted(lab, card):
    questions = questions_of(lab)
    _, *groups = live_quiz(questions).children
    assert len(groups) == len(questions)
    for number, (question, group) in enumerate(zip(questions, groups, strict=True), 1):
        legend, buttons, explanation = group.children
        assert as_html(question["question"]) in legend.value
        assert buttons.value is None, "nothing is chosen for the student"
        assert explanation.value == ""
        answers = question["choices"]
        assert len(buttons.options) == len(answers)
        for place, choice in enumerate(answers):
            buttons.value = place
            word = RIGHT if choice.get("right") else WRONG
            assert word in explanation.value
            assert as_html(choice["why"]) in explanation.value
            assert 'role="alert"' in explanation.value, "a screen reader is to say it"
        noted = read_card(card.path)["quiz"][str(number)]
        first, last = answers[0], answers[-1]
        assert noted == {
            "first": {"choice": 1, "right": first.get("right", False)},
            "last": {"choice": len(answers), "right": last.get("right", False)},
        }


def test_an_answer_is_kept_where_the_lab_is_finished_already(card):
    card.finish()
    buttons = live_quiz(read_texts("02")["quiz"]).children[1].children[1]
    buttons.value = 2
    stored = read_card(card.path)
    assert stored["finished"]
    assert stored["quiz"]["1"]["first"]["choice"] == 3


def test_an_answer_that_cannot_be_noted_is_explained_all_the_same(card):
    card.path = card.path.parent / "file" / "card.json"
    card.path.parent.write_text("")  # a file where the folder should be
    _, buttons, explanation = live_quiz(read_texts("02")["quiz"]).children[1].children
    buttons.value = 0
    assert WRONG in explanation.value
    assert "cannot write the run card" in explanation.value


def test_an_unknown_quiz_is_one_line_with_those_that_there_are(capsys):
    quiz("99")
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "02" in said


def test_a_text_may_hold_anything():
    text = "`a < b` & <script>"
    assert as_html(text) == "<code>a &lt; b</code> &amp; &lt;script&gt;"
    assert html.unescape(as_html(text)).count("<script>") == 1
