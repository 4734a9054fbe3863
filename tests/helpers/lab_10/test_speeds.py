"""What section 3 measures: every size that was asked for, and no worker left behind."""

import itertools
import os
import signal
import statistics
import threading
import time

import numpy as np
import psutil
import pytest

from helpers.errors import LabError
from helpers.lab_10 import speeds
from helpers.workers import processes

LIMIT = 120
SETTINGS = {
    "hidden": 8, "local_batches": [1, 5, 16], "shared_batches": [5, 32],
    "all_reduce_values": [1, 1000], "rounds": 2, "calls": 2,
}  # fmt: skip


def test_a_worker_has_one_thread_and_no_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(speeds, "WORKER", "tests.helpers.workers.says_environment")
    found = speeds.measure(tmp_path, 2, SETTINGS)["environment"]
    names = ("TF_NUM_INTRAOP_THREADS", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
    assert [found[name] for name in names] == ["1", "1", "-1"]


@pytest.mark.slow
def test_workers_measure_each_size_in_each_round_and_leave_nothing_else(tmp_path):
    folder = tmp_path / "a new" / "folder"
    folder.mkdir(parents=True)
    (folder / "said-2.json").write_text('{"rounds": []')  # of a measurement that was killed
    found = speeds.measure(folder, 2, SETTINGS)
    assert found["parameters"] == 784 * 8 + 8 + 8 * 10 + 10
    assert len(found["rounds"]) == SETTINGS["rounds"]
    asked = {
        "local": SETTINGS["local_batches"], "shared": SETTINGS["shared_batches"],
        "all_reduce": SETTINGS["all_reduce_values"],
    }  # fmt: skip
    for one in found["rounds"]:
        assert {name: list(by_size) for name, by_size in one.items()} == asked
        assert all(s > 0 for by_size in one.values() for s in by_size.values())
    assert {path.name for path in folder.iterdir()} == {
        "asked.json", "own_functions.pickle", "said-0.json", "said-1.json",
        "worker-0.log", "worker-1.log",
    }  # fmt: skip
    assert not workers_of(folder)


def test_of_a_measurement_past_its_limit_no_worker_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "LIMIT_SECONDS", 0.1)
    with pytest.raises(LabError, match=r"still runs after 0\.1 s"):
        speeds.measure(tmp_path, 2, SETTINGS)
    assert not workers_of(tmp_path)
    assert not list(tmp_path.glob("said-*"))


def test_of_an_interrupted_measurement_no_worker_is_left(tmp_path):
    begun = []

    def interrupt():
        deadline = time.monotonic() + LIMIT
        while len(begun) < 2 and time.monotonic() < deadline:
            begun[:] = workers_of(tmp_path)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            speeds.measure(tmp_path, 2, SETTINGS)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert len(begun) == 2
    assert not workers_of(tmp_path)


def workers_of(folder):
    """The processes that were started with this folder and still run."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if str(folder) in process.cmdline():  # a zombie has none
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def test_of_some_calls_it_is_the_median_and_each_is_waited_for(monkeypatch):
    rng = np.random.default_rng(0)
    for calls in (1, 2, 3, 8):
        took = rng.uniform(0.001, 5, calls)
        now, coming = [0.0], iter(took)

        class Late:
            """What TensorFlow has promised: `numpy` waits for it."""

            def numpy(self, now=now, coming=coming):
                now[0] += next(coming)

        monkeypatch.setattr(speeds, "perf_counter", lambda now=now: now[0])
        assert speeds.seconds(Late, calls) == pytest.approx(statistics.median(took))
        assert next(coming, None) is None


def test_a_step_trains_and_two_networks_are_the_same():
    rng = np.random.default_rng(0)
    for hidden, batch in itertools.product((1, 16), (1, 20)):
        (model, step), (other, other_step) = (speeds.network(hidden) for _ in range(2))
        x = rng.normal(size=(batch, 784)).astype("float32")
        y = rng.integers(0, 10, batch)
        losses = [float(step(x, y)) for _ in range(4)]
        said = -np.log(np.asarray(other(x))[np.arange(batch), y]).mean()
        assert losses[0] == pytest.approx(said, rel=1e-4)
        assert (np.diff(losses) < 0).all()
        assert [float(other_step(x, y)) for _ in range(4)] == losses
        for one, two in zip(model.get_weights(), other.get_weights(), strict=True):
            np.testing.assert_array_equal(one, two)
