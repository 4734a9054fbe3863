"""One worker of a training on several machines.

Lab 09 copies this file into a folder, with `settings.json` and with `own_functions.pickle`,
the reader's own code. Every machine runs ``python FOLDER/worker.py``, with its place in
``TF_CONFIG``; nothing else differs between machines.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

from helpers.machine.quiet_tensorflow import silence_tensorflow

silence_tensorflow(figures=False)

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from helpers.data.mnist import mnist  # noqa: E402
from helpers.machine.multi_worker_fit import MultiWorkerModel  # noqa: E402
from helpers.plain_json import write_json  # noqa: E402
from helpers.workers import own_functions  # noqa: E402


def main(folder: Path) -> None:
    """Train with all the other workers; leave the result and the weights in the folder."""
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    worker_shard = own_functions.read(folder)["worker_shard"]

    # Before any other operation: from here on this process is one of many.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rank = strategy.cluster_resolver.task_id
    training = train_with_fit if settings["fit"] else train
    result, weights = training(strategy, rank, settings, worker_shard, show=print)
    save(folder, rank, result, weights)


def train(
    strategy: tf.distribute.Strategy,
    rank: int,
    settings: dict,
    worker_shard: Callable,
    show: Callable | None = None,
) -> tuple[dict, list[np.ndarray]]:
    """Lab 06's loop on one worker, which gets its part of every global batch.

    Parameters
    ----------
    strategy : tf.distribute.Strategy
        With one replica on each worker.
    rank : int
        Which of them this is, from 0.
    settings : dict
        `train_images`, `batch_size` (of all workers together), `epochs`, `seed`,
        `learning_rate`, `fit` (whether to train with Keras' own loop).
    worker_shard : callable
        Exercise 9.2.
    show : callable, optional
        Gets a line about every step.

    Returns
    -------
    result : dict
        `losses` and `seconds` of each step, and `images`, how many this worker has read.
    weights : list of array
    """
    workers = strategy.num_replicas_in_sync
    x_train, y_train = images_of(settings)
    model, optimizer = network_in(strategy, settings)
    train_step = make_train_step(strategy, model, optimizer)
    share, global_batch, steps = shape_of(settings, workers)
    losses, seconds, images = [], [], 0
    for epoch in range(settings["epochs"]):
        own = worker_shard(len(x_train), epoch, rank, workers, settings["seed"])
        for step in range(steps):
            began = time.perf_counter()
            now = np.asarray(own[step * share : (step + 1) * share], int)
            in_all = min(global_batch, len(x_train) - step * global_batch)
            losses.append(float(train_step(x_train[now], y_train[now], in_all)))
            seconds.append(time.perf_counter() - began)
            images += len(now)
            if show:
                show(
                    f"epoch {epoch + 1}, step {step + 1} of {steps}: loss {losses[-1]:.6f}"
                )
    result = {"losses": losses, "seconds": seconds, "images": images}
    return result, model.get_weights()


def train_with_fit(
    strategy: tf.distribute.Strategy,
    rank: int,
    settings: dict,
    worker_shard: Callable,
    show: Callable | None = None,
) -> tuple[dict, list[np.ndarray]]:
    """As `train`, with `fit`; `losses` and `seconds` are those of each epoch."""
    workers = strategy.num_replicas_in_sync
    images, labels = images_of(settings)
    model, optimizer = network_in(strategy, settings)
    share, _, steps = shape_of(settings, workers)

    def pipeline(context=None):
        """This worker's parts of all global batches, one epoch after the other."""
        in_order = None
        for epoch in range(settings["epochs"]):
            own = worker_shard(len(images), epoch, rank, workers, settings["seed"])
            data = tf.data.Dataset.from_tensor_slices((images[own], labels[own])).batch(
                share
            )
            in_order = in_order.concatenate(data) if in_order else data
        return in_order

    began, seconds = time.perf_counter(), []
    note = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seconds.append(time.perf_counter() - began)
    )
    with strategy.scope():
        model.compile(optimizer, "sparse_categorical_crossentropy", jit_compile=False)
    history = model.fit(
        strategy.distribute_datasets_from_function(pipeline),
        epochs=settings["epochs"], steps_per_epoch=steps, callbacks=[note], verbose=0,
    )  # fmt: skip
    result = {
        "losses": history.history["loss"],
        "seconds": np.diff(seconds, prepend=0).tolist(),
        "images": sum(len(x) for x, _ in pipeline()),
    }
    if show:
        show(f"losses of all epochs: {result['losses']}")
    return result, model.get_weights()


def shape_of(settings: dict, workers: int) -> tuple[int, int, int]:
    """A worker's part of a global batch, the global batch, and the steps of an epoch."""
    share = max(1, settings["batch_size"] // workers)
    global_batch = share * workers
    return share, global_batch, -(-settings["train_images"] // global_batch)


def images_of(settings: dict) -> tuple[np.ndarray, np.ndarray]:
    """The training images as float32 from 0 to 1, shape (n, 784), and their classes."""
    data, n = mnist(), settings["train_images"]
    flat = data.x_train[:n].reshape(n, -1).astype("float32") / 255
    return flat, data.y_train[:n].astype("int32")


def network_in(
    strategy: tf.distribute.Strategy, settings: dict
) -> tuple[keras.Model, keras.optimizers.SGD]:
    """A network of two layers and its optimizer, made in the scope, with a given seed."""
    keras.utils.set_random_seed(settings["seed"])
    with strategy.scope():
        inputs = keras.Input((784,))
        hidden = keras.layers.Dense(128, activation="relu")(inputs)
        # Else `fit` fails on several workers.
        model = MultiWorkerModel(inputs, keras.layers.Dense(10, "softmax")(hidden))
        optimizer = keras.optimizers.SGD(settings["learning_rate"], momentum=0.9)
        optimizer.build(model.trainable_variables)
    return model, optimizer


def make_train_step(
    strategy: tf.distribute.Strategy, model: keras.Model, optimizer: keras.Optimizer
) -> Callable:
    """The step of all workers; it returns the mean loss over the global batch."""

    def replica_step(x, y, in_all):
        with tf.GradientTape() as tape:
            losses = keras.losses.sparse_categorical_crossentropy(
                y, model(x, training=True)
            )
            share = tf.reduce_sum(losses) / tf.cast(in_all, "float32")
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return share

    # One graph for parts of any size: if only some of the workers traced again for a
    # smaller last part, their all-reduces would no longer match.
    signature = [
        tf.TensorSpec([None, 784], tf.float32),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([], tf.int32),
    ]

    @tf.function(input_signature=signature)
    def train_step(x, y, in_all):
        shares = strategy.run(replica_step, args=(x, y, in_all))
        return strategy.reduce("SUM", shares, axis=None)

    return train_step


def save(folder: Path, rank: int, result: dict, weights: list[np.ndarray]) -> None:
    """Write what a worker has, as `result-0.json` and `weights-0.npz`."""
    np.savez(folder / f"weights-{rank}.npz", *weights)
    write_json(folder / f"result-{rank}.json", result)


if __name__ == "__main__":
    main(Path(__file__).resolve().parent)
