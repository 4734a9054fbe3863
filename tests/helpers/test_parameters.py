"""Parameters are refused in one line that says what is allowed."""

import pytest

from helpers.errors import ParameterError
from helpers.parameters import RULES, assigned_names, check_parameters


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("batch_size", 0, "from 1 up"),
        ("batch_size", True, "whole number"),
        ("batch_size", "32", "whole number"),
        ("epochs", -1, "from 1 up"),
        ("scale", "huge", "auto, gpu, laptop, smoke"),
        ("target_accuracy", 85, "between 0 and 1"),
        ("depth", 15, "6n\\+4"),
        ("batch_sizes", [8, 8], "rising"),
        ("batch_sizes", [], "list"),
        ("batch_sizes", 8, "list"),
        ("learning_rate", 0, "number from"),
        ("learning_rate", float("nan"), "number from"),
        ("shift", 0.9, "0.5"),
        ("flip", 1, "True or False"),
        ("width", None, "whole number"),
        ("epoch", 3, "no parameter 'epoch'"),
    ],
)
def test_a_wrong_parameter_is_refused_with_the_rule(name, value, says):
    with pytest.raises(ParameterError, match=says) as error:
        check_parameters({name: value}, tuple(RULES), "02")
    assert "\n" not in str(error.value)


def test_a_batch_larger_than_the_training_set_is_refused():
    for wrong in (
        {"batch_size": 512},
        {"batch_sizes": [8, 512]},
        {"global_batches": [8, 512]},
    ):
        with pytest.raises(ParameterError, match=r"512 is larger .* 256"):
            check_parameters({"train_images": 256} | wrong, tuple(RULES), "02")
    with pytest.raises(ParameterError, match=r"64 is larger .* 32 newswires"):
        check_parameters({"train_newswires": 32, "batch_size": 64}, tuple(RULES), "04")
    check_parameters({"train_images": 256, "sweep_batch_sizes": [512]}, tuple(RULES), "02")


def test_none_is_for_what_the_scale_says():
    check_parameters({"width": None}, tuple(RULES), "02", optional=("width",))


def test_names_are_found_however_they_are_assigned():
    assert assigned_names("# Parameters\na = 1\nb: int = 2\nprint(a)\n") == ["a", "b"]
