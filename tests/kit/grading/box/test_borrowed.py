"""Answers that are taken from the course's own packages are marked."""

import pytest

from kit.grading.box.cells_in_box import borrowed
from kit.labs import find_lab
from kit.todo_cells import reference_names


@pytest.mark.parametrize(
    ("exercise", "cell", "marks"),
    [
        ("0.1", "from helpers.machine.devices import claim_gpu", ["claim_gpu"]),
        ("0.1", "from helpers.machine import devices as d", ["devices"]),
        ("0.1", "import helpers.machine.devices as d", ["helpers.machine.devices"]),
        ("0.1", "d = __import__('helpers.machine.devices')", ["helpers.machine.devices"]),
        ("0.1", "from helpers.errors import DeviceError", []),
        ("2.1", "import callbacks.throughput", ["callbacks.throughput"]),
        (
            "2.1",
            "from importlib import import_module as m\nm('x')\n"
            "import importlib\nimportlib.import_module('callbacks.throughput')",
            ["callbacks.throughput"],
        ),
        ("2.1", "model.fit(x, **{'callbacks': kept.get('callbacks')})", []),
        ("2.1", "from callbacks import EpochRecorder", []),
    ],
)
def test_a_reference_is_found_however_it_is_imported(exercise, cell, marks):
    names = reference_names(find_lab(exercise.split(".")[0]))
    assert borrowed([], cell, names) == marks
