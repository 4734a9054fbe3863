"""Section 3: workers that are killed, and resume from a checkpoint.

The lab starts `python -m helpers.lab_09.workers.durable FOLDER WHAT` as workers;
`TF_CONFIG` says which of them a process is.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median

from helpers.machine.quiet_tensorflow import silence_tensorflow

silence_tensorflow(figures=False)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from helpers.lab_09.workers.worker import (  # noqa: E402
    images_of,
    make_train_step,
    network_in,
    shape_of,
)
from helpers.machine import cluster  # noqa: E402
from helpers.plain_json import as_json, write_json  # noqa: E402
from helpers.workers import own_functions  # noqa: E402

START_SECONDS = 300  # until a worker is where it is waited for, on a busy machine
REPLY_SECONDS = 60  # of a stopped worker, for what the lab does to it
LOOK_SECONDS = 0.02
SIGNAL_SENT, SAVED_ON_REQUEST = "signal-sent", "saved-on-request"


def prepare(
    folder: Path, settings: dict, train_with_saves: Callable, worker_shard: Callable
) -> None:
    """Empty a folder, and write into it what the workers will read.

    Parameters
    ----------
    folder : Path
    settings : dict
        As `helpers.lab_09.workers.worker.train` takes them, and `save_every` and
        `stop_at`, both in steps.
    train_with_saves, worker_shard : function
        The reader's, of exercises 9.3 and 9.2.
    """
    shutil.rmtree(folder, ignore_errors=True)
    write_json(folder / "settings.json", settings)
    own = {"train_with_saves": train_with_saves, "worker_shard": worker_shard}
    own_functions.write(folder, **own)


def start(folder: Path, workers: int, what: str) -> AbstractContextManager[cluster.Job]:
    """Start the workers: `helpers.machine.cluster.start`.

    A job until SIGTERM starts from the beginning, even if it has run before.

    Parameters
    ----------
    folder : Path
        As `prepare` left it.
    workers : int
    what : str
        Of `PARTS`.
    """
    if what == "until SIGTERM":
        (folder / SIGNAL_SENT).unlink(missing_ok=True)
        shutil.rmtree(folder / SAVED_ON_REQUEST, ignore_errors=True)
    command = [sys.executable, "-m", "helpers.lab_09.workers.durable", str(folder), what]
    return cluster.start(command, workers, folder, cluster.ON_THE_CPU)


def kill(job: cluster.Job, rank: int) -> float:
    """Kill a worker; return the Unix time just before, in seconds."""
    now = time.time()
    job.kill(rank)
    return now


def first_step(job: cluster.Job, text: str) -> int:
    """The number that follows a text in worker 0's log."""
    return int(job.log(0).split(text)[-1].split()[0])


def save_speed(folder: Path, mib: int) -> float:
    """Bytes per second of a save of `mib` MiB, until it is on disk: the median of three."""
    folder.mkdir(parents=True, exist_ok=True)
    values = tf.Variable(
        np.random.default_rng(0).normal(size=mib * 2**18).astype("float32")
    )
    checkpoint, seconds = tf.train.Checkpoint(values=values), []
    try:
        for _ in range(3):
            began = time.perf_counter()
            path = Path(checkpoint.write(str(folder / "large")))
            with open(path.with_name(f"{path.name}.data-00000-of-00001"), "rb") as file:
                os.fsync(file.fileno())
            seconds.append(time.perf_counter() - began)
    finally:
        shutil.rmtree(folder)
    return mib * 2**20 / median(seconds)


def noticed(job: cluster.Job, rank: int) -> dict:
    """When and why a worker noticed another's end: `unix_seconds`, `reason`."""
    found = [line for line in job.log(rank).splitlines() if line.startswith('{"unix')]
    return json.loads(found[-1]) if found else {"unix_seconds": None, "reason": "nothing"}


def largest_difference(folder: Path, one: str, other: str, rank: int = 0) -> float:
    """The largest difference of a weight between two stored ends of a worker."""
    paths = (folder / f"{name}-{rank}.npz" for name in (one, other))
    with np.load(next(paths)) as some, np.load(next(paths)) as others:
        # NumPy's maximum keeps a nan wherever it is; Python's may skip it.
        return float(np.max([abs(some[name] - others[name]).max() for name in some]))


def tell(folder: Path) -> None:
    """Tell a worker that waits for a signal that it has been sent."""
    (folder / SIGNAL_SENT).touch()


class Worker:
    """One of several workers, with the reader's functions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        self.own = own_functions.read(folder)
        self.strategy = tf.distribute.MultiWorkerMirroredStrategy()
        self.rank = self.strategy.cluster_resolver.task_id
        self.workers = self.strategy.num_replicas_in_sync
        self.x, self.y = images_of(self.settings)
        self.share, self.global_batch, _ = shape_of(self.settings, self.workers)
        self.start_over()

    def start_over(self) -> None:
        """A new network and optimizer, the same each time."""
        self.model, self.optimizer = network_in(self.strategy, self.settings)
        self.step = make_train_step(self.strategy, self.model, self.optimizer)

    def data(self, epoch: int, first: int) -> Iterator[np.ndarray]:
        """This worker's parts of the whole global batches, from number `first` on."""
        of = len(self.x), epoch, self.rank, self.workers, self.settings["seed"]
        own = np.asarray(self.own["worker_shard"](*of))
        for number in range(first, len(self.x) // self.global_batch):
            yield own[number * self.share : (number + 1) * self.share]

    def train_step(self, places: np.ndarray) -> tf.Tensor:
        """One step of all workers."""
        return self.step(self.x[places], self.y[places], self.global_batch)

    def train(self, name: str, train_step: Callable) -> int:
        """Run the reader's training with saves in a folder of this name; where it began."""
        return self.own["train_with_saves"](
            self.model, self.optimizer, train_step, self.data, self.settings["epochs"],
            str(self.folder / name), self.settings["save_every"], self.rank == 0,
        )  # fmt: skip

    def keep_weights(self, name: str) -> None:
        """Store this worker's weights."""
        path = self.folder / f"{name}-{self.rank}.npz"
        np.savez(path, *self.model.get_weights())


def uninterrupted(worker: Worker) -> None:
    """Train to the end."""
    worker.train("uninterrupted", worker.train_step)
    worker.keep_weights("uninterrupted")


def killed(worker: Worker) -> None:
    """Train until worker 1 stops at a step, where somebody kills it."""
    done = 0

    def step(places):
        nonlocal done
        if done == worker.settings["stop_at"] and worker.rank == 1:
            print(f"stopped at step {done}", flush=True)
            time.sleep(REPLY_SECONDS)
            raise TimeoutError("nobody killed this worker")
        worker.train_step(places)
        done += 1

    worker.start_over()
    try:
        worker.train("saves", step)
    except tf.errors.OpError as error:  # of whatever kind: a worker is gone
        reason = type(error).__name__
        print(as_json({"unix_seconds": time.time(), "reason": reason}), flush=True)
        raise SystemExit(3) from None


def resumed(worker: Worker) -> None:
    """Resume from the last save, and train to the end."""
    first = worker.train("saves", worker.train_step)
    print(f"resumed at step {first}", flush=True)
    worker.keep_weights("resumed")


def polite(worker: Worker) -> None:
    """Train until a worker receives SIGTERM: then all of them save together, and exit."""
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(
        model=worker.model, optimizer=worker.optimizer, step=step
    )
    resolver = worker.strategy.cluster_resolver
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        resolver, checkpoint, str(worker.folder / SAVED_ON_REQUEST)
    )
    print(f"polite: begins at step {int(step)}", flush=True)
    batches = [b for e in range(worker.settings["epochs"]) for b in worker.data(e, 0)]

    def one_step(places):
        step.assign_add(1)
        worker.train_step(places)

    stop_at = worker.settings["stop_at"]
    while int(step) < len(batches):
        if int(step) == stop_at and worker.rank == 1:
            print(f"polite: at step {stop_at}", flush=True)
            wait_for_file(worker.folder / SIGNAL_SENT)
        handler.run(one_step, batches[int(step)])
    worker.keep_weights("polite")


def wait_for_file(path: Path) -> None:
    """Wait until a file is there; `TimeoutError` if it does not come."""
    deadline = time.monotonic() + REPLY_SECONDS
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path.name} has not come in {REPLY_SECONDS} s")
        time.sleep(LOOK_SECONDS)


PARTS = {
    "until killed": (uninterrupted, killed),
    "resume": (resumed,),
    "until SIGTERM": (polite,),
    "resume after SIGTERM": (polite,),
}


if __name__ == "__main__":
    this_worker = Worker(Path(sys.argv[1]))
    for part in PARTS[sys.argv[2]]:
        part(this_worker)
