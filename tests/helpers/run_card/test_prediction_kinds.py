"""A prediction of another kind than the lab asks for is refused, and locks nothing."""

import ast
import re

import numpy as np
import pytest

from helpers.errors import RunCardError
from helpers.run_card.documents import open_card, read_card
from helpers.run_card.prediction_kinds import OF_EACH_NAME, WRITE
from helpers.texts import read_texts
from kit.labs import all_labs

# For each kind a lab and a name that ask for it.
NUMBER = "02_throughput", "share_of_peak"
SIGNED = "04_custom_training_loop", "points_gained_by_stopping_at_accuracy"
AMOUNT = "05_many_gpus_fit", "difference_with_batch_norm"
FRACTION = "06_many_gpus_loop", "val_accuracy"
NUMBERS = "04_custom_training_loop", "times_as_fast_as_eager"
TRUTH = "02_throughput", "law_holds_at_48"
TRUTHS = "04_custom_training_loop", "another_order"
WORDS = "06_many_gpus_loop", "variables_that_differ"
LIST = "01_gradient_descent", "batch_sizes_thrown_out"
PLACES = "12_capstone", "places"


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        (NUMBER, 0.5),
        (NUMBER, 3),
        (SIGNED, -2),
        (AMOUNT, 0),
        (FRACTION, 1),
        (NUMBER, np.float32(0.5)),
        (NUMBER, np.int64(3)),
        (NUMBER, np.array(0.5)),
        (NUMBER, None),
        (NUMBER, ""),
        (NUMBERS, {"graph": np.float64(2.0), "jit_compile": None}),
        (NUMBERS, {"graph": None}),
        (TRUTH, False),
        (TRUTH, np.bool_(True)),
        (TRUTHS, {"cache, then shuffle": True}),
        (WORDS, {"trained": "some", "others": "all"}),
        (LIST, [16, 256]),
        (LIST, (16, 256)),
        (LIST, []),
        (LIST, 16),
        (LIST, np.array([1, 16])),
        (PLACES, {"momentum": 1, "one cycle": 2.0, "plain images": None}),
    ],
    ids=str,
)
def test_a_prediction_of_the_kind_asked_for_is_taken(asked, value):
    lab, name = asked
    open_card(lab, {}, {}).predict(name, value)


@pytest.mark.parametrize(
    ("asked", "value", "says"),
    [
        (NUMBER, (0, 5), "is 2 values, 0, 5, but .* with a point, not a comma"),
        (NUMBER, "0,5", "is the text '0,5', but .* with a point, not a comma"),
        (NUMBER, "12", "is the text '12', but .* without quotes, such as 0.5"),
        (NUMBER, -3, "is -3, but .* one number above 0"),
        (NUMBER, 0, "is 0, but .* one number above 0"),
        (AMOUNT, -0.1, "is -0.1, but .* 0 or more"),
        (FRACTION, 85, "is 85, but .* from 0 to 1"),
        (FRACTION, -0.1, "is -0.1, but .* from 0 to 1"),
        (NUMBERS, {"graph": -1}, "at 'graph', is -1, but .* above 0"),
        (NUMBER, "a lot", "is the text 'a lot', but .* one number"),
        (NUMBER, [], "is 0 values, .* one number"),
        (NUMBER, [0.5], "is 1 value, 0.5, but .* one number"),
        (NUMBER, np.array([1, 2, 3]), "is 3 values, 1, 2, 3, but .* one number"),
        (NUMBER, {"a": 1}, "is {'a': 1}, but .* one number"),
        (NUMBER, True, "is True, but .* one number"),
        (NUMBER, float("nan"), "is nan, but .* one number above 0"),
        (NUMBER, np.float32("inf"), "is inf, .* finite numbers. Write one, such as 0.5"),
        (NUMBER, 1j, "is a complex"),
        (NUMBERS, 2.0, r"is 2.0, but .* \{...\} as the cell had it, .* one number"),
        (NUMBERS, [2.0, 3.0], r"is 2 values, .* \{...\} as the cell had it"),
        (NUMBERS, {"graph": "2"}, "at 'graph', is the text '2', but .* one number"),
        (NUMBERS, {"graph": 1.0, "jit_compile": (0, 5)}, "at 'jit_compile', is 2 values"),
        (TRUTH, "True", "is the text 'True', but .* True or False, without quotes"),
        (TRUTH, 1, "is 1, but .* True or False"),
        (TRUTHS, {"cache, then shuffle": "no"}, "is the text 'no', .* True or False"),
        (
            WORDS,
            {"trained": 3},
            """at 'trained', is 3, but .* "none" or "some" or "all".""",
        ),
        (WORDS, {"others": "few"}, """is the text 'few', .* "none" or "some" or "all"."""),
        (LIST, "16, 256", r"is the text '16, 256', but .* such as \[16, 256\], or \[\]"),
        (LIST, ["16"], "is 1 value, '16', but .* a list of numbers"),
        (LIST, [True], "a list of numbers"),
        (LIST, [16, -1], "is 2 values, 16, -1, but .* a list of numbers above 0"),
        (LIST, -1, "is -1, but .* a list of numbers above 0"),
        (PLACES, {"momentum": 0}, "at 'momentum', is 0, but .* a whole number from 1"),
        (PLACES, {"momentum": 1, "one cycle": 1.5}, "is 1.5, but .* a whole number"),
        (PLACES, {"momentum": True}, "is True, but .* a whole number from 1"),
    ],
    ids=str,
)
def test_a_prediction_of_another_kind_is_refused_in_a_line_and_locks_nothing(
    asked, value, says
):
    lab, name = asked
    card = open_card(lab, {}, {})
    with pytest.raises(RunCardError, match=says) as error:
        card.predict(name, value)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"the prediction {name!r}")
    assert name not in read_card(card.path)["predictions"]
    for others in ((name,), ("other", name)):
        with pytest.raises(RunCardError, match="its measurement waits"):
            card.lock(*others)
    assert "other" not in read_card(card.path)["predictions"]
    card.predict(name, None)
    card.lock(name)
    with pytest.raises(RunCardError, match=says):
        card.predict(name, value)
    card.lock(name)  # it was locked before, and can be measured again


def test_an_earlier_prediction_waits_too_until_the_new_one_is_taken():
    lab, name = NUMBER
    card = open_card(lab, {}, {})
    card.predict(name, 0.5)
    with pytest.raises(RunCardError):
        card.predict(name, "0,6")
    with pytest.raises(RunCardError):
        card.lock(name)
    assert card.predict(name, 0.6) == 0.6
    card.lock(name)
    assert read_card(card.path)["predictions"][name]["value"] == 0.6


def asked_in(source):
    """For each prediction of a lab: its name, whether it begins as a dict, its cell."""
    for cell in source.split("\n# %%"):
        begins = {}
        tree = ast.parse(cell.partition("\n")[2])
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call):
                begins[ast.unparse(node.targets[0])] = node.value
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "card.predict":
                name, value = map(ast.unparse, node.args)
                name = re.sub(r"^f?'|_\{.*|'$", "", name)
                yield name, isinstance(begins.get(value), ast.Dict), cell


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_lab_says_of_each_prediction_what_its_cell_asks_for(lab):
    kinds = dict(read_texts(lab.number)["predictions"])
    for name, is_dict, cell in asked_in(lab.source.read_text(encoding="utf-8")):
        kind = kinds.pop(name)
        assert is_dict == (kind in OF_EACH_NAME)
        one = OF_EACH_NAME.get(kind, kind)
        assert one in WRITE
        if len(re.findall(r"= None|None}", cell)) == 1:
            assert (one == "truth") == ("True" in cell)
            assert (one == "list") == ("a list" in cell)
        assert (one == "word") == ('"some"' in cell)
    assert not kinds, "nobody asks for these"


@pytest.mark.parametrize("size", [0, -5, 2.5, True, "48", "0x", 10**9, None], ids=repr)
def test_a_prediction_about_a_size_that_cannot_be_measured_is_refused(size):
    name = f"law_holds_at_{size!r}"
    card = open_card("02_throughput", {}, {})
    says = r"^unseen_batch_size must be a whole number from 1 to 1,000,000, not .*\.$"
    with pytest.raises(RunCardError, match=says) as error:
        card.predict(name, True)
    assert repr(size) in str(error.value)
    with pytest.raises(RunCardError, match=says):  # the cell that measures, run alone
        card.lock("share_of_peak", name)
    assert not read_card(card.path)["predictions"]


def test_a_prediction_about_a_size_that_can_be_measured_is_taken():
    card = open_card("02_throughput", {}, {})
    for size in (1, 48, 1_000_000):
        card.predict(f"law_holds_at_{size}", True)
        card.lock(f"law_holds_at_{size}")
    assert len(read_card(card.path)["predictions"]) == 3


def test_a_training_of_one_epoch_scores_no_prediction_about_the_first_epoch():
    said, name = [], "first_epoch_over_others"
    card = open_card("02_throughput", {}, {}, said.append)
    card.predict(name, 0.5)
    card.lock(name)
    card.measure("epochs", {"train_seconds": [2.0]})  # it was stopped in the second
    card.outcome(name, 1.0)
    assert said == [
        "Your prediction 0.5 is not scored, because the training ended before its second "
        "epoch, so there is nothing to compare. It stands: measure again to score it."
    ]
    assert read_card(card.path)["predictions"][name]["outcome"] is None
    card.measure("epochs", {"train_seconds": [2.0, 1.0]})
    card.outcome(name, 0.5)
    assert read_card(card.path)["predictions"][name]["factor_off"] == 1
    card.measure("epochs", {"train_seconds": [2.0]})
    card.outcome(name, 1.0)  # the first measurement that counts has been made
    assert "measured 0.5" in said[-1]


def test_a_crossover_that_there_is_not_says_why_it_scores_no_prediction():
    said, name = [], "crossover_size"
    card = open_card("00_devices", {}, {}, said.append)
    card.predict(name, 64)
    card.lock(name)
    card.measure(name, None)
    card.outcome(name, None)
    assert "64 is not scored, because no size gave a clear gain" in said[0]
    card.measure(name, 128)
    card.outcome(name, 128)
    assert said[1] == "Your prediction 64, measured 128: off by a factor of 2."


def test_without_a_prediction_a_training_of_one_epoch_is_not_mentioned():
    said = []
    card = open_card("02_throughput", {}, {}, said.append)
    card.measure("epochs", {"train_seconds": [2.0]})
    card.outcome("first_epoch_over_others", 1.0)
    assert said == []
