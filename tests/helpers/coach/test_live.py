"""In JupyterLab the coach remembers earlier runs; what is stored headless does not."""

import re
from types import SimpleNamespace

import pytest

from helpers.checks import check
from helpers.coach import hint, hints, quiz, show_solution
from helpers.coach.quizzes import RIGHT, live_quiz, static_quiz
from helpers.exercise import find_exercise
from helpers.notebook import cell_errors, messages, session
from helpers.run_card.documents import open_card
from helpers.texts import as_html, read_texts

LAB = "02_throughput"
QUESTIONS = read_texts("02")["quiz"]


class Screen:
    """What a JupyterLab would show: the buttons, and the pages with their updates."""

    def __init__(self):
        self.pages, self.texts, self.buttons, self.quizzes = [], [], [], []

    def display(self, data, **options):
        place = len(self.pages)
        self.texts.append(data.get("text/plain", ""))
        self.pages.append(data.get("text/html", ""))

        def update(bundle, raw):
            self.pages[place] = bundle["text/html"]

        return SimpleNamespace(update=update)


@pytest.fixture
def screen(monkeypatch):
    import ipywidgets

    screen = Screen()
    monkeypatch.setenv("JPY_SESSION_NAME", "02_throughput.ipynb")
    monkeypatch.setattr(
        "callbacks.live.place.current_shell", lambda: SimpleNamespace(kernel=None)
    )
    monkeypatch.setattr("IPython.display.display", screen.display)

    class Button(ipywidgets.Button):
        def __init__(self, **options):
            super().__init__(**options)
            screen.buttons.append(self)

    monkeypatch.setattr(ipywidgets, "Button", Button)
    monkeypatch.setattr(hints, "_asked", hints.Counter())
    monkeypatch.setattr(hints, "_buttons", {})
    return screen


def run(monkeypatch, seed):
    tell, confirm = messages.show_prediction, messages.confirm_prediction
    card = open_card(LAB, {"seed": seed}, {}, tell, confirm)
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    return card


def place_of_right(number):
    choices = QUESTIONS[number - 1]["choices"]
    return 1 + [choice.get("right", False) for choice in choices].index(True)


def test_the_next_day_the_quiz_and_the_end_know_what_was_done(screen, monkeypatch):
    yesterday = run(monkeypatch, 1)
    yesterday.check("2.1", True)
    yesterday.answer(1, place_of_right(1), True)
    yesterday.predict("share_of_peak", 0.5)
    yesterday.finish()
    run(monkeypatch, 2)
    made = []
    real = quiz.__globals__["live_quiz"]
    monkeypatch.setitem(
        quiz.__globals__, "live_quiz", lambda *asked: made.append(real(*asked)) or made[0]
    )
    quiz("02")
    _, first, second, *_ = made[0].children
    assert first.children[1].value == place_of_right(1) - 1
    assert RIGHT in first.children[2].value
    assert second.children[1].value is None
    assert screen.pages[-1].count("(your answer)") == 1
    session.finish()
    assert screen.texts[-1].startswith("Checks passed: 1 of 3 (1 in an earlier run)\n")
    assert "Quiz: 1 of 5 answered, 1 right at once" in screen.pages[-1]
    assert "Predictions: 1 of 5 made" in screen.pages[-1]


@pytest.mark.parametrize("how", ["papermill", "labs run"])
def test_what_is_stored_headless_does_not_depend_on_earlier_runs(how, screen, monkeypatch):
    yesterday = run(monkeypatch, 1)
    yesterday.check("2.1", True)
    yesterday.answer(1, 1, True)
    run(monkeypatch, 2)
    if how == "papermill":
        monkeypatch.delenv("JPY_SESSION_NAME")
    else:
        monkeypatch.setenv("LABS_NOTEBOOK", "notebooks/02_throughput.ipynb")
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda page: shown.append(page.data))
    quiz("02")
    assert shown == [static_quiz(QUESTIONS)]
    monkeypatch.setattr("IPython.display.display", screen.display)
    session.finish()
    assert screen.texts[-1].startswith("Checks passed: 0 of 3\n")
    session.current_card().predict("share_of_peak", 0.5)
    assert "noted" not in "".join(screen.texts)


def test_a_prediction_that_was_taken_is_confirmed(screen, monkeypatch):
    card = run(monkeypatch, 1)
    card.predict("share_of_peak", 0.5)
    line = "Your prediction 0.5 is noted; it will be locked when you measure."
    assert screen.texts == [line]
    assert line in screen.pages[0]
    assert '<div role="status">' in screen.pages[0], "it is read out"


def test_a_double_click_shows_one_hint(screen, monkeypatch):
    card = run(monkeypatch, 1)
    check("2.3", lambda points: 1 / 0)
    [button] = screen.buttons
    button.click()
    button.click()
    assert card.content["hints"] == {"2.3": [1]}
    monkeypatch.setattr(hints, "PAUSE_SECONDS", 0)
    button.click()
    assert card.content["hints"] == {"2.3": [1, 2]}


def test_one_button_goes_through_the_hints_to_the_solution(screen, monkeypatch):
    monkeypatch.setattr(hints, "PAUSE_SECONDS", 0)
    card = run(monkeypatch, 1)
    monkeypatch.setattr(cell_errors, "source_of_answer", lambda exercise: "def mine(): ...")
    check("2.3", lambda points: 1 / 0)
    assert "hint(" not in screen.pages[0], "the button says it"
    [button] = screen.buttons
    assert button.description == "Hint 1 of 3 (2 left after it)"
    hint("2.3")
    assert len(screen.buttons) == 1
    assert button.description == "Hint 2 of 3 (1 left after it)"
    button.click()
    assert button.description == "Hint 3 of 3 (none left after it)"
    button.click()
    assert card.content["hints"] == {"2.3": [1, 2, 3]}
    assert as_html(find_exercise("2.3").hints[2]).strip()[:40] in screen.pages[2]
    assert button.description == "Show our solution (no hint left)"
    button.click()
    assert button.disabled
    assert "labs-solution" in screen.pages[2]
    assert screen.pages[2].count("flex: 1 1 ") == 2
    read = re.sub("<[^>]+>", "", screen.pages[2])
    assert "def mine(): ..." in read
    assert "def fit_throughput(points):" in read
    assert card.content["hints"] == {"2.3": [1, 2, 3]}


def test_after_another_check_the_hints_that_were_read_are_folded_above_the_next(
    screen, monkeypatch
):
    monkeypatch.setattr(hints, "PAUSE_SECONDS", 0)
    run(monkeypatch, 1)
    check("2.3", lambda points: 1 / 0)
    for _ in range(2):
        screen.buttons[-1].click()
    check("2.3", lambda points: 2 / 0)
    button, page = screen.buttons[-1], screen.pages[-1]
    assert button.description == "Hint 3 of 3 (none left after it)"
    folded = re.search(r"<details>(.*)</details>", page, re.S)[1]
    assert "<summary>Hints 1 to 2, which you have read for 2.3</summary>" in folded
    for hint_read in find_exercise("2.3").hints[:2]:
        assert as_html(hint_read).strip()[:40] in folded
    button.click()
    assert folded in screen.pages[-1], "they stay"
    # The next day, in another kernel.
    monkeypatch.setattr(hints, "_asked", hints.Counter())
    run(monkeypatch, 2)
    check("2.3", lambda points: 3 / 0)
    assert "Hints 1 to 3, which you have read" in screen.pages[-1]
    assert screen.buttons[-1].description == "Show our solution (no hint left)"


def test_the_solution_waits_for_a_pass_or_the_third_hint(screen, monkeypatch, capsys):
    card = run(monkeypatch, 1)
    show_solution("2.3")
    assert "after the third hint" in capsys.readouterr().out
    card.hint("2.3", 3)
    run(monkeypatch, 2)  # the next day
    show_solution("2.3")
    assert "Our solution of 2.3:\n\ndef fit_throughput" in screen.texts[-1]
    reference = find_exercise("2.3").reference
    check("2.3", lambda points: reference(points))
    assert screen.buttons[-1].description == "Show our solution"
    screen.buttons[-1].click()
    assert "labs-solution" in screen.pages[-1]


def test_pythons_error_is_named_only_where_there_is_one(screen, monkeypatch):
    run(monkeypatch, 1)
    check("2.3", lambda points: 1 / 0)
    assert "Read Python's error above" in screen.texts[0]
    check("2.3", lambda points: None)
    last = next(text for text in reversed(screen.texts) if text.startswith("✗"))
    assert "raised" not in last
    assert "error above" not in last


def test_a_lab_that_is_done_is_celebrated_and_one_without_a_pass_is_not_green(
    screen, monkeypatch
):
    card = run(monkeypatch, 1)
    session.finish()
    assert "labs-message-unfinished" in screen.pages[-1]
    assert "success" not in screen.pages[-1]
    assert "<svg" not in screen.pages[-1]
    for number in ("2.1", "2.2", "2.3"):
        card.check(number, True)
    for number in range(1, len(QUESTIONS) + 1):
        card.answer(number, 1, number != 3)
    session.finish()
    assert "done all of lab 02, but 1 answer is not right yet." in screen.pages[-1]
    assert "<svg" not in screen.pages[-1]
    card.answer(3, 2, True)
    card.measure("products_per_second", 7.04e9)
    monkeypatch.setenv(session.SERVED, "/base/start")
    session.finish()
    page = screen.pages[-1]
    assert "You have done all of lab 02!" in page
    assert "<svg" in page
    assert "Your machine: 7.04 billion products per second" in page
    assert 'href="/base/start/certificate"' in page


def test_the_end_follows_what_is_answered_after_it(screen, monkeypatch):
    card = run(monkeypatch, 1)
    for number in ("2.1", "2.2", "2.3"):
        card.check(number, True)
    _, *groups = live_quiz(QUESTIONS).children
    session.finish()
    assert "Quiz: 0 of 5 answered; still open" in screen.pages[-1]
    for group, question in zip(groups, QUESTIONS, strict=True):
        right = [bool(one.get("right")) for one in question["choices"]]
        group.children[1].value = right.index(False)
        assert 'class="labs-wrong">✗' in group.children[2].value
        group.children[1].value = right.index(True)
        assert 'class="labs-right">✓' in group.children[2].value
    assert "Quiz: 5 of 5 answered, " in screen.pages[-1]
    assert "You have done all of lab 02!" in screen.pages[-1]
    run(monkeypatch, 2)
    before = list(screen.pages)
    groups[0].children[1].value = 1
    assert screen.pages == before, "another run has an end of its own"


def test_the_first_message_says_how_far_the_student_is(screen, monkeypatch):
    from helpers.notebook.end_message import at_the_start

    card = run(monkeypatch, 1)
    card.check("2.1", True)
    text, page = at_the_start(LAB, session.done_so_far(), "/start")
    assert text == "Lab 02: 1 of 8 exercises and questions done"
    assert '<a href="#Exercise-2.2:-sweep-the-batch-size"' in page
    assert '<a href="/start" style="text-decoration: underline">Start page</a>' in page


@pytest.mark.parametrize("place", ["variable", "project"])
@pytest.mark.parametrize(
    ("address", "linked"),
    [
        ("https://example.org/?a=1&b=2", "https://example.org/?a=1&amp;b=2"),
        ("mailto:me@example.org", "mailto:me@example.org"),
        ("javascript:alert(1)", ""),
        ("me@example.org", ""),
        ("", ""),
    ],
)
def test_the_end_links_to_where_the_owner_wants_feedback(
    screen, monkeypatch, tmp_path, place, address, linked
):
    from helpers.notebook import end_message

    project = tmp_path / "pyproject.toml"
    monkeypatch.setattr(end_message, "PROJECT", project)
    monkeypatch.delenv(end_message.FEEDBACK, raising=False)
    if place == "variable":
        project.write_text('[tool.scaling-labs]\nfeedback = "https://example.org/another"')
        monkeypatch.setenv(end_message.FEEDBACK, address)
    else:
        project.write_text(f'[tool.scaling-labs]\nfeedback = "{address}"')
    card, done = run(monkeypatch, 1), session.done_so_far()
    shown = end_message.lines(card.content, done)
    page = end_message.page("Checks passed", done, shown, ("next.ipynb", "Next"))
    assert ("Send feedback on lab 02" in page) == bool(linked)
    assert f'<a href="{linked}"' in page or not linked
    assert "javascript" not in page
