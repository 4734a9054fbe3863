"""The form that locks a prediction gives what the way in code would give."""

import re
from types import SimpleNamespace
from typing import NamedTuple

import nbformat
import pytest

from helpers.errors import RunCardError
from helpers.notebook import prediction_form as the_module
from helpers.notebook import session
from helpers.notebook.prediction_form import (
    NOT_LIVE,
    PROBLEM,
    REFUSED,
    ask,
    prediction_form,
)
from helpers.run_card import predictions
from helpers.run_card.documents import open_card, read_card
from helpers.run_card.prediction_kinds import choices_of, kind_of
from helpers.texts import read_texts
from kit.labs import all_labs

CURVE = {8: None, 64: None}


@pytest.fixture
def asked():
    """What the card would have shown: (name, kind, value, lock) of each question."""
    return []


@pytest.fixture
def card(asked):
    return open_card("02_throughput", {}, {}, ask=lambda *question: asked.append(question))


def form_of(asked, label="{}"):
    """Fields, button, and all that the form says, below its fields and at its end."""
    form = prediction_form(*asked[-1][1:], label=label)
    *rows, button, reply = form.children
    fields, reasons = rows[::2], rows[1::2]
    return fields, button, Said(reasons, reply)


class Said(NamedTuple):
    reasons: list
    reply: object

    @property
    def value(self):
        return "".join(one.value for one in (*self.reasons, self.reply))


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


def test_all_wrong_fields_are_told_at_once_and_each_below_its_field(card, asked):
    card.predict("throughput_over_usual", {8: None, 16: None, 64: None})
    label = read_texts("02")["prediction_labels"]["throughput_over_usual"]
    fields, button, said = form_of(asked, label)
    assert [one.description for one in fields] == [f"batch size {n}" for n in (8, 16, 64)]
    for field, given in zip(fields, ("xx", "2", "1,000"), strict=True):
        field.value = given
    button.click()
    first, second, third = said.reasons
    assert "Write one number above 0, such as 0.5, not “xx”." in first.value
    assert "1,000 may mean 1000 or 1.000" in third.value
    assert [one.layout.display for one in said.reasons] == [None, "none", None]
    assert [REFUSED in field._dom_classes for field in fields] == [True, False, True]
    assert said.reply.value == second.value == ""
    fields[0].value, fields[2].value = "1", "3"
    button.click()
    assert "Locked." in said.reply.value
    assert {one.layout.display for one in said.reasons} == {"none"}


def test_what_is_no_number_is_refused_before_an_empty_field_is_asked_about(card, asked):
    card.predict("throughput_over_usual", CURVE)
    fields, button, reply = form_of(asked)
    fields[0].value = "xx"
    button.click()
    assert "Write one number above 0, such as 0.5, not “xx”." in reply.value
    assert "Still empty" not in reply.value
    assert [REFUSED in field._dom_classes for field in fields] == [True, False]
    fields[0].value = "1.5"
    button.click()
    assert not any(REFUSED in field._dom_classes for field in fields)


LEAVERS = "batch_sizes_that_leave_the_saddle"


@pytest.mark.parametrize(
    ("given", "value"), [("none", []), ("[]", []), ("16, 256", [16, 256]), (" ", None)]
)
def test_an_empty_list_is_asked_about_and_none_says_none(asked, given, value):
    card = open_card("01_gradient_descent", {}, {}, ask=lambda *one: asked.append(one))
    card.predict(LEAVERS, None)
    [field], button, reply = form_of(asked)
    assert field.placeholder.endswith("or none")
    field.value = given
    button.click()
    assert stored(card, LEAVERS)["value"] == value
    assert ("There is no prediction yet" in reply.value) == (value is None)
    assert button.disabled == (value is not None)
    assert (PROBLEM in reply.value) == (value is None)


def test_a_form_takes_a_comma_and_does_not_ask_for_a_point(card, asked):
    card.predict("share_of_peak", None)
    [field], button, reply = form_of(asked)
    field.value = "much"
    button.click()
    assert "Write one number above 0, such as 0.5, not “much”." in reply.value
    field.value = "0,5"
    button.click()
    assert stored(card, "share_of_peak")["value"] == 0.5


def test_two_commas_are_said_as_they_were_typed(card, asked):
    card.predict("share_of_peak", None)
    [field], button, reply = form_of(asked)
    field.value = "1,5,5"
    button.click()
    assert "1,5,5" in reply.value


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


def test_words_that_the_lab_names_are_buttons(asked):
    name = "variables_that_differ"
    card = open_card("06_many_gpus_loop", {}, {}, ask=lambda *one: asked.append(one))
    card.predict(name, {"trained": None, "others": None})
    form = prediction_form(*asked[-1][1:], choices_of("06_many_gpus_loop", name))
    trained, _, others, _, button, _ = form.children
    assert tuple(trained.options) == ("none", "some", "all")
    trained.value, others.value = "all", "some"
    button.click()
    assert stored(card, name)["value"] == {"trained": "all", "others": "some"}


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.number)
def test_a_form_does_not_ask_with_a_bare_number(lab):
    labels = read_texts(lab.number)["prediction_labels"]
    for asked in re.finditer(r"^(\w+) = \{[^{}]*?\b\d+: None", source_of(lab), re.M):
        name = re.search(rf'predict\("(\w+)", {asked[1]}\)', source_of(lab))[1]
        assert name in labels, "its quiz.toml says in prediction_labels what a number is"


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.number)
def test_a_title_of_a_form_is_of_a_prediction(lab):
    for name in read_texts(lab.number)["prediction_titles"]:
        assert kind_of(lab.name, name), name


def source_of(lab):
    return lab.source.read_text(encoding="utf-8")


@pytest.mark.parametrize("value", [None, {}, dict.fromkeys(range(99))])
def test_what_a_form_cannot_show_has_none(value):
    assert prediction_form("ratios", value, print) is None


def test_nothing_is_asked_where_there_is_a_prediction(card, asked):
    card.predict("share_of_peak", 0.5)
    assert not asked
    with pytest.raises(RunCardError):
        card.predict("share_of_peak", "much")
    assert not asked


@pytest.fixture
def pages(monkeypatch):
    """What a notebook in JupyterLab shows, each place as it was last changed."""
    monkeypatch.setenv("JPY_SESSION_NAME", "02_throughput.ipynb")
    pages = []

    def display(bundle, **options):
        place = len(pages)
        pages.append(bundle.get("text/html", ""))

        def update(bundle, raw):
            pages[place] = bundle["text/html"]

        return SimpleNamespace(update=update)

    monkeypatch.setattr("IPython.display.display", display)
    return pages


def of_this_lab(ask):
    """The form as a run card of this lab asks for it."""
    return lambda name, *question: ask(*question)


def test_in_jupyterlab_the_message_names_the_form_and_follows_it(
    pages, monkeypatch, capsys
):
    forms = []

    def keep_form(*question):
        forms.append(prediction_form(*question))
        return forms[-1]

    monkeypatch.setattr(the_module, "prediction_form", keep_form)
    card = open_card("02_throughput", {}, {}, ask=of_this_lab(ask))
    card.predict("share_of_peak", None)
    assert capsys.readouterr().out == "", "the form says it"
    message, live, kept = pages
    assert "type it below and press Lock" in message
    assert NOT_LIVE in kept
    field, _, button, _ = forms[0].children
    field.value = "much"
    button.click()
    assert pages == [message, live, kept], "it is still open"
    field.value = "0.4"
    button.click()
    assert "Your prediction 0.4 is locked" in pages[0]
    assert NOT_LIVE not in pages[2]


def test_the_reason_why_a_late_one_is_not_scored_stands_once(pages, monkeypatch):
    forms = []
    monkeypatch.setattr(
        "callbacks.live.picture.display_live",
        lambda shown: forms.append(shown.children[-1]) or (lambda page: None),
    )
    card = open_card("02_throughput", {}, {}, ask=of_this_lab(ask))
    card.predict("share_of_peak", None)
    card.lock("share_of_peak")
    field, _, button, reply = forms[0].children
    field.value = "0.4"
    button.click()
    assert "came after the measurement" in pages[0]
    assert "Kept, but not scored." in reply.value
    assert "came after" not in reply.value


def test_elsewhere_the_card_says_that_there_is_no_prediction(monkeypatch, capsys):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    open_card("02_throughput", {}, {}, ask=of_this_lab(ask)).predict("share_of_peak", None)
    assert "write one in place of None" in capsys.readouterr().out


def test_the_next_day_the_form_says_what_was_predicted_before(pages, monkeypatch):
    def run():
        card = open_card("02_throughput", {}, {}, ask=session._ask)
        monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
        return card

    first = run()
    first.predict("share_of_peak", 0.4)
    first.outcome("share_of_peak", 0.5)
    first.finish()
    second = run()
    second.predict("share_of_peak", None)
    of_first = "your prediction 0.4, measured 0.5: off by a factor of 1.25"
    assert any(of_first in page and "predict again" in page for page in pages)
    second.predict("law_holds_at_48", None)
    assert "No prediction yet" in pages[-3], "nothing was predicted before"


def test_what_was_withdrawn_in_this_run_is_not_called_earlier(pages, monkeypatch):
    card = open_card("02_throughput", {}, {}, ask=session._ask)
    monkeypatch.setattr(session, "_current", SimpleNamespace(card=card))
    card.predict("share_of_peak", 0.4)
    card.predict("share_of_peak", None)
    assert any("No prediction yet" in page for page in pages)
    assert not any("earlier run" in page for page in pages)


def test_what_was_not_measured_in_an_earlier_run_is_said_too():
    made = predictions.new_entry()
    assert predictions.of_an_earlier_run(made) == ""
    assert predictions.of_an_earlier_run(None) == ""
    predictions.make(made, 0.4, 1.0)
    assert predictions.of_an_earlier_run(made).endswith(
        "your prediction 0.4, not measured."
    )


CELLS = {
    "both": ("mine = None\nguess = card.predict('share_of_peak', mine)", 0.4, 0.4),
    "one": ("mine = None\nmine = card.predict('share_of_peak', mine)", 0.4, None),
    "no name": ("card.predict('share_of_peak', None)", None, None),
    "another": ("mine = None\nguess = card.predict('first_epoch', mine)", None, None),
}


@pytest.mark.parametrize("cell", CELLS)
def test_what_the_form_locks_gets_the_names_of_its_cell(monkeypatch, cell):
    source, mine, guess = CELLS[cell]
    names = {"In": ["", source], "mine": None, "guess": None}
    shell = SimpleNamespace(user_ns=names)
    monkeypatch.setattr("callbacks.live.place.current_shell", lambda: shell)
    the_module.names_of_cell("share_of_peak")(0.4)
    assert (names["mine"], names["guess"]) == (mine, guess)


PREDICTS = re.compile(r'^(?:\w+ = )?card\.predict\("(\w+)", (\w+)\)', re.M)


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.number)
def test_after_lock_a_cell_has_the_names_that_it_has_if_one_types_instead(lab, monkeypatch):
    """Also where it goes on computing with the prediction, as lab 02 does."""
    shell = SimpleNamespace(user_ns={})
    monkeypatch.setattr("callbacks.live.place.current_shell", lambda: shell)
    for cell in nbformat.read(lab.notebook, as_version=4).cells:
        if " = card.predict(" not in cell.source:
            continue
        found = PREDICTS.findall(cell.source)
        card = SimpleNamespace(predict=lambda name, value: told(value))
        typed = {"card": card, "usual": 10.0}
        exec(re.sub(r"\bNone\b", "3.0", cell.source), typed)
        own = shell.user_ns = {"card": card, "usual": 10.0, "In": [cell.source]}
        exec(cell.source, own)
        for name, asked in found:
            the_module.names_of_cell(name)(typed[asked])
        for one in typed.keys() - {"card", "__builtins__"}:
            assert own[one] == typed[one], (found, one)


def told(value):
    """What `card.predict` returns: nothing where there is no prediction yet."""
    is_open = isinstance(value, dict) and all(one is None for one in value.values())
    return None if is_open else value


def test_a_name_that_has_another_value_keeps_it_and_empty_entries_are_left_out(monkeypatch):
    names = {
        "In": ["my = {8: None, 64: None}; other = card.predict('curve', my)"],
        "my": {8: None, 64: None}, "other": None,
    }  # fmt: skip
    shell = SimpleNamespace(user_ns=names)
    monkeypatch.setattr("callbacks.live.place.current_shell", lambda: shell)
    bind = the_module.names_of_cell("curve")
    bind({8: None, 64: 2})
    assert names["my"] == {8: None, 64: 2}
    assert names["other"] == {64: 2}
    bind({8: 1, 64: 1})
    assert names["other"] == {64: 2}
    for odd in ("%time 3 +", "x = (", ""):
        names["In"] = [odd]
        the_module.names_of_cell("curve")({8: 1})
