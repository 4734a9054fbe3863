"""The worker of section 3, which measures steps and all-reduces.

`python -m helpers.lab_10.speeds FOLDER` runs as one of several workers, as
`TF_CONFIG` says; `measure` starts them and reads what they found.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from helpers.machine.quiet_tensorflow import silence_tensorflow

silence_tensorflow(figures=False)

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from helpers.machine import cluster  # noqa: E402
from helpers.workers import own_task  # noqa: E402
from helpers.workers.processes import ask  # noqa: E402

WORKER = "helpers.lab_10.speeds"
WARM_UP = 3  # calls that are not counted: TensorFlow traces in the first


def measure(folder: Path, workers: int, settings: dict) -> dict:
    """Start workers that measure, each on one thread; return what the first one found.

    Parameters
    ----------
    folder : Path
        For the settings, the logs and the result.
    workers : int
    settings : dict
        `hidden`, `local_batches` and `shared_batches` (of one worker), `all_reduce_values`,
        `rounds`, and `calls` in a round.

    Returns
    -------
    dict
        `parameters` of the network, and `rounds`, a list of dicts with seconds: `local`
        by batch, of a step without other workers; `shared` by batch, of a step with
        them; `all_reduce` by the number of float32 values. Each is the median of a round.

    Raises
    ------
    LabError
        If a worker fails or takes longer than the limit.
    """
    # One thread each: so a worker computes as fast whatever the number of workers is,
    # while there are cores enough.
    one_thread = {"TF_NUM_INTRAOP_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = cluster.ON_THE_CPU | one_thread
    found, *_ = ask(WORKER, folder, workers, settings, environment=environment)
    for one in found["rounds"]:
        for name, by_size in one.items():
            one[name] = {int(size): seconds for size, seconds in by_size.items()}
    return found


def network(hidden: int) -> tuple[keras.Model, Callable]:
    """A network of two layers, its optimizer, and a step that does not wait for others."""
    keras.utils.set_random_seed(0)
    layers = [
        keras.Input((784,)),
        keras.layers.Dense(hidden, "relu"),
        keras.layers.Dense(10, "softmax"),
    ]
    model = keras.Sequential(layers)
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)

    def step(x, y):
        with tf.GradientTape() as tape:
            losses = keras.losses.sparse_categorical_crossentropy(y, model(x))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    return model, step


def seconds(call: Callable, calls: int) -> float:
    """The median time of a call."""
    took = []
    for _ in range(calls):
        began = perf_counter()
        call().numpy()
        took.append(perf_counter() - began)
    return median(took)


def work(folder: Path) -> None:
    """Measure what `measure` asks for."""
    task = own_task.read(folder)
    settings = task.asked
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    model, alone = network(settings["hidden"])
    local = tf.function(alone)
    with strategy.scope():
        _, together = network(settings["hidden"])
    shared = tf.function(lambda x, y: strategy.run(together, args=(x, y)))

    @tf.function
    def all_reduce(values):
        def replica(values):
            context = tf.distribute.get_replica_context()
            # On this device: without a place it cannot be reduced.
            here = tf.identity(values)
            return context.all_reduce(tf.distribute.ReduceOp.SUM, here)

        return strategy.run(replica, args=(values,))

    images = sorted({*settings["local_batches"], *settings["shared_batches"]})
    batch = {
        size: (tf.random.normal((size, 784)), tf.zeros((size,), tf.int32))
        for size in images
    }
    calls = {"local": {}, "shared": {}, "all_reduce": {}}
    for size in settings["local_batches"]:
        calls["local"][size] = partial(local, *batch[size])
    for size in settings["shared_batches"]:
        calls["shared"][size] = partial(shared, *batch[size])
    for values in settings["all_reduce_values"]:
        calls["all_reduce"][values] = partial(all_reduce, tf.zeros(values))

    def meet():
        all_reduce(tf.zeros(1)).numpy()

    for by_size in calls.values():
        for call in by_size.values():
            meet()
            seconds(call, WARM_UP)
    rounds = []
    for _ in range(settings["rounds"]):
        rounds.append({name: {} for name in calls})
        for name, by_size in calls.items():
            for size, call in by_size.items():
                meet()  # all measure the same at the same time
                rounds[-1][name][size] = seconds(call, settings["calls"])
    parameters = sum(int(np.prod(v.shape)) for v in model.trainable_variables)
    own_task.reply(folder, task.rank, {"parameters": parameters, "rounds": rounds})


if __name__ == "__main__":
    work(Path(sys.argv[1]))
