"""A worker that dies costs no test, and the run ends."""

import re
import subprocess
import sys

import pytest

from helpers.files import REPOSITORY
from tests.asked import only

# The first new worker reads its tests so slowly that the other old worker has died, too,
# and the second new one is ready first.
CONFTEST = """
import os, time
from tests.scheduling import Crashes

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Crashes())

def pytest_collection():
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw2":
        time.sleep(4)
"""
TESTS = """
import os, pathlib, time
import pytest

HERE = pathlib.Path(__file__).parent

@pytest.mark.parametrize("number", range(60))
def test_one(number):
    time.sleep(0.01)
    if number in {crashing}:
        note = HERE / f"crashed-{{number}}"
        if not note.exists() or {always}:
            note.touch()
            os._exit(1)
"""


@pytest.mark.parametrize("always", only({True}, [False, True]))
def test_a_dead_worker_costs_no_test_and_the_run_ends(tmp_path, always):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    text = TESTS.format(crashing=[17, 40], always=always)
    (tmp_path / "test_crashing.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", "-rs"]
    # Only xdist has a part here. Both runs take 6 s of processor time then, not 21.
    alone = [
        option
        for name in ("nbval", "anyio", "cacheprovider")
        for option in ("-p", f"no:{name}")
    ]
    ended = subprocess.run(
        [*command, *alone, "--rootdir", tmp_path, tmp_path],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    passed = int(re.search(r"(\d+) passed", ended.stdout)[1])
    assert passed == (58 if always else 60), ended.stdout
    assert "it is run again" in ended.stdout
    assert ended.returncode == (1 if always else 0), ended.stdout
