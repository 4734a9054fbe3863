"""Parameters are refused in one line that says what is allowed."""

import pytest

from helpers.errors import ParameterError
from helpers.parameters import (
    assigned_names,
    at_scale,
    check_given,
    check_parameters,
    defaults,
    rules_of,
)
from kit.labs import all_labs, find_lab
from kit.parameters import declared

each_lab = pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)


@pytest.mark.parametrize(
    ("number", "name", "value", "says"),
    [
        ("02", "batch_size", 0, "from 1 up"),
        ("02", "batch_size", True, "whole number"),
        ("02", "batch_size", "32", "whole number"),
        ("02", "epochs", -1, "from 1 up"),
        ("02", "scale", "huge", "auto, gpu, laptop, smoke"),
        ("02", "target_accuracy", 85, "between 0 and 1"),
        ("02", "depth", 15, "6n\\+4"),
        ("03", "batch_sizes", [8, 8], "rising"),
        ("03", "batch_sizes", [], "list"),
        ("03", "batch_sizes", 8, "list"),
        ("02", "learning_rate", 0, "number from"),
        ("02", "learning_rate", float("nan"), "number from"),
        ("02", "shift", 0.9, "0.5"),
        ("02", "flip", 1, "True or False"),
        ("02", "width", None, "whole number"),
        ("02", "epoch", 3, "no parameter 'epoch'"),
    ],
)
def test_a_wrong_parameter_is_refused_with_the_rule(number, name, value, says):
    with pytest.raises(ParameterError, match=says) as error:
        check_parameters({name: value}, number, tuple(rules_of(number)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("number", "wrong"),
    [
        ("02", {"batch_size": 512}),
        ("03", {"batch_sizes": [8, 512]}),
        ("05", {"global_batches": [8, 512]}),
    ],
)
def test_a_batch_larger_than_the_training_set_is_refused(number, wrong):
    with pytest.raises(ParameterError, match=r"512 is larger .* 256"):
        check_parameters({"train_images": 256} | wrong, number, tuple(rules_of(number)))


def test_lab_07_refuses_a_global_batch_larger_than_the_training_set():
    given, sizes = declared(find_lab("07"))
    few = {"scale": "laptop", "train_images": 1000, "batch_size": 128}
    with pytest.raises(ParameterError, match=r"8 cores times batch_size 128 .* 1,000"):
        check_given(given | few, "07_tpu_cores", sizes)
    check_given(given | few | {"replicas": 7}, "07_tpu_cores", sizes)


def test_newswires_are_a_training_set_and_a_sweep_repeats_its_own():
    with pytest.raises(ParameterError, match=r"64 is larger .* 32 newswires"):
        wrong = {"train_newswires": 32, "batch_size": 64}
        check_parameters(wrong, "04", tuple(rules_of("04")))
    fine = {"train_images": 256, "sweep_batch_sizes": [512]}
    check_parameters(fine, "02", tuple(rules_of("02")))


def test_none_is_for_what_the_scale_says():
    check_parameters({"width": None}, "02", ("width",), optional=("width",))
    given, sizes = {"width": None, "depth": 16}, {"smoke": {"width": 1, "depth": 10}}
    assert at_scale(given, sizes, "smoke") == {"width": 1, "depth": 16, "scale": "smoke"}


@each_lab
def test_every_parameter_of_a_lab_has_a_rule_and_keeps_it_at_every_scale(lab, monkeypatch):
    given, sizes = declared(lab)
    assert set(given) == set(rules_of(lab.name))
    for scale in ("smoke", "laptop", "gpu"):
        check_given(given | {"scale": scale}, lab.name, sizes)
        # Those that are None by default may be given as None.
        monkeypatch.setenv("LABS_SCALE", scale)
        check_given(given, lab.name, sizes)


def test_what_fits_at_no_scale_is_refused_before_it_is_known_what_computes(monkeypatch):
    monkeypatch.delenv("LABS_SCALE")
    sizes = {"laptop": {"train_images": 100}, "gpu": {"train_images": 1000}}
    sizes["smoke"] = sizes["laptop"]
    given = {"scale": "auto", "train_images": None}
    check_given(given | {"batch_size": 500}, "02", sizes)
    with pytest.raises(ParameterError, match="5,000 is larger"):
        check_given(given | {"batch_size": 5000}, "02", sizes)
    monkeypatch.setenv("LABS_SCALE", "smoke")
    with pytest.raises(ParameterError, match="500 is larger"):
        check_given(given | {"batch_size": 500}, "02", sizes)
    monkeypatch.setenv("LABS_SCALE", "huge")
    with pytest.raises(ParameterError, match="scale must be one of"):
        check_given(given | {"batch_size": 5}, "02", sizes)


def test_parameters_are_found_however_they_are_assigned():
    assert defaults("# Parameters\na = 1\nb: int = None\nprint(a)\n") == {"a": 1, "b": None}
    assert assigned_names("# Parameters\na = float('nan')\n") == ["a"]
