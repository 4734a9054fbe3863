"""What a reader wrote in a notebook can be called in another process."""

import json
import subprocess
import sys
import threading
import types

import pytest

from helpers.exercise import find_exercise
from helpers.files import REPOSITORY
from helpers.workers import own_functions

CELLS = """
import functools
import numpy as np

FACTOR = np.array([3.0])

class Scaled:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return float(self.by * FACTOR[0] * x)

def plain(x):
    return Scaled(2)(x)

def twice(function):
    @functools.wraps(function)
    def inside(x):
        return 2 * function(x)
    return inside

@twice
def decorated(x):
    return plain(x) if x < 100 else decorated(x / 2)

an_object = Scaled(5)
partial = functools.partial(lambda by, x: by * plain(x), 7)

def maker():
    inner = 11
    return lambda x: inner * x
nested = maker()

@functools.cache
def cached(x):
    return x
def uses_cached(x):
    return cached(x)
"""
CALL = """
import json, sys
from pathlib import Path
import numpy
from helpers.workers import own_functions
for name, function in own_functions.read(Path(sys.argv[1])).items():
    said = function(*json.loads(sys.argv[2]))
    print(name, list(said) if isinstance(said, numpy.ndarray) else said)
print("tensorflow" in sys.modules)
"""
TRAVEL = ("plain", "decorated", "an_object", "partial", "nested")


@pytest.fixture
def cells(monkeypatch):
    """A notebook's names."""
    notebook = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    exec(CELLS, notebook.__dict__)
    return notebook


def called_elsewhere(folder, *given):
    command = [sys.executable, "-c", CALL, str(folder), json.dumps(given)]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_whatever_a_cell_defines_another_process_can_call(cells, tmp_path):
    functions = {name: getattr(cells, name) for name in TRAVEL}
    own_functions.write(tmp_path, **functions)
    said = [f"{name} {function(1.5)}" for name, function in functions.items()]
    assert called_elsewhere(tmp_path, 1.5) == [*said, "False"]


def test_a_reference_goes_without_the_module_that_imports_tensorflow(tmp_path):
    worker_shard = find_exercise("9.2").reference
    own_functions.write(tmp_path, worker_shard=worker_shard)
    given = 7, 1, 0, 2, 3
    said = f"worker_shard {list(worker_shard(*given))}"
    assert called_elsewhere(tmp_path, *given) == [said, "False"]


def test_each_copy_has_its_own_memory(cells):
    exec("seen = []\ndef note(x):\n    seen.append(x)\n    return len(seen)", vars(cells))
    content = own_functions.packed(note=cells.note)
    assert [own_functions.unpacked(content)["note"](1) for _ in range(3)] == [1, 1, 1]


def test_a_function_that_cannot_be_copied_ends_in_a_line(cells, tmp_path):
    cells.lock = threading.Lock()
    exec("def locked(x):\n    with lock:\n        return x", vars(cells))
    for function in (cells.locked, cells.uses_cached):
        with pytest.raises(own_functions.CannotTravelError) as error:
            own_functions.write(tmp_path, answer=function)
        assert "answer cannot be copied to another process" in str(error.value)
        assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())
