"""A card says what its lines say, and nothing that a student wrote gets out of it."""

import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from helpers import cards, session
from helpers.checks import check
from helpers.coach import hint, hints
from helpers.records import open_card

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

    def display(data, raw):
        assert raw
        found.append((data["text/plain"], data["text/html"]))

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(hints, "_asked", hints.Counter())
    card = open_card("02_throughput", {}, {})
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    return found


@pytest.mark.parametrize("kind", cards.EDGES)
def test_what_a_student_wrote_is_escaped_and_bounded(kind):
    page = cards.card(kind, NASTY, NASTY, [NASTY, "x" * 10**5] * 100, ("a.ipynb", NASTY))
    read = Reader(page)
    assert set(read.tags) <= {"div", "strong", "span", "a", "wbr"}
    assert read.text.count(NASTY) == 3 + cards.MOST_LINES // 2
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
    kinds = [re.search(r"labs-card-(\w+)", page)[1] for _, page in shown]
    assert kinds == ["open", "hint", "prediction", "prediction", "end"]
    for kind, (text, page) in zip(kinds, shown, strict=True):
        read = Reader(page)
        if kind != "end":
            assert words(text) in words(read.text)
        assert "strong" in read.tags
    assert "✗ 2.3 not yet: it raised ZeroDivisionError" in shown[0][0]
    assert "Hint 1 of 3" in shown[1][0]
    text, page = shown[-1]
    assert text.splitlines()[-1] == "Next: notebooks/03_time_to_accuracy.ipynb"
    assert '<a href="../notebooks/03_time_to_accuracy.ipynb">' in page
    assert "812" in page, "one figure of one's own"


def test_a_hint_without_a_number_is_one_line(shown, capsys):
    hint()
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "2.1, 2.2, 2.3" in said
