"""A process in which Keras computes with JAX, and a machine that has no JAX."""

import subprocess
import sys
import textwrap

import pytest

from helpers.errors import LabError
from helpers.files import REPOSITORY
from helpers.machine import jax_process

WORK = """
import os
import sys
import keras, jax

def work(job):
    print("a line that is no result")
    if job.get("fails"):
        raise ValueError("the job fails")
    if job.get("waits"):
        import time; time.sleep(60)
    return {"devices": len(jax.devices()), "backend": keras.backend.backend(),
            "tensorflow": sys.modules.get("tensorflow") is not None, "job": job}
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "work_of_a_test.py").write_text(textwrap.dedent(WORK))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "work_of_a_test"


def test_the_work_is_done_on_jax_with_so_many_devices_and_its_prints_do_no_harm(module):
    result = jax_process.call(module, {"a": [1, None]}, devices=3)
    assert result == {
        "devices": 3, "backend": "jax", "tensorflow": False, "job": {"a": [1, None]},
    }  # fmt: skip


def test_an_error_there_is_a_line_here(module):
    with pytest.raises(LabError, match="on JAX failed: ValueError: the job fails"):
        jax_process.call(module, {"fails": True})


def test_work_that_takes_too_long_is_ended(module):
    with pytest.raises(LabError, match=r"still running after 0\.1 s"):
        jax_process.call(module, {"waits": True}, limit_seconds=0.1)


def test_without_jax_it_says_so_in_a_line(module, monkeypatch):
    monkeypatch.setattr(jax_process, "find_spec", lambda name: None)
    with pytest.raises(jax_process.NoJaxError, match=r"^JAX is not installed here; `make"):
        jax_process.call(module, {})


def test_a_jax_that_cannot_be_imported_is_a_line(module, tmp_path):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("raise ImportError('no such\\nchip')")
    with pytest.raises(jax_process.NoJaxError, match="cannot be imported here: no such"):
        jax_process.call(module, {})


def test_tensorflow_does_not_bring_jax_but_others_can_import_it():
    code = """
import sys
from helpers.machine.quiet_tensorflow import silence_tensorflow
silence_tensorflow()
assert "tensorflow" in sys.modules and "jax" not in sys.modules
import jax
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)


def test_keras_on_jax_is_whole_where_tensorflow_imports_it():
    code = """
import os
os.environ["KERAS_BACKEND"] = "jax"
from helpers.machine.quiet_tensorflow import silence_tensorflow
silence_tensorflow()
import keras
assert float(keras.Variable(1.0) + 1) == 2
"""
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)
