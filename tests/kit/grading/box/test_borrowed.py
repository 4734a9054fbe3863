"""Answers that are taken from the course's own packages are marked."""

import pytest

from kit.grading.box.cells_in_box import borrowed, pieces_before
from kit.labs import find_lab
from kit.todo_cells import reference_names, setup, todo_cells

LAB_01 = "helpers.lab_01.reference"


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
        ("2.1", "from callbacks import *", ["callbacks.*"]),
        ("1.1", "from helpers.lab_01.reference import gradient", [LAB_01]),
        ("1.1", "from helpers.lab_01 import reference as r", [LAB_01]),
        ("1.1", "import helpers.lab_01.reference as r", [LAB_01]),
        ("1.1", "r = __import__('helpers.lab_01', fromlist=['reference'])", [LAB_01]),
        ("1.1", "m = import_module('.reference', 'helpers.lab_01')", [LAB_01]),
        ("1.1", "def gradient():\n    from helpers.lab_01 import reference", [LAB_01]),
        ("1.1", "from helpers.lab_01 import figures", []),
        (
            "2.3",
            "try:\n    from helpers.lab_02.reference import fit_throughput as f\n"
            "except ImportError:\n    f = None",
            ["helpers.lab_02.reference"],
        ),
    ],
)
def test_a_reference_is_found_however_it_is_imported(exercise, cell, marks):
    assert marked({exercise: cell}, exercise) == marks


STAR = "from helpers.lab_02.reference import *"
ALL = "helpers.lab_02.reference.*"
FIT = "def fit_throughput(points):\n    return 0.005, 1000.0"


@pytest.mark.parametrize(
    ("cells", "marks"),
    [
        ({"2.1": STAR, "2.3": FIT}, []),
        ({"2.1": STAR, "2.3": "x = 1"}, [ALL]),
        ({"2.1": STAR, "2.3": f"f = fit_throughput\n{FIT}"}, [ALL]),
        ({"2.1": STAR, "2.3": f"eval('1')\n{FIT}"}, [ALL]),
        ({"2.1": f"{STAR}\nfrom callbacks import PrintThroughput", "2.3": FIT}, []),
        (
            {"2.1": f"{STAR}\ndef half():\n    return 0.5", "2.3": f"half()\n{FIT}"},
            [ALL],
        ),
    ],
)
def test_importing_everything_marks_only_exercises_that_may_use_a_name_of_it(cells, marks):
    assert marked(cells, "2.3") == marks


def marked(cells, exercise):
    lab = find_lab(exercise.split(".")[0])
    answer = next(one.answer for one in todo_cells(lab) if one.number == exercise)
    pieces = pieces_before(list(cells.items()), exercise, answer, setup(lab))
    return borrowed(pieces, cells[exercise], answer, reference_names(lab))
