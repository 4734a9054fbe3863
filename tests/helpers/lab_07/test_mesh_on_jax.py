"""Lab 07's mesh: what JAX gives, what is recorded, and what a compiled text says."""

import json

import pytest

from helpers.errors import LabError
from helpers.lab_07 import mesh_on_jax
from helpers.lab_07.reference import shard_of
from helpers.machine import jax_process, meshes

LAYOUTS = {
    "one device": {"mesh": {"data": 1}, "weights": {}},
    "data parallel": {"mesh": {"data": 8}, "weights": {}},
    "2 x 4": {
        "mesh": {"data": 2, "model": 4},
        "weights": {
            "hidden/kernel": (None, "model"),
            "hidden/bias": ("model",),
            "classes/kernel": ("model", None),
        },
    },
}
PROGRAM = """
  %all-reduce.1 = (f32[], /*index=1*/f32[256,784]{1,0}) all-reduce(%a, %b), channel_id=1
  ROOT %all-gather = bf16[8,10]{1,0} all-gather-start(%c), dimensions={0}
  %fusion = f32[4]{0} fusion(%all-reduce.1), kind=kLoop
"""


def recorded():
    return json.loads(mesh_on_jax.RECORDED.read_text(encoding="utf-8"))


@pytest.mark.weekly
def test_the_recorded_results_are_those_that_jax_gives():
    stored = recorded()["mlp"]["layouts"]
    found = mesh_on_jax.compare(LAYOUTS, "mlp", batch=1024, steps=1, seed=0)
    for name, one in found.items():
        assert one["losses"] == pytest.approx(stored[name]["losses"][:1], rel=1e-5)
        for part in ("collectives", "messages", "bytes", "arrays"):
            assert one[part] == stored[name][part], (name, part)


def test_a_device_of_jax_holds_what_the_reference_says():
    meshes = {
        "one device": {"data": 1},
        "data parallel": {"data": 8},
        "2 x 4": {"data": 2, "model": 4},
        "fully sharded": {"data": 8},
    }
    for name, one in recorded()["mlp"]["layouts"].items():
        for array in one["arrays"].values():
            parts = [
                list(map(list, shard_of(array["shape"], array["spec"], meshes[name], i)))
                for i in range(len(array["parts"]))
            ]
            assert parts == array["parts"]


def test_all_layouts_have_the_losses_of_one_device():
    for of_one_network in recorded().values():
        layouts = of_one_network["layouts"]
        for one in layouts.values():
            due = layouts["one device"]["losses"]
            assert one["losses"] == pytest.approx(due, rel=1e-5)


def test_without_jax_the_recorded_numbers_come_with_a_line(monkeypatch, capsys):
    monkeypatch.setattr(jax_process, "find_spec", lambda name: None)
    found = mesh_on_jax.compare(LAYOUTS, "cnn", batch=1024, steps=3, seed=0)
    assert found == recorded()["cnn"]["layouts"]
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("JAX is not installed here")
    assert "another machine" in line


@pytest.mark.weekly  # lab 11 asks the same of its layouts in `make test`
def test_a_layout_for_a_weight_that_is_not_there_is_a_line():
    wrong = {"mesh": {"data": 8}, "weights": {"hiden/kernel": ("data", None)}}
    with pytest.raises(LabError, match="the network has no weight hiden/kernel"):
        mesh_on_jax.compare({"typo": wrong}, "mlp", batch=8, steps=1, seed=0)


def test_messages_are_read_from_a_compiled_program():
    found = meshes.collectives(PROGRAM)
    assert found["collectives"] == {"all-reduce": 1, "all-gather": 1}
    assert found["messages"] == [
        {"kind": "all-reduce", "arrays": 2, "bytes": 4 + 4 * 256 * 784},
        {"kind": "all-gather", "arrays": 1, "bytes": 160},
    ]
