"""A card says what its lines say, and nothing that a student wrote gets out of it."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from helpers.checks import check
from helpers.coach import hint, hints
from helpers.notebook import messages, session
from helpers.run_card.documents import open_card

NASTY = "<script>alert(1)</script>\" onmouseover='x' $a$ & </div>"


class Reader(HTMLParser):
    """The text of a page, and the names of its elements."""

    def __init__(self, page):
        super().__init__()
        self.text, self.tags = "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def shown(monkeypatch):
    """What cells show, as in a notebook's kernel: pairs of text and card."""
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setattr(
        "callbacks.live.place.current_shell", lambda: SimpleNamespace(kernel=None)
    )
    found = []

    def display(data, raw, **options):
        assert raw
        found.append((data["text/plain"], data["text/html"]))

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(hints, "_asked", hints.Counter())
    card = open_card("02_throughput", {}, {}, messages.show_prediction)
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    return found


@pytest.mark.parametrize("kind", messages.EDGES)
def test_the_text_of_a_student_is_escaped_and_bounded(kind):
    page = messages.box(kind, NASTY, NASTY, [NASTY, "x" * 10**5] * 100, ("a.ipynb", NASTY))
    read = Reader(page)
    assert set(read.tags) <= {"div", "strong", "span", "a", "wbr"}
    assert read.text.count(NASTY) == 3 + messages.MOST_LINES // 2
    assert len(page) < 100_000
    assert not re.search(r"\$[^<]", page), "JupyterLab would set it as mathematics"


def words(text):
    return " ".join(text.split())


def test_verdicts_hints_predictions_and_the_end_are_cards_of_the_same_words(shown, capsys):
    check("2.3", lambda points: 1 / 0)
    hint("2.3")
    card = session.current_card()
    card.predict("loss", None)
    card.predict("loss", 2.0)
    card.lock("loss")
    card.outcome("loss", 1.0)
    card.measure("images_per_second", 812.35)
    session.finish()
    assert capsys.readouterr().out == "", "nothing is said twice"
    kinds = [re.search(r"labs-message-(\w+)", page)[1] for _, page in shown]
    assert kinds == ["open", "hint", "prediction", "prediction", "unfinished"]
    for kind, (text, page) in zip(kinds, shown, strict=True):
        read = Reader(page)
        if kind != "unfinished":
            assert words(text).replace("`", "") in words(read.text)
        assert "strong" in read.tags
    assert "✗ 2.3 not yet: it raised ZeroDivisionError" in shown[0][0]
    assert "Hint 1 of 3" in shown[1][0]
    text, page = shown[-1]
    assert text.splitlines()[-1] == "Next: notebooks/03_time_to_accuracy.ipynb"
    assert '<a href="../notebooks/03_time_to_accuracy.ipynb" style=' in page
    assert "812" in page, "one figure of one's own"


def end(shown):
    """The text of the card at the end, line by line, and its links with their texts."""
    session.finish()
    page = shown[-1][1]
    links = re.findall(r'<a href="(#[^"]*)" style="[^"]*">([^<]*)</a>', page)
    return [line for line in Reader(page).text.splitlines() if line.strip()], links


def test_the_end_says_of_checks_quiz_and_predictions_what_is_left_and_where(shown):
    said, links = end(shown)
    assert said[:5] == [
        "⚑ Checks passed: 0 of 3",
        "Still open: 2.1, 2.2, 2.3",
        "Quiz: 0 of 5 answered; still open: questions 1, 2, 3, 4, 5",
        "Predictions: 0 of 5 made",
        "Not predicted yet, under: Exercise 2.1: print the throughput · Exercise 2.2: "
        "sweep the batch size · Try to break the law · How much of the machine do you use? "
        "· Going deeper: why does the validation accuracy jump?",
    ]
    assert links == [
        ("#Exercise-2.1:-print-the-throughput", "2.1"),
        ("#Exercise-2.2:-sweep-the-batch-size", "2.2"),
        ("#Exercise-2.3:-why-it-saturates", "2.3"),
        ("#Quiz", "questions 1, 2, 3, 4, 5"),
        ("#Exercise-2.1:-print-the-throughput", "Exercise 2.1: print the throughput"),
        ("#Exercise-2.2:-sweep-the-batch-size", "Exercise 2.2: sweep the batch size"),
        ("#Try-to-break-the-law", "Try to break the law"),
        ("#How-much-of-the-machine-do-you-use?", "How much of the machine do you use?"),
        (
            "#Going-deeper:-why-does-the-validation-accuracy-jump?",
            "Going deeper: why does the validation accuracy jump?",
        ),
    ]


def test_the_end_says_which_figures_other_programs_may_have_spoiled(shown):
    card = session.current_card()
    card.note_other_load(30, 3.5, "Images per second by batch size: see the table.")
    card.note_other_load(45, 9.0, None)
    card.note_other_load(25, 2.0, "Images per second by batch size: see the table.")
    said, _ = end(shown)
    busy = (
        "Busy machine: other programs used up to 45% of the CPUs during this run. "
        "1 figure says so in its caption."
    )
    assert busy in said
    assert busy in shown[-1][0].splitlines()
    noted = card.content["other_load"]
    assert (noted["percent"], noted["load_average"]) == (45, 9.0)


def test_the_end_names_no_more_than_is_left(shown):
    card = session.current_card()
    for number in ("2.1", "2.2", "2.3"):
        card.check(number, True)
    for question in (1, 2, 3, 5):
        card.answer(question, 1, question == 1)
    card.measure("epochs", {"train_seconds": [2.0, 1.0]})
    card.predict("first_epoch_over_others", 1.0)
    card.outcome("first_epoch_over_others", 2.0)
    card.lock("law_holds_at_48")
    said, links = end(shown)
    assert "⚑ Checks passed: 3 of 3" in said
    assert (
        "Quiz: 4 of 5 answered, 1 right at once; still open: question 4; "
        "not yet right: questions 2, 3, 5"
    ) in said
    assert "Predictions: 1 of 5 made, off by a factor of 2" in said
    late = "Measured without a prediction, so the next run asks again, under: "
    late += "Try to break the law"
    assert late in said
    assert ("#Try-to-break-the-law", "Try to break the law") in links
    assert not [line for line in said if line.startswith("Still open")]
    for question in (2, 3, 4, 5):
        card.answer(question, 2, True)
    guesses = {"throughput_over_usual": {8: 1.0}, "share_of_peak": 0.5}
    for name, value in (guesses | {"accuracy_with_own_statistics": 0.5}).items():
        card.predict(name, value)
    card.predict("law_holds_at_47", True)
    said, links = end(shown)
    assert "Quiz: 5 of 5 answered, 2 right at once" in said
    assert "Predictions: 5 of 6 made, off by a factor of 2" in said
    assert [text for _, text in links] == ["Try to break the law"]


def test_a_solution_is_asked_nothing(shown):
    session.current_card().content["solution"] = True
    said, _ = end(shown)
    assert "Still open: 2.1, 2.2, 2.3" in said
    assert not [line for line in said if "Quiz" in line or "redict" in line]


def test_where_the_notebook_has_no_such_cells_the_end_has_no_links(
    shown, tmp_path, monkeypatch
):
    mine = tmp_path / "mine.ipynb"
    mine.write_text('{"cells": [{"cell_type": "code", "source": "quiz(\'02\')"}]}')
    monkeypatch.setenv("JPY_SESSION_NAME", str(mine))
    said, links = end(shown)
    assert "Still open: 2.1, 2.2, 2.3" in said
    assert links == []


def test_a_hint_without_a_number_is_one_line(shown, capsys):
    hint()
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "2.1, 2.2, 2.3" in said
