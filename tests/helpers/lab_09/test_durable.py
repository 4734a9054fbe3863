"""Workers that are killed, or asked to end, resume; and what each leaves behind."""

import json
import math
import signal
import statistics
import types

import numpy as np
import pytest
import tensorflow as tf

from helpers.exercise import find_exercise
from helpers.lab_09.workers import durable
from helpers.machine import cluster
from helpers.workers import own_functions

# Four whole global batches an epoch: 44 images are left out of each.
SETTINGS = {
    "train_images": 300, "batch_size": 64, "epochs": 3, "seed": 0, "learning_rate": 0.1,
    "save_every": 2, "stop_at": 7,
}  # fmt: skip
SHARD, TRAIN = find_exercise("9.2").reference, find_exercise("9.3").reference
LIMIT = durable.START_SECONDS


@pytest.mark.slow
def test_killed_and_asked_to_end_a_training_ends_as_if_it_had_not_been(tmp_path):
    folder = tmp_path / "a folder"
    durable.prepare(folder, SETTINGS, TRAIN, SHARD)
    with durable.start(folder, 2, "until killed") as job:
        job.wait_for("stopped at step 7", 1, LIMIT)
        killed_at = durable.kill(job, 1)
        assert job.wait(LIMIT, check=False) == [3, -signal.SIGKILL]
        seen = durable.noticed(job, 0)
        assert durable.noticed(job, 1)["unix_seconds"] is None
    assert seen["unix_seconds"] >= killed_at
    assert issubclass(getattr(tf.errors, seen["reason"]), tf.errors.OpError)
    saved = {path.name for path in (folder / "saves").iterdir()}
    assert {name.partition(".")[0] for name in saved} == {"checkpoint", "ckpt-2", "ckpt-3"}
    assert not list(folder.glob("resumed-*"))
    # As of a save in which the machine died.
    (folder / "saves" / "ckpt-4.data-00000-of-00001").write_bytes(b"half")

    with durable.start(folder, 2, "resume") as job:
        assert job.wait(LIMIT) == [0, 0]
        assert durable.first_step(job, "resumed at step") == 6
    for rank in (0, 1):
        assert durable.largest_difference(folder, "uninterrupted", "resumed", rank) == 0

    # What an earlier run of the same job has left does not disturb it.
    durable.tell(folder)
    (folder / "saved-on-request").mkdir()
    (folder / "saved-on-request" / "checkpoint").write_text("an older one")
    with durable.start(folder, 2, "until SIGTERM") as job:
        job.wait_for("polite: at step 7", 1, LIMIT)
        job.terminate(1)
        durable.tell(folder)
        assert job.wait(LIMIT, check=False) == [42, 42]
        assert durable.first_step(job, "polite: begins at step") == 0
    assert not list(folder.glob("polite-*"))
    assert len(list((folder / "saved-on-request").glob("*.index"))) == 1

    # One worker alone resumes from what two of them have saved.
    with durable.start(folder, 1, "resume after SIGTERM") as job:
        assert job.wait(LIMIT) == [0]
        assert durable.first_step(job, "polite: begins at step") in (7, 8)
    assert durable.largest_difference(folder, "uninterrupted", "polite") < 1e-5


def test_a_worker_that_resumes_within_an_epoch_gets_the_images_it_has_not_had():
    for workers, images, batch in ((1, 10, 3), (2, 300, 64), (3, 50, 7), (4, 9, 8)):
        share = batch // workers
        batches = images // (share * workers)
        for epoch in (0, 3):
            order = np.random.default_rng([5, epoch]).permutation(images)
            had = set()
            for rank in range(workers):
                worker = object.__new__(durable.Worker)  # without a network
                worker.__dict__ |= {
                    "x": np.zeros(images), "rank": rank, "workers": workers,
                    "share": share, "global_batch": share * workers,
                    "settings": {"seed": 5}, "own": {"worker_shard": SHARD},
                }  # fmt: skip
                whole = [part.tolist() for part in worker.data(epoch, 0)]
                assert len(whole) == batches
                assert {len(part) for part in whole} <= {share}
                had |= {place for part in whole for place in part}
                for first in range(batches + 2):
                    rest = [part.tolist() for part in worker.data(epoch, first)]
                    assert rest == whole[first:]
            assert had == set(order[: batches * share * workers].tolist())


def test_a_new_preparation_leaves_nothing_of_an_older_training(tmp_path):
    folder = tmp_path / "new" / "a folder"
    for by in (2, 3):
        durable.prepare(folder, SETTINGS | {"seed": by}, lambda x: by * x, SHARD)  # noqa: B023
        assert {path.name for path in folder.iterdir()} == {
            "settings.json", "own_functions.pickle",
        }  # fmt: skip
        stored = json.loads((folder / "settings.json").read_text())
        assert stored == SETTINGS | {"seed": by}
        own = own_functions.read(folder)
        assert own["train_with_saves"](7) == 7 * by
        assert (own["worker_shard"](9, 1, 0, 2, 3) == SHARD(9, 1, 0, 2, 3)).all()
        durable.tell(folder)
        (folder / "saves").mkdir()
        (folder / "saves" / "checkpoint").write_text("an older one")


def test_a_function_that_cannot_be_copied_leaves_no_older_one_that_could_run(tmp_path):
    durable.prepare(tmp_path, SETTINGS, TRAIN, SHARD)
    generator = (number for number in range(3))
    with pytest.raises(own_functions.CannotTravelError):
        durable.prepare(tmp_path, SETTINGS, lambda: next(generator), SHARD)
    assert not (tmp_path / "own_functions.pickle").exists()


@pytest.fixture
def job_that_says(tmp_path):
    """A job of one process, which has written a text and ended."""

    def job_of(text):
        file = tmp_path / "text"
        file.write_text(text)
        with cluster.start(["cat", file], 1, tmp_path / "logs") as job:
            job.wait(LIMIT)
        return job

    return job_of


def test_the_last_word_of_a_log_counts_whatever_surrounds_it(job_that_says):
    rng = np.random.default_rng(0)
    around = ["", "{", "WARNING: step 5", '{"reason": "other"}', "at step", "é \ufffd \x00"]
    for _ in range(15):
        steps = [int(step) for step in rng.integers(0, 10**6, rng.integers(1, 4))]
        lines = []
        for step in steps:
            lines += [str(line) for line in rng.choice(around, rng.integers(0, 4))]
            told = {"unix_seconds": step / 7, "reason": f"Error{step}"}
            lines += [f"went on at step {step}", json.dumps(told)]
        lines += [str(line) for line in rng.choice(around[:4], rng.integers(0, 4))]
        job = job_that_says("\n".join(lines) + "\n" * int(rng.integers(0, 2)))
        assert durable.first_step(job, "went on at step") == steps[-1]
        assert durable.noticed(job, 0) == told


def test_a_worker_that_said_nothing_has_noticed_nothing(job_that_says):
    for text in ("", "\n", "Traceback\n", '  {"unix_seconds": 1}'):
        said = {"unix_seconds": None, "reason": "nothing"}
        assert durable.noticed(job_that_says(text), 0) == said


def test_the_largest_difference_is_that_of_any_weight(tmp_path):
    rng = np.random.default_rng(0)
    shapes = [(4, 3), (3,), (3, 2), (1,)]
    for rank in range(8):
        one = [rng.normal(size=shape).astype("float32") for shape in shapes]
        other = [array.copy() for array in one]
        keep(tmp_path, "one", rank, one)
        keep(tmp_path, "other", rank, other)
        assert durable.largest_difference(tmp_path, "one", "other", rank) == 0
        array = other[rank % 4].reshape(-1)
        array[rng.integers(array.size)] += rng.choice([-1, 1]) * 2.0**rank
        keep(tmp_path, "other", rank, other)
        for names in (("one", "other"), ("other", "one")):
            found = durable.largest_difference(tmp_path, *names, rank)
            assert type(found) is float
            assert found == pytest.approx(2.0**rank, rel=1e-5)


def test_a_weight_that_is_not_a_number_is_always_a_difference(tmp_path):
    arrays = [np.ones(2), np.zeros((2, 2)), np.ones(1)]
    keep(tmp_path, "whole", 0, arrays)
    for place in range(3):
        broken = [array.copy() for array in arrays]
        broken[place].flat[-1] = math.nan
        keep(tmp_path, "broken", 0, broken)
        assert math.isnan(durable.largest_difference(tmp_path, "whole", "broken"))
        assert math.isnan(durable.largest_difference(tmp_path, "broken", "broken"))


def keep(folder, name, rank, arrays):
    """As `Worker.keep_weights` does."""
    np.savez(folder / f"{name}-{rank}.npz", *arrays)


def test_a_save_counts_its_bytes_in_the_median_time_and_goes(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for mib in (1, 2):
        (tmp_path / "large").mkdir()
        (tmp_path / "large" / "half a save").touch()  # of one that was killed
        took = rng.uniform(0.01, 9, 3)
        ticks = np.concatenate([[tick, tick + s] for tick, s in zip((0, 10, 20), took)])  # noqa: B905
        clock = types.SimpleNamespace(perf_counter=iter(ticks).__next__)
        monkeypatch.setattr(durable, "time", clock)
        speed = durable.save_speed(tmp_path / "large", mib)
        assert speed == pytest.approx(mib * 2**20 / statistics.median(took))
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("tick", range(6))
def test_an_interrupted_save_leaves_nothing_on_the_disk(tmp_path, monkeypatch, tick):
    ticks = iter(range(tick))

    def clock():
        for now in ticks:
            return now
        raise KeyboardInterrupt

    monkeypatch.setattr(durable, "time", types.SimpleNamespace(perf_counter=clock))
    with pytest.raises(KeyboardInterrupt):
        durable.save_speed(tmp_path / "new" / "large", 1)
    assert [path.name for path in tmp_path.rglob("*")] == ["new"]


def test_a_file_is_waited_for_as_long_as_is_said_and_no_longer(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    file = tmp_path / "signal-sent"
    late = durable.REPLY_SECONDS + 1
    for comes_at in (-1, 0, *rng.uniform(0, durable.REPLY_SECONDS - 1, 5), late):
        file.unlink(missing_ok=True)
        now = [1000.0]

        def sleep(seconds, now=now, comes_at=comes_at):
            now[0] += seconds
            if now[0] - 1000 >= comes_at:
                durable.tell(tmp_path)  # twice, too

        clock = types.SimpleNamespace(monotonic=lambda now=now: now[0], sleep=sleep)
        monkeypatch.setattr(durable, "time", clock)
        if comes_at < 0:
            durable.tell(tmp_path)
        if comes_at < late:
            durable.wait_for_file(file)
            waited = max(0, comes_at)
        else:
            with pytest.raises(TimeoutError, match="signal-sent has not come in 60 s"):
                durable.wait_for_file(file)
            waited = durable.REPLY_SECONDS
        assert waited <= now[0] - 1000 <= waited + 2 * durable.LOOK_SECONDS
