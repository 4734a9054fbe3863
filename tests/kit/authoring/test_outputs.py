"""What `labs outputs` stores must be the lab as it is meant."""

import re

import pytest

from helpers.errors import LabError
from helpers.run_card.documents import open_card
from kit.authoring.outputs import _refuse_other_runs, store_outputs
from kit.labs import all_labs, find_lab

LAB = find_lab("02")


def a_run(scale="laptop", passed=True, finished=True):
    card = open_card(LAB.name, {"scale": scale}, {})
    card.measure("data_source", "fashion-mnist")
    card.check("2.1", passed)
    if finished:
        card.finish()
    return card.content


def test_the_outputs_of_a_whole_run_are_stored():
    _refuse_other_runs(LAB, a_run(), "laptop")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"scale": "smoke"}, "at smoke scale, not laptop"),
        ({"passed": False}, "a check of its own solution failed"),
        ({"finished": False}, "did not reach its end"),
    ],
)
def test_other_outputs_are_not_stored_over_the_kept_ones(changed, says):
    with pytest.raises(LabError, match=says):
        _refuse_other_runs(LAB, a_run(**changed), "laptop")


@pytest.mark.slow
def test_a_lab_on_synthetic_data_is_left_as_soon_as_that_is_known(monkeypatch, capfd):
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    lab = find_lab("04")
    before = lab.solution.read_bytes()
    with pytest.raises(LabError, match="synthetic data"):
        store_outputs(lab, "smoke")
    assert lab.solution.read_bytes() == before
    done, cells = re.findall(r"(\d+)/(\d+) cells", capfd.readouterr().out)[-1]
    assert int(done) < int(cells) / 2


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_stored_outputs_name_the_usual_folder_of_run_cards(lab):
    """Not the temporary one of `labs outputs`, neither in text nor in HTML."""
    named = re.findall(r"Run card: ([^/]*)/", lab.solution.read_text(encoding="utf-8"))
    assert named == ["runs", "runs"]
