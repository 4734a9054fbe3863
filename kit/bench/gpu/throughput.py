"""Lab 02: images per second by batch size, the law behind them, and the memory."""

from collections.abc import Generator, Sequence
from statistics import median
from typing import Any

import jax
import keras
import numpy as np
from keras import optimizers

from callbacks import EpochRecorder
from helpers.data.fashion_mnist import fashion_mnist
from helpers.lab_02.reference import fit_throughput
from helpers.network.models import wide_resnet
from helpers.network.pipelines import with_preprocessing
from kit.bench.operations import operations_per_image


def image_batches(
    images: np.ndarray, labels: np.ndarray, batch_size: int, seed: int
) -> Generator[tuple[np.ndarray, np.ndarray]]:
    """Whole batches without end, in a new random order each time, as the labs serve them.

    Yields
    ------
    tuple of array
        uint8 images, and float32 one-hot labels (batch, 10).
    """
    one_hot, rng = np.eye(10, dtype="float32")[labels], np.random.default_rng(seed)
    waiting = np.empty(0, "int64")
    while True:
        while len(waiting) < batch_size:
            waiting = np.concatenate([waiting, rng.permutation(len(images))])
        now, waiting = waiting[:batch_size], waiting[batch_size:]
        yield images[now], one_hot[now]


def timed_steps(model: keras.Model, data: Any, steps: int) -> float:
    """Train so many steps; the seconds that they took."""
    recorder = EpochRecorder()
    model.fit(data, steps_per_epoch=steps, callbacks=[recorder], verbose=0)
    return recorder.epochs["train_seconds"][0]


def sweep(
    depth: int,
    width: int,
    policy: str,
    batch_sizes: Sequence[int] = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    fitted_up_to: int = 128,
    images: int = 10_000,
    rounds: int = 3,
) -> dict:
    """Lab 02: images per second by batch size, the law of the small ones, and memory."""
    data = fashion_mnist()
    x, y = data.x_train[:images], data.y_train[:images]
    keras.config.set_dtype_policy(policy)
    keras.utils.set_random_seed(0)
    network = wide_resnet(depth, width, dropout=0.01)
    model = with_preprocessing(network, x, seed=0)
    sgd = optimizers.SGD(0.01, weight_decay=5e-6)
    model.compile(sgd, "categorical_crossentropy", metrics=["accuracy"])
    speeds: dict[int, list[float]] = {size: [] for size in batch_sizes}
    first_seconds, peak_bytes = {}, {}
    for one_round in range(rounds):
        for size in batch_sizes:
            if one_round and size not in peak_bytes:
                continue
            batches = image_batches(x, y, size, one_round)
            try:
                first = timed_steps(model, batches, 1)
                steps = max(10, round(images / size))
                speeds[size].append(steps * size / timed_steps(model, batches, steps))
            except (RuntimeError, ValueError) as error:  # out of memory
                print(f"batch {size}: {str(error)[:300]}")
                break
            if not one_round:
                first_seconds[size] = first
                peak_bytes[size] = (jax.devices()[0].memory_stats() or {}).get(
                    "peak_bytes_in_use"
                )
    points = {size: median(found) for size, found in speeds.items() if found}
    t0, peak = fit_throughput({b: r for b, r in points.items() if b <= fitted_up_to})
    return {
        "network": network.name,
        "policy": policy,
        "parameters": network.count_params(),
        "operations_per_image": operations_per_image(network),
        "images_per_second": points,
        "rounds": speeds,
        "first_step_seconds": first_seconds,
        "peak_bytes": peak_bytes,
        "fit": {"up_to": fitted_up_to, "t0_seconds": t0, "peak": peak},
    }
