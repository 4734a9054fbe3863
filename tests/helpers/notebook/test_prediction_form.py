"""The form that locks a prediction gives what the way in code would give."""

from types import SimpleNamespace

import pytest

from helpers.errors import RunCardError
from helpers.notebook import prediction_form as the_module
from helpers.notebook.prediction_form import NOT_LIVE, ask, prediction_form
from helpers.run_card.documents import open_card, read_card

CURVE = {8: None, 64: None}


@pytest.fixture
def asked():
    """What the card would have shown: (kind, value, lock) of each question."""
    return []


@pytest.fixture
def card(asked):
    return open_card("02_throughput", {}, {}, ask=lambda *question: asked.append(question))


def form_of(asked):
    form = prediction_form(*asked[-1])
    *fields, button, reply = form.children
    return fields, button, reply


def stored(card, name):
    return read_card(card.path)["predictions"][name]


def test_what_is_locked_in_the_form_stands(card, asked):
    card.predict("share_of_peak", None)
    [field], button, reply = form_of(asked)
    field.value = "0,4"  # many write a comma
    button.click()
    assert "Locked." in reply.value
    assert button.disabled
    assert field.disabled
    entry = stored(card, "share_of_peak")
    assert entry["value"] == 0.4
    assert entry["locked_unix_seconds"]
    assert card.predict("share_of_peak", None) == 0.4
    assert len(asked) == 1, "what is locked is not asked again"


def test_each_name_has_a_field(card, asked):
    card.predict("throughput_over_usual", CURVE)
    fields, button, reply = form_of(asked)
    assert [field.description for field in fields] == ["8", "64"]
    fields[1].value = "2"
    button.click()
    assert "Still empty: 8." in reply.value
    assert stored(card, "throughput_over_usual")["locked_unix_seconds"] is None
    button.click()
    assert stored(card, "throughput_over_usual")["value"] == {"64": 2}
    assert card.predict("throughput_over_usual", CURVE) == {64: 2}


@pytest.mark.parametrize("given", ["1,000", "12,500", "-1,024"])
def test_a_comma_that_may_mean_a_thousand_is_asked_about(card, asked, given):
    card.predict("share_of_peak", None)
    [field], button, reply = form_of(asked)
    field.value = given
    button.click()
    assert f"{given} may mean {given.replace(',', '')} or" in reply.value
    assert not button.disabled


@pytest.mark.parametrize("given", ["", "much", "-3", "[1]", "__import__('os')", "9" * 500])
def test_what_the_way_in_code_refuses_is_refused_in_the_form(card, asked, given):
    card.predict("share_of_peak", None)
    [field], button, reply = form_of(asked)
    field.value = given
    button.click()
    if given == "[1]":  # one number is a list of one, too
        assert "Locked." in reply.value
        return
    assert 'role="alert"' in reply.value
    assert "Locked." not in reply.value
    assert not button.disabled
    entry = stored(card, "share_of_peak")
    assert entry["value"] is None
    assert entry["locked_unix_seconds"] is None


def test_a_form_that_comes_after_the_measurement_says_so(card, asked):
    card.predict("share_of_peak", None)
    card.lock("share_of_peak")
    [field], button, reply = form_of(asked)
    field.value = "0.4"
    button.click()
    assert "came after the measurement" in reply.value
    assert stored(card, "share_of_peak")["value"] is None


def test_yes_and_no_are_buttons(card, asked):
    card.predict("law_holds_at_48", None)
    [field], button, _ = form_of(asked)
    assert [label for label, _ in field.options] == ["yes", "no"]
    field.value = False
    button.click()
    assert stored(card, "law_holds_at_48")["value"] is False


@pytest.mark.parametrize("value", [None, {}, dict.fromkeys(range(99))])
def test_what_a_form_cannot_show_has_none(value):
    assert prediction_form("ratios", value, print) is None


def test_nothing_is_asked_where_there_is_a_prediction(card, asked):
    card.predict("share_of_peak", 0.5)
    assert not asked
    with pytest.raises(RunCardError):
        card.predict("share_of_peak", "much")
    assert not asked


def test_in_jupyterlab_the_message_names_the_form_and_follows_it(monkeypatch, capsys):
    monkeypatch.setenv("JPY_SESSION_NAME", "02_throughput.ipynb")
    pages, forms = [], []

    def display(bundle, **options):
        place = len(pages)
        pages.append(bundle.get("text/html", ""))

        def update(bundle, raw):
            pages[place] = bundle["text/html"]

        return SimpleNamespace(update=update)

    def keep_form(*question):
        forms.append(prediction_form(*question))
        return forms[-1]

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(the_module, "prediction_form", keep_form)
    card = open_card("02_throughput", {}, {}, ask=ask)
    card.predict("share_of_peak", None)
    assert capsys.readouterr().out == "", "the form says it"
    message, live, kept = pages
    assert "type it below and press Lock" in message
    assert NOT_LIVE in kept
    field, button, _ = forms[0].children
    field.value = "much"
    button.click()
    assert pages == [message, live, kept], "it is still open"
    field.value = "0.4"
    button.click()
    assert "Your prediction 0.4 is locked" in pages[0]
    assert NOT_LIVE not in pages[2]


def test_elsewhere_the_card_says_that_there_is_no_prediction(monkeypatch, capsys):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    open_card("02_throughput", {}, {}, ask=ask).predict("share_of_peak", None)
    assert "write one in place of None" in capsys.readouterr().out
