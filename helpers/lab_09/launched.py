"""The training of `labs launch 09`: section 2's, with the checkpoints of section 3.

``python -m helpers.lab_09.launched FOLDER`` is one of the workers, as `TF_CONFIG` says.
FOLDER is seen by all of them, and has the lab's parameters in `settings.json`. Started
again, the workers go on at the last checkpoint there.
"""

import json
import sys
from pathlib import Path

from helpers.machine.quiet_tensorflow import silence_tensorflow

silence_tensorflow()

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from helpers.lab_09 import worker  # noqa: E402
from helpers.lab_09.reference import REFERENCES  # noqa: E402

SAVE_EVERY_STEPS = 20


def main(folder):
    """Train to the end, and leave the weights in the folder."""
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rank, workers = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
    images, labels = worker.images_of(settings)
    model, optimizer = worker.network_in(strategy, settings)
    train_step = worker.make_train_step(strategy, model, optimizer)
    share, global_batch, steps = worker.shape_of(settings, workers)
    total = settings["epochs"] * steps

    done = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, done=done)
    manager = tf.train.CheckpointManager(checkpoint, folder / "checkpoints", max_to_keep=2)
    if manager.restore_or_initialize():
        print(f"goes on after step {int(done)}", flush=True)
    _must_agree(strategy, int(done))
    own, epoch_of_own = None, None
    for step in range(int(done), total):
        epoch, place = divmod(step, steps)
        if epoch != epoch_of_own:
            own = REFERENCES["9.2"](len(images), epoch, rank, workers, settings["seed"])
            epoch_of_own = epoch
        now = np.asarray(own[place * share : (place + 1) * share], int)
        in_all = min(global_batch, len(images) - place * global_batch)
        loss = float(train_step(images[now], labels[now], in_all))
        done.assign(step + 1)
        print(f"step {step + 1} of {total}: loss {loss:.6f}", flush=True)
        if rank == 0 and ((step + 1) % SAVE_EVERY_STEPS == 0 or step + 1 == total):
            manager.save()
    worker.save(folder, rank, {"steps": total}, model.get_weights())


def _must_agree(strategy, step):
    """One may have read the folder just before the last checkpoint came."""
    most = tf.cast(strategy.reduce("SUM", tf.constant(step), axis=None), tf.int64)
    if int(most) != step * strategy.num_replicas_in_sync:
        sys.exit(f"not all workers have read step {step}'s checkpoint: start them again")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
