"""Whatever the answer needs of a student's other cells is there, and nothing else runs."""

import os
import sys

import pytest

from kit.grading.box.cells_in_box import answer_of, pieces_before

SETUP = ["import numpy as np", "import numpy", "import math", "import types", "import time",
         "lab = types.SimpleNamespace(epochs=3)"]  # fmt: skip

# A cell above the exercise, its own cell, and what `f(2)` gives. All run as notebooks.
HONEST = {
    "counter": (
        "calls = 0",
        "def f(x):\n    global calls\n    calls += 1\n    return calls",
        1,
    ),
    "filled_below": ("S = {}\nS['eps'] = 0.5", "def f(x):\n    return x + S['eps']", 2.5),
    "filled_in_another_cell": (
        "S = {}",
        "# %%\nS['eps'] = 0.5",
        "def f(x):\n    return x + S['eps']",
        2.5,
    ),
    "updated": ("S = dict()\nS.update(eps=0.5)", "def f(x):\n    return x + S['eps']", 2.5),
    "attribute": ("class S: pass\nS.eps = 0.5", "def f(x):\n    return x + S.eps", 2.5),
    "appended_in_a_loop": (
        "S = []\nfor n in range(3):\n    S.append(n)",
        "def f(x):\n    return x + sum(S)",
        5,
    ),
    "augmented": ("S = 1\nS += 2", "def f(x):\n    return x + S", 5),
    "import_if_there": (
        "try:\n    import missing_module as m\nexcept ImportError:\n    import math as m",
        "def f(x):\n    return m.floor(x + 0.5)",
        2,
    ),
    "definition_in_an_if": (
        "if lab.epochs > 2:\n    def g(x):\n        return x + 1\nelse:\n    g = abs",
        "def f(x):\n    return g(x)",
        3,
    ),
    "definition_in_a_for": (
        "for k in (1, 2):\n    def g(x, k=k):\n        return x + k",
        "def f(x):\n    return g(x)",
        4,
    ),
    "power": ("EPS = 10 ** -30", "def f(x):\n    return x + EPS", 2),
    "product": ("HOUR = 60 * 60", "def f(x):\n    return x * HOUR", 7200),
    "namedtuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'a b')",
        "def f(x):\n    return P(x, 1).a",
        2,
    ),
    "partial": (
        "from functools import partial\ng = partial(max, 5)",
        "def f(x):\n    return g(x)",
        5,
    ),
    "another_name": (
        "fit = np.polyfit",
        "def f(x):\n    return round(fit([0, 1], [0, x], 1)[0])",
        2,
    ),
    "logger": (
        "import logging\nlog = logging.getLogger('mine')\nlog.setLevel('ERROR')",
        "def f(x):\n    log.info('here')\n    return x",
        2,
    ),
    "array": ("start = np.zeros(1)", "def f(x):\n    return float(start[0] + x)", 2),
    "random_numbers": (
        "rng = np.random.default_rng(0)",
        "def f(x):\n    return x if rng.random() < 2 else 0",
        2,
    ),
    "of_a_file": (
        "with open('/dev/null') as file:\n    text = file.read()",
        "def f(x):\n    return x + len(text)",
        2,
    ),
    "decorator": (
        "from functools import wraps\n"
        "def twice(g):\n    @wraps(g)\n    def h(x):\n        return 2 * g(x)\n"
        "    return h",
        "@twice\ndef f(x):\n    return x",
        4,
    ),
    "value_of_a_value": ("a = max(1, 2)\nb = a + 1", "def f(x):\n    return x + b", 5),
    "function_of_the_lab": ("half = lab.epochs / 2", "def f(x):\n    return x + half", 3.5),
}


def answer(cells, own, seconds=40.0):
    notebook = [*(("", cell) for cell in cells), ("2.3", own)]
    pieces = pieces_before(notebook, "2.3", "f", SETUP)
    return answer_of(pieces, own, "2.3", "f", SETUP, seconds)


@pytest.fixture(autouse=True)
def same_main(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.mark.parametrize("name", HONEST)
def test_the_parts_that_an_answer_needs_are_there(name):
    *cells, own, due = HONEST[name]
    found, problem = answer(cells, own)
    assert problem is None
    assert found(2) == due


@pytest.mark.parametrize(
    "trial",
    [
        "for x in range(9):\n    ran.append(x)",
        "x = ran.append(1)",
        "np.set_printoptions(ran.append(1))",
        "y = [x for x in ran.append(1)]",
        "def g():\n    pass\ng(ran.append(1))",
    ],
)
def test_the_parts_that_no_answer_needs_do_not_run(trial, monkeypatch):
    """A parameter or a variable of its own is not the trial's name."""
    ran = []
    monkeypatch.setitem(__builtins__, "ran", ran)
    own = "def f(x):\n    y = np.sum([x for x in (x, 1)])\n    return y"
    found, problem = answer([trial], own)
    assert problem is None and found(2) == 3
    assert not ran


def test_a_lab_keeps_its_own_names():
    own = "def f(x):\n    return lab.epochs"
    for cell in (
        "lab.epochs = 7",
        "lab = None",
        "np.lab = 3",
        "lab.__dict__.update(epochs=9)",
    ):
        assert answer([cell], own)[0](2) == 3


def test_a_line_below_cannot_change_what_is_above():
    notebook = [("", "S = [1]"), ("2.3", "def f(x):\n    return S"), ("", "S.append(2)"),
                ("", "S = 3")]  # fmt: skip
    own = notebook[1][1]
    pieces = pieces_before(notebook, "2.3", "f", SETUP)
    found, _ = answer_of(pieces, own, "2.3", "f", SETUP, 40.0)
    assert found(2) == [1]


def test_many_slow_parts_leave_time_for_the_answer():
    cells = [f"v{n} = time.sleep(9)" for n in range(9)]
    names = ", ".join(f"v{n}" for n in range(9))
    own = f"def f(x):\n    return x\nneeds = lambda: ({names})"
    began = os.times().elapsed
    found, problem = answer(cells, own, seconds=2.0)
    assert problem is None and found(2) == 2
    assert os.times().elapsed - began < 2 * 0.7


@pytest.mark.parametrize("where", ["other", "below"])
def test_the_output_of_a_trial_is_cut(where, capfd):
    loud = "import os\nfor n in range(9):\n    os.write(1, b'loud\\n')\n"
    own = "def f(x):\n    return x"
    cells = [loud + "n = n + 0"] if where == "other" else []
    own = own + "\ng = lambda: n" if where == "other" else f"{own}\n{loud}"
    _, problem = answer(cells, own)
    assert problem is None
    os.write(1, b"shown\n")
    assert capfd.readouterr().out == "shown\n"
