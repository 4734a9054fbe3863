"""Parameters are refused in one line that says what is allowed."""

import pytest

from helpers.errors import ParameterError
from helpers.parameters import (
    assigned_names,
    at_scale,
    check_given,
    check_parameters,
    defaults,
    own_parameters,
    rules_of,
)
from kit.headless.given_parameters import declared
from kit.labs import all_labs, find_lab

each_lab = pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)


@pytest.mark.parametrize(
    ("number", "name", "value", "says"),
    [
        ("02", "batch_size", 0, "from 1 to 60,000"),
        ("02", "batch_size", True, "whole number"),
        ("02", "batch_size", "32", "whole number"),
        ("02", "epochs", -1, "from 1 to 10,000"),
        ("02", "scale", "huge", "auto, gpu, laptop, smoke"),
        ("02", "target_accuracy", 85, "between 0 and 1"),
        ("02", "depth", 15, "6n \\+ 4"),
        ("03", "batch_sizes", [8, 8], "rising"),
        ("03", "batch_sizes", [], "list"),
        ("03", "batch_sizes", 8, "list"),
        ("02", "learning_rate", 0, "number from"),
        ("02", "learning_rate", float("nan"), "number from"),
        ("02", "shift", 0.9, "0.5"),
        ("02", "flip", 1, "True or False"),
        ("02", "width", None, "whole number"),
        ("06", "alpha", True, "one of 0.35"),
        ("05", "replicas", 10**30, "from 1 to 64"),
        ("05", "gpu_indices", [0, 10**30], "from 0 to 63"),
        ("02", "depth", 3004, "at most 100"),
        ("02", "width", 64, "from 1 to 20"),
        (
            "02",
            "sweep_batch_sizes",
            list(range(1, 10**5)),
            r"at most 100 entries, .*\.\.\.\.$",
        ),
        ("02", "learning_rate", 10**400, "number from"),
        ("02", "epoch", 3, "no parameter 'epoch'"),
    ],
)
def test_a_wrong_parameter_is_refused_with_the_rule(number, name, value, says):
    with pytest.raises(ParameterError, match=says) as error:
        check_parameters({name: value}, number, tuple(rules_of(number)))
    assert "\n" not in str(error.value)


@each_lab
def test_every_whole_number_has_an_upper_bound_and_a_short_refusal(lab):
    given, _ = declared(lab)
    for name, rule in rules_of(lab.name).items():
        for huge in (10**30, [10**30], 10**5000, "9" * 10**5, [0] * 10**5):
            if isinstance(huge, str) and name == "log_dir":
                continue
            with pytest.raises(ParameterError, match=name) as error:
                check_parameters({name: huge}, lab.name, tuple(given))
            assert len(str(error.value)) < 400
            assert not rule.allows(huge)
    with pytest.raises(ParameterError, match="not a number of thousands of digits"):
        check_parameters({"epochs": 10**5000}, lab.name, ("epochs",))


@each_lab
def test_a_whole_number_is_taken_as_a_float_where_a_float_is_meant(lab):
    """Keras refuses momentum=0, and a rate of 1 is no float."""
    given, sizes = declared(lab)
    usual = at_scale(given, sizes, "laptop")
    floats = [name for name, value in usual.items() if isinstance(value, float)]
    for name in floats:
        fitting = next((n for n in (0, 1) if rules_of(lab.name)[name].allows(n)), None)
        if fitting is not None:
            taken = check_parameters(given | {name: fitting}, lab.name, tuple(given), given)
            assert (type(taken[name]), taken[name]) == (float, fitting)
    assert ("learning_rate" in given) == ("learning_rate" in floats)


def test_a_list_is_kept_as_one_as_the_run_card_reads_it_back():
    """Else the card of an interrupted run would never be that of the same parameters."""
    [taken] = check_parameters({"batch_sizes": (8, 16)}, "03", ("batch_sizes",)).values()
    assert taken == [8, 16]


def test_a_deleted_line_is_named():
    given, _ = declared(find_lab("02"))
    assert own_parameters(given | {"other": 1}, "02_throughput") == given
    del given["flip"], given["seed"]
    with pytest.raises(ParameterError, match=r"no line for seed, flip: put it back"):
        own_parameters(given, "02_throughput")


@pytest.mark.parametrize("where", ["{}/file", "{}/file/logs", "{}/" + "n" * 300, "\0"])
def test_a_log_folder_is_asked_for_before_anything_runs(where, tmp_path):
    (tmp_path / "file").write_text("")
    given, sizes = declared(find_lab("02"))
    check_given(given | {"log_dir": str(tmp_path / "new" / "logs")}, "02_throughput", sizes)
    with pytest.raises(ParameterError, match="log_dir") as error:
        wrong = given | {"log_dir": where.format(tmp_path)}
        check_given(wrong, "02_throughput", sizes)
    assert "\n" not in str(error.value)


def test_batches_that_cannot_be_made_are_refused_before_anything_runs():
    for number, wrong, says in (
        ("05", {"global_batches": [32, 48]}, "multiples of the first"),
        ("05", {"replicas": 8, "batch_size": 400}, "8 replicas times batch_size 400"),
        ("06", {"batch_size": 600}, "more than the 512 valid_images"),
    ):
        lab = find_lab(number)
        given, sizes = declared(lab)
        with pytest.raises(ParameterError, match=says):
            check_given(given | {"scale": "laptop"} | wrong, lab.name, sizes)


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


def test_a_value_that_fits_at_no_scale_is_refused_before_the_device_is_known(monkeypatch):
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
    with pytest.raises(ParameterError, match="LABS_SCALE must be one of"):
        check_given(given | {"batch_size": 5}, "02", sizes)


def test_parameters_are_found_however_they_are_assigned():
    assert defaults("# Parameters\na = 1\nb: int = None\nprint(a)\n") == {"a": 1, "b": None}
    assert assigned_names("# Parameters\na = float('nan')\n") == ["a"]
