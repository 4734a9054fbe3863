"""`labs parameters` shows what a lab takes, and what it shows may be given."""

import pytest

from helpers.parameters import check_given
from kit.headless.given_parameters import declared
from kit.headless.lab_parameters import SCALES, parameters_of, show_parameters
from kit.labs import all_labs


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_every_parameter_is_shown_with_values_that_the_lab_takes(lab, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    show_parameters(lab)
    printed = capsys.readouterr().out
    usual, sizes = declared(lab)
    shown = parameters_of(lab)
    assert [one.name for one in shown] == list(usual)
    for one in shown:
        assert one.name in printed
        assert all(str(value) in printed for value in one.values.values())
        assert one.allowed in printed
        assert "None:" not in one.meaning
    for scale in SCALES:
        given = {one.name: one.values[scale] for one in shown}
        check_given(usual | given, lab.name, sizes)


def test_the_values_of_each_scale_and_the_comments_are_those_of_the_lab():
    [lab] = [lab for lab in all_labs() if lab.number == "03"]
    meanings = {one.name: one.meaning for one in parameters_of(lab)}
    values = {one.name: one.values for one in parameters_of(lab)}
    assert values["epochs"] == {"smoke": 2, "laptop": 12, "gpu": 20}
    assert values["repeats"] == {"smoke": 5, "laptop": 5, "gpu": 5}
    assert meanings["epochs"] == "at most, for each run"
    assert meanings["batch_sizes"] == "of the race"
    assert meanings["target_accuracy"] == ""
