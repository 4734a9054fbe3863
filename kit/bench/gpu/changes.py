"""Lab 08: what each change gains, and the epochs of both recipes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

import keras
import numpy as np
from keras import optimizers

from callbacks import EpochRecorder
from helpers.data.fashion_mnist import fashion_mnist
from helpers.lab_08.original import ImageByImage
from helpers.network.models import conv_bn_relu, wide_resnet
from helpers.network.pipelines import with_preprocessing
from helpers.network.recipes import fast_loss, fast_network, fast_optimizer
from kit.bench.gpu.throughput import image_batches, timed_steps


def changes(
    sizes: Mapping[str, Any], steps: int = 40, rounds: int = 5, slow_steps: int = 16
) -> dict:
    """Lab 08: what each change gains in the speed of a step, in turn with the one below."""
    data, batch_size = fashion_mnist(), sizes["batch_size"]
    x, y = data.x_train[: steps * batch_size], data.y_train[: steps * batch_size]
    rungs = _rungs(sizes, x, y)
    counts = dict.fromkeys(rungs, steps) | {"original": slow_steps}
    first_seconds = {
        name: timed_steps(model, feed(), 8) for name, (model, feed) in rungs.items()
    }
    speeds: dict[str, list[float]] = {name: [] for name in rungs}
    for _ in range(rounds):
        for name, (model, feed) in rungs.items():
            took = timed_steps(model, feed(), counts[name])
            speeds[name].append(counts[name] * batch_size / took)
    gains = {
        above: median(a / b for a, b in zip(speeds[above], speeds[below], strict=True))
        for below, above in pairwise(rungs)
    }
    return {
        "images_per_second": {name: median(found) for name, found in speeds.items()},
        "rounds": speeds,
        "gains": gains,
        "first_steps_seconds": first_seconds,
    }


def _rungs(sizes, x, y):
    """Lab 08's ladder without what Keras on JAX does not have: models and their data."""
    crossentropy, batch_size = "categorical_crossentropy", sizes["batch_size"]
    shape = {"stem_pool": sizes["stem_pool"]}

    def network(dropout):
        return wide_resnet(
            sizes["depth"], sizes["width"], dropout=dropout, unit=conv_bn_relu, **shape
        )

    def rung(dropout, policy="float32"):
        keras.config.set_dtype_policy(policy)
        model = with_preprocessing(network(dropout), x, 0.2, True, 0)
        model.compile(optimizers.SGD(0.01), crossentropy, metrics=["accuracy"])
        keras.config.set_dtype_policy("float32")
        return model

    original = network(0.01)
    original.compile(optimizers.SGD(0.01), crossentropy, metrics=["accuracy"])
    recipe = {"x": x, "sizes": sizes, "steps": 1000, "seed": 0}

    def whole():
        return image_batches(x, y, batch_size, 0)

    return {
        "original": (original, lambda: ImageByImage(x, y, batch_size, 0.2, True, 0)),
        "whole batches": (rung(0.01), whole),
        "no dropout": (rung(0.0), whole),
        "fewer bits": (rung(0.0, "mixed_bfloat16"), whole),
        "fewer steps": (_recipe(**recipe), whole),
        "steps together": (_recipe(**recipe, steps_per_execution=8), whole),
    }


def _recipe(x, sizes, steps, seed, **options):
    """The fast network with the fast recipe, in 16 bits, compiled."""
    keras.utils.set_random_seed(seed)
    keras.config.set_dtype_policy("mixed_bfloat16")
    network = fast_network(sizes["depth"], sizes["width"], stem_pool=sizes["stem_pool"])
    model = with_preprocessing(network, x, shift=0, flip=False)
    keras.config.set_dtype_policy("float32")
    peak_rate = 0.1 * (sizes["batch_size"] / 32) ** 0.5
    model.compile(
        fast_optimizer(steps, peak_rate), fast_loss(), metrics=["accuracy"], **options
    )
    return model


def recipes(sizes: Mapping[str, Any], seeds: Sequence[int] = (0, 1)) -> dict:
    """Lab 08: the accuracy of both recipes after each epoch, and their seconds."""
    data, n = fashion_mnist(), sizes["train_images"]
    x, y = data.x_train[:n], data.y_train[:n]
    valid = data.x_test, np.eye(10, dtype="float32")[data.y_test]
    steps = n // sizes["batch_size"]
    runs = []
    for seed in seeds:
        fast = _recipe(x, sizes, steps * sizes["fast_epochs"], seed)
        keras.utils.set_random_seed(seed)
        keras.config.set_dtype_policy("mixed_bfloat16")
        network = wide_resnet(sizes["depth"], sizes["width"], dropout=0.01)
        slow = with_preprocessing(network, x, 0.2, True, seed)
        keras.config.set_dtype_policy("float32")
        slow.compile(optimizers.SGD(0.01), "categorical_crossentropy", metrics=["accuracy"])
        for name, model, epochs in (
            ("fast", fast, sizes["fast_epochs"]),
            ("original", slow, sizes["epochs"]),
        ):
            recorder = EpochRecorder()
            model.fit(
                image_batches(x, y, sizes["batch_size"], seed),
                validation_data=valid,
                validation_batch_size=500,
                steps_per_epoch=steps,
                epochs=epochs,
                callbacks=[recorder],
                verbose=0,
            )
            runs.append({"recipe": name, "seed": seed} | recorder.epochs)
    return {"runs": runs}
