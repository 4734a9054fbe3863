"""A prediction counts if it was made before its measurement, and then as it was made."""

import ast
import json
import re

import numpy as np
import pytest

from helpers.errors import RunCardError
from helpers.files import REPOSITORY
from helpers.notebook.messages import prediction
from helpers.run_card import documents, predictions
from helpers.run_card.documents import open_card, read_card
from helpers.run_card.predictions import (
    MOST_ENTRIES,
    MOST_LATER,
    MOST_LETTERS,
    locked,
    score,
)

LABS = sorted((REPOSITORY / "labs").glob("[0-9]*.py"))
MADE = [1.5, 0, False, "linear", [1, 16], [], {8: 1.5, "x": "y"}, {1: [2, 3]}]


@pytest.fixture
def clock(monkeypatch):
    """Seconds since 1970 that each test sets."""
    now = {"unix_seconds": 1e9}
    monkeypatch.setattr(documents.time, "time", lambda: now["unix_seconds"])
    return now


@pytest.fixture
def card():
    return open_card("02_x", {}, {})


def stored(card, name="it"):
    return read_card(card.path)["predictions"][name]


def said(capsys):
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "placeholder", [None, {}, {8: None, 16: None}, [None], (None, None), "", " "]
)
def test_a_placeholder_is_not_a_prediction_and_the_lab_says_so(placeholder, card, capsys):
    assert card.predict("it", placeholder) is None
    assert said(capsys).count("No prediction yet") == 1
    card.lock("it")
    card.outcome("it", 2.0)
    assert said(capsys) == ""
    assert stored(card)["value"] is None
    assert stored(card)["outcome"] == 2.0
    assert "factor_off" not in stored(card)
    assert predictions.how_they_went(card.content) == ""


@pytest.mark.parametrize("value", MADE, ids=str)
def test_a_prediction_is_returned_and_nothing_is_printed(value, card, capsys):
    assert card.predict("it", value) == value
    card.lock("it")
    assert card.predict("it", value) == value
    assert said(capsys) == ""
    assert stored(card)["later"] == []


def test_a_dict_comes_back_with_its_own_keys_and_without_placeholders(card):
    given = {8: 1.0, "16": 2.0, "late": None, np.int64(32): 3.0}
    assert card.predict("it", given) == {8: 1.0, "16": 2.0, 32: 3.0}
    card.lock("it")
    assert card.predict("it", {8: None, "16": 5.0}) == {8: 1.0, "16": 2.0, 32: 3.0}
    assert card.predict("it", None) == {8: 1.0, 16: 2.0, 32: 3.0}


def test_before_the_lock_the_last_value_counts_with_the_time_it_was_first_said(card, clock):
    for now, value, since in ((1, 2.0, 1), (2, 2.0, 1), (3, 4.0, 3), (4, 4.0, 3)):
        clock["unix_seconds"] = now
        assert card.predict("it", value) == value
        assert (stored(card)["value"], stored(card)["unix_seconds"]) == (value, since)
    assert card.predict("it", None) is None
    assert stored(card)["value"] is stored(card)["unix_seconds"] is None


@pytest.mark.parametrize("value", MADE, ids=str)
@pytest.mark.parametrize("by", ["lock", "outcome"])
def test_after_the_lock_a_changed_prediction_is_kept_but_not_scored(
    value, by, card, clock, capsys
):
    card.predict("it", value)
    clock["unix_seconds"] += 1
    card.lock("it") if by == "lock" else card.outcome("it", "something else")
    said(capsys)
    before = {k: v for k, v in stored(card).items() if k != "later"}
    for later in ("first", "first", "second"):
        clock["unix_seconds"] += 1
        assert card.predict("it", later) == value
        assert "stands" in said(capsys)
    assert card.predict("it", None) == value
    assert "later one" not in said(capsys)
    card.lock("it")
    kept = stored(card)
    assert [(one["value"], one["unix_seconds"]) for one in kept["later"]] == [
        ("first", 1e9 + 2),
        ("second", 1e9 + 4),
    ]
    assert {k: v for k, v in kept.items() if k != "later"} == before


def test_a_prediction_after_the_measurement_is_kept_and_not_scored(card, capsys):
    card.predict("it", None)
    card.lock("it")
    said(capsys)
    assert card.predict("it", None) is None
    assert "No prediction was made before" in said(capsys)
    for _ in range(2):
        assert card.predict("it", 2.0) is None
        assert "not scored" in said(capsys)
    card.outcome("it", 2.0)
    assert said(capsys) == ""
    assert [one["value"] for one in stored(card)["later"]] == [2.0]
    assert "factor_off" not in stored(card)
    assert predictions.how_they_went(card.content) == ""


def test_later_ones_are_bounded_and_the_newest_stay(card):
    card.predict("it", -1)
    card.lock("it")
    for value in range(MOST_LATER + 5):
        card.predict("it", value)
    kept = [one["value"] for one in stored(card)["later"]]
    assert kept == list(range(5, MOST_LATER + 5))


def test_an_interrupted_run_keeps_its_locks(card, clock):
    card.predict("it", 2.0)
    card.lock("it", "not asked yet")
    clock["unix_seconds"] += 86400
    again = open_card("02_x", {}, {})
    assert again.path == card.path
    assert again.predict("it", 3.0) == 2.0
    assert again.predict("not asked yet", 3.0) is None
    again.lock("it")
    assert stored(again)["locked_unix_seconds"] == 1e9


def test_the_line_gives_the_day_of_a_lock_that_is_not_of_today(card, capsys, clock):
    card.predict("it", 2.0)
    card.lock("it")
    card.predict("it", 3.0)
    assert "2001-09-" in said(capsys)


@pytest.mark.parametrize("earlier", [1.5, True, {"eager": 1.0}, {"value": 3}])
def test_a_plain_value_of_an_older_card_is_not_a_prediction(earlier, card, capsys):
    card.content["predictions"]["it"] = earlier
    assert predictions.how_they_went(card.content) == ""
    assert card.predict("it", None) is None
    assert "No prediction yet" in said(capsys)
    assert card.predict("it", 2.0) == 2.0


@pytest.mark.parametrize("guess", [2.0, 3, np.float32(0.5), 1e-9, 7e12])
@pytest.mark.parametrize("factor", [1.0, 1.01, 2.0, 1234.5])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_factor_is_the_same_for_too_much_and_too_little(guess, factor, sign, card):
    for name, measured in (("more", guess * factor), ("less", guess / factor)):
        card.predict(name, sign * guess)
        card.outcome(name, sign * measured)
        assert stored(card, name)["factor_off"] == pytest.approx(factor)


@pytest.mark.parametrize(
    ("guess", "measured", "difference"),
    [(0, 2.5, 2.5), (2.5, 0, 2.5), (-1, 2, 3), (1e-300, 1e99, 1e99)],
)
def test_where_a_factor_says_nothing_the_difference_is_said(
    guess, measured, difference, card, capsys
):
    card.predict("it", guess)
    card.outcome("it", measured)
    assert stored(card)["difference"] == difference
    assert "factor_off" not in stored(card)
    assert f"a difference of {predictions.number(difference)}." in said(capsys)
    assert predictions.how_they_went(card.content) == "1 of 6 made"
    json.loads(card.path.read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize("zero", [0, 0.0])
def test_zero_for_zero_is_exactly_right(zero, card, capsys):
    card.predict("it", zero)
    card.outcome("it", 0)
    assert stored(card)["factor_off"] == 1
    assert "exactly right" in said(capsys)


@pytest.mark.parametrize(
    ("guess", "measured", "choices", "right"),
    [
        (True, True, False, True),
        (True, np.bool_(False), False, False),
        ("Linear ", "linear", False, True),
        ("linear", "flat", False, False),
        ([16, 1], [1, 16], False, True),
        ([1, 16], [1, 16, 64], False, False),
        ([], [], False, True),
        ([], [1], False, False),
        (16, [16], False, True),
        ("twice", 2.0, False, False),
        (128, 512, True, False),
        (128.0, np.int64(128), True, True),
    ],
)
def test_an_outcome_that_is_not_a_number_is_right_or_wrong(
    guess, measured, choices, right, card, capsys
):
    card.predict("it", guess)
    card.outcome("it", measured, choices=choices)
    assert (stored(card)["right"], stored(card)["of"]) == (right, 1)
    assert "factor_off" not in stored(card)
    assert said(capsys).endswith(": right.\n" if right else ": wrong.\n")


def test_of_a_dict_the_median_factor_counts_for_the_keys_of_both(card, capsys):
    card.predict("it", {8: 10, 16: 10, 32: 10, 64: None, "never": 9})
    card.outcome("it", {8: 10, 16: 20, 32: 1000, 64: 5, 128: 7})
    assert stored(card)["factor_off"] == 2
    assert said(capsys).startswith("You predicted 3 of 4: ")


def test_what_the_lab_adds_is_not_said_to_be_left_out(card, capsys):
    card.predict("it", {8: None, 16: None})
    capsys.readouterr()
    card.predict("it", {8: 10, 16: 10})
    card.outcome("it", {8: 10, 16: 20, 32: 40})
    assert said(capsys).startswith("You predicted 2 of 2: ")


def test_a_locked_dict_is_bold_as_a_whole_and_names_its_last_value():
    value = {2**n: 0.5 for n in range(3, 11)}
    line, page = prediction(locked(value))
    assert "8 → 0.5, 16 → 0.5" in line
    assert "1024 → 0.5 is locked" in line
    assert re.search(r"<strong>Your prediction 8 → .* is locked; .*</strong>", page)
    longer = locked({f"a long name {n}": n for n in range(20)})
    assert re.search(r", and \d+ more is locked", longer)


@pytest.mark.parametrize(("choices", "kind"), [(True, "right"), (False, "factor_off")])
def test_numbers_in_a_dict_are_names_if_the_lab_says_so(choices, kind):
    found = score({"A": 4, "B": 1, "C": 2}, {"A": 4, "B": 16, "D": 5}, choices)
    assert kind in found
    assert not choices or found == {"right": 1, "of": 2}


def test_truths_and_numbers_in_one_dict_are_scored_apart():
    found = score({"a": True, "b": 1, "c": 0}, {"a": True, "b": 1, "c": False})
    assert found == {"factor_off": 1.0, "right": 1, "of": 2}


def test_a_dict_without_a_common_key_has_no_score(card, capsys):
    card.predict("it", {"a": 1})
    card.outcome("it", {"b": 1})
    assert score({"a": 1}, {"b": 1}) == {}
    assert said(capsys) == "You predicted 0 of 1.\n"


def test_the_first_outcome_counts_and_none_is_not_an_outcome(card, capsys):
    card.predict("it", 2.0)
    card.outcome("it", None)
    assert "no outcome" in said(capsys)
    card.outcome("it", 4.0)
    first = said(capsys)
    card.outcome("it", 4.0)
    assert said(capsys) == first
    card.outcome("it", 2.0)
    assert said(capsys) == f"{first.strip()} The first measurement counts.\n"
    assert (stored(card)["outcome"], stored(card)["factor_off"]) == (4.0, 2.0)


@pytest.mark.parametrize(
    "value",
    [
        "x" * (MOST_LETTERS + 1),
        [0] * (MOST_ENTRIES + 1),
        dict.fromkeys(range(MOST_ENTRIES + 1), 0),
        {"a": "x" * (MOST_LETTERS + 1)},
        [[1]],
        [{"a": 1}],
        {"a": {"b": 1}},
        {"a": [[1]]},
        10**101,
        float("nan"),
        np.array([1, np.inf]),
        {1, 2},
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_prediction_that_is_too_large_is_refused_in_one_line_and_spoils_nothing(
    value, card
):
    card.predict("it", 2.0)
    before = card.path.read_bytes()
    for store in (card.predict, card.outcome):
        with pytest.raises(RunCardError, match="'it'") as error:
            store("it", value)
        assert "\n" not in str(error.value)
    assert card.path.read_bytes() == before
    assert stored(card)["value"] == 2.0


@pytest.mark.parametrize("value", ["x" * MOST_LETTERS, list(range(MOST_ENTRIES))])
def test_every_line_is_short(value, card, capsys):
    card.predict("it", value)
    card.outcome("it", value)
    card.predict("it", 1)
    for line in said(capsys).splitlines():
        assert len(line) < 200


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.3149, "2.31"),
        (0.00012345, "0.000123"),
        (61234.5, "61,200"),
        (999.9, "1,000"),
        (608, "608"),
        (60_000, "60,000"),
        (-1234.5, "-1,230"),
        (3.0, "3"),
        (1e12, "1e+12"),
        (10**12, "1e+12"),
    ],
)
def test_a_number_has_three_digits(value, shown):
    assert predictions.number(value) == shown


def test_a_line_is_what_the_labs_show(card, capsys):
    card.predict("it", 1.5)
    card.outcome("it", 2.31)
    expected = "Your prediction 1.5, measured 2.31: off by a factor of 1.54.\n"
    assert said(capsys) == expected


def names_in(tree, method):
    """The names that `card.method(...)` is called with, as they are written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"card.{method}":
            yield from map(ast.unparse, node.args if method == "lock" else node.args[:1])


def placeholders(cell):
    """What the variables of the student, `my_...`, begin as, entry by entry."""
    for node in ast.parse(cell).body:
        if isinstance(node, ast.Assign) and ast.unparse(node).startswith("my_"):
            match node.value:
                case ast.Call():  # my_guess = card.predict("it", my_guess)
                    pass
                case ast.Dict(values=entries) | ast.Tuple(elts=entries):
                    yield from map(ast.unparse, entries)
                case ast.DictComp(value=entry) | entry:
                    yield ast.unparse(entry)


@pytest.mark.parametrize(
    "path",
    [*LABS, REPOSITORY / "kit/authoring/template/lab.py"],
    ids=lambda path: path.name,
)
def test_every_prediction_of_a_lab_begins_as_none_and_meets_its_outcome(path):
    text = path.read_text(encoding="utf-8")
    asked, locked, met = (
        sorted(set(names_in(ast.parse(text), method)))
        for method in ("predict", "lock", "outcome")
    )
    assert asked
    assert locked == asked
    assert met == asked
    cells = [cell.partition("\n")[2] for cell in text.split("# %%")]
    for cell in cells:
        if "card.predict(" in cell:
            assert set(placeholders(cell)) <= {"None"}


@pytest.mark.parametrize(
    ("guess", "measured", "choices"), [(64, 256, True), (9, 8.0, False)]
)
def test_a_prediction_that_is_not_refuted_counts_and_the_true_outcome_is_named(
    guess, measured, choices, card, capsys
):
    card.predict("it", guess)
    card.lock("it")
    for _ in range(2):
        card.outcome("it", measured, choices=choices, accepted=True)
    line = f"Your prediction {guess}, measured {measured:g}: within the uncertainty, "
    assert said(capsys) == 2 * f"{line}so it counts as right.\n"
    entry = stored(card)
    assert entry["outcome"] == measured
    assert entry["right" if choices else "factor_off"] == 1


def test_an_exact_prediction_that_is_accepted_is_simply_right(card, capsys):
    card.predict("it", 64)
    card.lock("it")
    card.outcome("it", 64, choices=True, accepted=True)
    assert said(capsys) == "Your prediction 64, measured 64: right.\n"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (512.5, "512.5"),
        (1e-5, "1e-05"),
        (1.0, "1"),
        (61234.5, "61,234.5"),
        (0.1 + 0.2, "0.3"),
    ],
)
def test_a_prediction_is_noted_as_it_was_written(value, written):
    assert predictions.noted(value).startswith(f"Your prediction {written} is noted")


def test_what_a_lab_asks_for_is_said_before_what_a_card_can_keep():
    card = open_card("05_many_gpus_fit", {}, {})
    with pytest.raises(RunCardError, match="True or False"):
        card.predict("accumulation_is_the_same", float("nan"))


def test_a_factor_beyond_a_million_says_no_more():
    assert predictions.factor_text(11.52) == "11.5"
    assert predictions.factor_text(4.9e27) == "more than a million"
