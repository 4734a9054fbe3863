"""Measure a training step: the original recipe, the fast one, and the limit.

All run in one process, in turn, on the same images and device. The limit is what the
network's convolutions take when they run alone: nothing that only changes what stands
between them can be faster.
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from rich.console import Console
from rich.table import Table

from helpers.data.fashion_mnist import fashion_mnist
from helpers.data.images import Images
from helpers.network.pipelines import batches, with_preprocessing
from helpers.network.precision import dtype_policy
from helpers.network.recipes import fast_loss, fast_network, fast_optimizer
from kit.bench.measurement import DOCS, UNFINISHED, machine, rate, resumable, store
from kit.bench.operations import convolutions_of, operations_per_image
from kit.bench.original import BATCH, original_flow, original_model

TURNS = 7
# Depth, width, images of a turn: enough steps for a steady rate, few enough for a laptop.
NETWORKS = ((16, 1, 640), (16, 4, 256), (16, 10, 64))
PRECISIONS = {"float32": "float32", "mixed_bfloat16": "bfloat16"}


def bench(
    networks: Sequence[tuple[int, int, int]] = NETWORKS,
    turns: int = TURNS,
    docs: Path = DOCS,
    unfinished: Path = UNFINISHED,
) -> None:
    """Write training.json and print it as a table.

    Parameters
    ----------
    networks : sequence of tuple of int
        Depth, width, and how many images a turn trains.
    turns : int
    docs, unfinished : Path
        Folders for the result, and for what an interrupted bench has done.
    """
    data = fashion_mnist()
    jobs = {
        f"WRN-{depth}-{width}": lambda shape=(depth, width), n=images: measure(
            shape, n, turns, data
        )
        for depth, width, images in networks
    }
    settings = {
        "batch_size": BATCH,
        "turns": turns,
        "networks": networks,
        "data": data.source,
    }
    done = resumable("training", settings, jobs, unfinished)
    path = store("training", machine() | settings | {"rows": summary(done)}, docs)
    (unfinished / "training.json").unlink()
    Console().print(_table(summary(done)))
    print(f"Written to {path}")


def measure(shape: tuple[int, int], images: int, turns: int, data: Images) -> dict:
    """Images per second of every variant of one network, in every turn."""
    x, y = data.x_train[:images], data.y_train[:images]
    variants = {"original": _fit(original_model(*shape, 1), original_flow(x, y), images)}
    for precision, dtype in PRECISIONS.items():
        variants[precision] = fast_training(shape, precision, x, y)
        variants[f"limit {precision}"] = convolutions_alone(shape, dtype, images)
    for variant in variants.values():
        variant()  # start-up does not count
    return {
        "operations_per_image": operations_per_image(fast_network(*shape)),
        "turns": [
            {name: rate(variant) for name, variant in variants.items()}
            for _ in range(turns)
        ],
    }


def fast_training(
    shape: tuple[int, int], precision: str, x: np.ndarray, y: np.ndarray
) -> Callable[[], int]:
    """Train by the fast recipe, with the original's augmentation; a function."""
    with dtype_policy(precision):
        model = with_preprocessing(fast_network(*shape), x, seed=0)
    model.compile(
        fast_optimizer(1000), fast_loss(), metrics=["accuracy"], jit_compile=False
    )
    return _fit(model, batches(x, y, BATCH, seed=0), len(x))


def _fit(model, data, images):
    def fit():
        model.fit(data, verbose=0)
        return images

    return fit


def convolutions_alone(
    shape: tuple[int, int], dtype: str, images: int
) -> Callable[[], int]:
    """Run the convolutions of training steps and nothing else; a function."""
    found = convolutions_of(fast_network(*shape))
    works = [(_one_convolution(*key, dtype), count) for key, count in found.items()]

    def run():
        for step, count in works:
            for _ in range(count * (images // BATCH)):
                step()
        tf.test.experimental.sync_devices()
        return images // BATCH * BATCH

    return run


def _one_convolution(shape, kernel_shape, inner, dtype):
    """A convolution of a batch, forward and backward, as a function."""
    x = tf.Variable(tf.cast(tf.random.normal((BATCH, *shape)), dtype))
    kernel = tf.Variable(tf.cast(tf.random.normal(kernel_shape), dtype))
    wanted = [kernel, x] if inner else [kernel]
    upstream = tf.Variable(tf.nn.conv2d(x, kernel, 1, "SAME"))

    @tf.function(jit_compile=False)
    def step():
        with tf.GradientTape() as tape:
            y = tf.nn.conv2d(x, kernel, 1, "SAME")
        return y, tape.gradient(y, wanted, output_gradients=upstream)

    return step


def summary(done: dict[str, dict]) -> list[dict]:
    """Medians over the turns, and ratios to the original; a ratio's turn is one turn.

    Parameters
    ----------
    done : dict of str to dict
        By the network's name, what `measure` returned and the load average.

    Returns
    -------
    list of dict
    """
    rows = []
    for name, found in done.items():
        variants = {}
        for variant in found["turns"][0]:
            rates = {
                clock: [turn[variant][clock] for turn in found["turns"]]
                for clock in ("wall", "cpu")
            }
            variants[variant] = {
                "images_per_second": statistics.median(rates["wall"]),
                "images_per_cpu_second": statistics.median(rates["cpu"]),
                "wall_ratio": _ratio(found["turns"], variant, "wall"),
                "cpu_ratio": _ratio(found["turns"], variant, "cpu"),
            }
        rows.append({"network": name, "variants": variants} | found)
    return rows


def _ratio(turns, variant, clock):
    return statistics.median(t[variant][clock] / t["original"][clock] for t in turns)


def _table(rows):
    table = Table("network", "variant", "images/s", "ratio", "by CPU time")
    for row in rows:
        for name, variant in row["variants"].items():
            table.add_row(
                row["network"],
                name,
                f"{variant['images_per_second']:,.0f}",
                f"{variant['wall_ratio']:.2f}",
                f"{variant['cpu_ratio']:.2f}",
            )
    return table
