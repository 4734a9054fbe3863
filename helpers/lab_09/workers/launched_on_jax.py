"""The training of `labs launch 09 --engine jax`: section 2's, with `keras.distribution`.

``python -m helpers.lab_09.workers.launched_on_jax FOLDER`` is one of the processes, as
`TF_CONFIG` says. It saves no checkpoints, so it always starts from the beginning.
"""

import json
import os
import sys
from pathlib import Path

from helpers.machine.quiet_tensorflow import silence_tensorflow

os.environ["KERAS_BACKEND"] = "jax"
silence_tensorflow()  # Keras imports it on every backend

import keras  # noqa: E402
import numpy as np  # noqa: E402

from helpers.lab_09.reference import worker_shard  # noqa: E402
from helpers.lab_09.workers import worker  # noqa: E402


def main(folder: Path) -> None:
    """Train to the end, and leave losses and weights in the folder.

    A last, smaller batch of an epoch is left out: all processes must give equally many
    images to a step.
    """
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    place = json.loads(os.environ["TF_CONFIG"])
    rank, addresses = place["task"]["index"], place["cluster"]["worker"]
    workers = len(addresses)
    if workers > 1:  # else JAX would wait for a coordinator
        keras.distribution.initialize(addresses[0], workers, rank)
    keras.distribution.set_distribution(keras.distribution.DataParallel())
    model = _network(settings)
    images, labels = worker.images_of(settings)
    share, global_batch, _ = worker.shape_of(settings, workers)
    steps, losses = len(images) // global_batch, []
    total = settings["epochs"] * steps
    for epoch in range(settings["epochs"]):
        own = worker_shard(len(images), epoch, rank, workers, settings["seed"])
        for step in range(steps):
            now = np.asarray(own[step * share : (step + 1) * share], int)
            model.reset_metrics()  # else the loss is the mean of all steps so far
            losses.append(float(model.train_on_batch(images[now], labels[now])))
            print(f"step {len(losses)} of {total}: loss {losses[-1]:.6f}", flush=True)
    worker.save(folder, rank, {"losses": losses}, model.get_weights())


def _network(settings):
    """As `worker.network_in`; JAX draws other weights from the same seed."""
    keras.utils.set_random_seed(settings["seed"])
    inputs = keras.Input((784,))
    hidden = keras.layers.Dense(128, activation="relu")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(10, "softmax")(hidden))
    optimizer = keras.optimizers.SGD(settings["learning_rate"], momentum=0.9)
    model.compile(optimizer, "sparse_categorical_crossentropy")
    return model


if __name__ == "__main__":
    main(Path(sys.argv[1]))
