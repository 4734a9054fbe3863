"""`labs parameters` shows what a lab takes, and what it shows may be given."""

import json
import re
import tomllib
from types import SimpleNamespace

import pytest

from helpers.errors import LabError
from helpers.parameters import check_given
from kit.headless.given_parameters import declared
from kit.headless.lab_parameters import (
    SCALES,
    meanings_of,
    parameters_of,
    show_parameters,
)
from kit.labs import all_labs, find_lab


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
    unused = own.pop("without_effect", [])
    assert {*own, *unused} <= set(declared(lab)[0])
    assert not set(own) & set(unused)


def test_a_parameter_of_which_nothing_is_said_is_named(tmp_path):
    lab = SimpleNamespace(
        name="03_time_to_accuracy", readable=find_lab("03").readable, folder=tmp_path
    )
    (tmp_path / "parameters.toml").write_text("")
    with pytest.raises(LabError, match="says nothing about batch_sizes, look_images"):
        meanings_of(lab)


def test_the_values_and_meanings_are_those_of_the_lab():
    [lab] = [lab for lab in all_labs() if lab.number == "03"]
    meanings = {one.name: one.meaning for one in parameters_of(lab)}
    values = {one.name: one.values for one in parameters_of(lab)}
    assert values["epochs"] == {"smoke": 2, "laptop": 12, "gpu": 20}
    assert values["repeats"] == {"smoke": 5, "laptop": 5, "gpu": 5}
    assert meanings["epochs"] == "The maximum number of epochs of each run."
    assert meanings["flip"] == "Whether training images are mirrored at random."
