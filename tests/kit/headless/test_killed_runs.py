"""A drill: `labs run 02` is killed in its sweep again and again, and loses no point."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from helpers.files import TEMPORARY
from helpers.run_card.documents import read_card

LABS = str(Path(sys.executable).with_name("labs"))
SIZES = list(range(1, 17))  # three rounds of them: 48 points
COMMAND = [LABS, "run", "02", "-p", "epochs=1", "-p", f"sweep_batch_sizes={SIZES}"]
VICTIMS = ("command", "kernel", "both")
KILLS = 12


def points_of(runs):
    """{(round, size): images per second} of the one run card, {} before there is one."""
    paths = list(runs.glob("*/*.json"))
    assert len(paths) <= 1, "it resumes its run card, and begins no other"
    measured = read_card(paths[0])["measurements"] if paths else {}
    return {
        (name, size): speed
        for name, points in measured.items()
        if name.startswith("sweep_round_")
        for size, speed in points.items()
    }


def kill(running, victim):
    """SIGKILL to the command, its kernel, or both; returns when all of them have ended."""
    kernels = psutil.Process(running.pid).children(recursive=True)
    assert kernels
    if victim != "kernel":
        running.kill()
    if victim != "command":
        for kernel in kernels:
            with contextlib.suppress(psutil.NoSuchProcess):
                kernel.kill()
    assert running.wait(timeout=60) != 0
    _, alive = psutil.wait_procs(kernels, timeout=60)
    assert not alive, "a kernel ends with the process that started it"


@pytest.mark.weekly
def test_a_run_killed_twelve_times_in_its_sweep_loses_and_repeats_no_point(tmp_path):
    runs, output = tmp_path / "runs", tmp_path / "output"
    before = {}
    for number in range(KILLS):
        with open(output, "wb") as file:
            running = subprocess.Popen(COMMAND, stdout=file, stderr=file)
        # In the middle of measuring the next but one.
        while len(points_of(runs)) < len(before) + 2:
            assert running.poll() is None, output.read_text()
            time.sleep(0.02)
        kill(running, VICTIMS[number % len(VICTIMS)])
        after = points_of(runs)
        assert before.items() <= after.items(), "a point was lost, or measured again"
        before = after
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    after = points_of(runs)
    assert before.items() <= after.items()
    rounds = {name: [s for n, s in after if n == name] for name, _ in after}
    assert len(rounds) == 3
    for sizes in rounds.values():
        assert len(sizes) == len(set(sizes))
        assert {str(size) for size in SIZES} <= set(sizes)
    assert not list(runs.rglob(f"*{TEMPORARY}")), "nothing half written is left"
