"""`labs parameters` shows what a lab takes, and what it shows may be given."""

import json
import re
import tomllib

import pytest

from helpers.parameters import check_given
from kit.headless.given_parameters import declared
from kit.headless.lab_parameters import (
    SCALES,
    meanings_of,
    parameters_of,
    show_parameters,
)
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
        assert one.allowed[1:] in printed
        assert f" {one.meaning} " in printed
        assert re.fullmatch(r"[A-Z].{10,}\.", one.meaning), one
    show_parameters(lab, as_json=True)
    assert json.loads(capsys.readouterr().out) == [one._asdict() for one in shown]
    for scale in SCALES:
        given = {one.name: one.values[scale] for one in shown}
        check_given(usual | given, lab.name, sizes)


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_lab_says_nothing_of_a_parameter_that_it_lacks(lab):
    own = tomllib.loads((lab.folder / "parameters.toml").read_text(encoding="utf-8"))
    assert set(own) <= set(declared(lab)[0])
    shared = set(meanings_of(lab)) - set(own)
    assert set(declared(lab)[0]) - set(own) <= shared


def test_the_values_and_meanings_are_those_of_the_lab():
    [lab] = [lab for lab in all_labs() if lab.number == "03"]
    meanings = {one.name: one.meaning for one in parameters_of(lab)}
    values = {one.name: one.values for one in parameters_of(lab)}
    assert values["epochs"] == {"smoke": 2, "laptop": 12, "gpu": 20}
    assert values["repeats"] == {"smoke": 5, "laptop": 5, "gpu": 5}
    assert meanings["epochs"] == "The largest number of epochs of each run."
    assert meanings["flip"] == "Whether training images are mirrored at random."
