"""The training of `labs launch 09`: section 2's, with the checkpoints of section 3.

``python -m helpers.lab_09.workers.launched FOLDER`` is one of the workers, as `TF_CONFIG`
says. FOLDER is seen by all of them, and has the lab's parameters in `settings.json`. If
they are started again, the workers resume from the last checkpoint there.
"""

import json
import sys
from pathlib import Path

from helpers.machine.quiet_tensorflow import silence_tensorflow

silence_tensorflow(figures=False)

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from helpers.lab_09.reference import train_with_saves, worker_shard  # noqa: E402
from helpers.lab_09.workers import worker  # noqa: E402

SAVE_EVERY_STEPS = 20


def main(folder: Path) -> None:
    """Train to the end, and leave the weights in the folder."""
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rank, workers = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
    images, labels = worker.images_of(settings)
    model, optimizer = worker.network_in(strategy, settings)
    train_step = worker.make_train_step(strategy, model, optimizer)
    share, global_batch, steps = worker.shape_of(settings, workers)
    total = settings["epochs"] * steps
    begun = False

    def parts(epoch, first):
        nonlocal begun
        if not begun:
            _begin(strategy, epoch * steps + first)
        begun = True
        own = worker_shard(len(images), epoch, rank, workers, settings["seed"])
        for place in range(first, steps):
            now = np.asarray(own[place * share : (place + 1) * share], int)
            in_all = min(global_batch, len(images) - place * global_batch)
            yield epoch * steps + place + 1, now, in_all

    def one_step(part):
        step, now, in_all = part
        loss = float(train_step(images[now], labels[now], in_all))
        print(f"step {step} of {total}: loss {loss:.6f}", flush=True)

    train_with_saves(
        model, optimizer, one_step, parts, settings["epochs"], str(folder / "checkpoints"),
        SAVE_EVERY_STEPS, rank == 0,
    )  # fmt: skip
    worker.save(folder, rank, {"steps": total}, model.get_weights())


def _begin(strategy, step):
    """Stop unless all resume at one step: one may have read just before the last save."""
    of_all = int(strategy.reduce("SUM", tf.constant(step), axis=None))
    if of_all != step * strategy.num_replicas_in_sync:
        sys.exit(f"not all workers have read step {step}'s checkpoint: start them again")
    if step:
        print(f"resumes after step {step}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
