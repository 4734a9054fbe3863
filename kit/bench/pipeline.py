"""Measure the input pipeline against ImageDataGenerator, the original lab's.

Both run in one process, in turn, on the same images, model and device. It measures wall
time and process CPU time: on a shared machine another guest can take a core away for
seconds, which changes wall time but not CPU time.
"""

import statistics
from collections.abc import Callable

import keras
import numpy as np
from rich.console import Console
from rich.table import Table

from callbacks.live.progress import progress
from helpers.data.fashion_mnist import fashion_mnist
from helpers.files import REPOSITORY
from helpers.machine.devices import describe_device
from helpers.network.models import wide_resnet
from helpers.network.pipelines import RandomFlipShift, batches, with_preprocessing
from helpers.plain_json import write_json
from helpers.run_card.documents import versions
from kit.bench.measurement import rate
from kit.bench.original import original_flow, original_generator

REPEATS = 7
IMAGES = 10_000
PIPELINE_IMAGES = 6_000
# Width and images: enough steps for a steady rate, few enough for a laptop.
TRAININGS = ((1, 512), (2, 256), (10, 64))


def bench() -> None:
    """Write docs/bench/pipeline.json and print it as a table."""
    data = fashion_mnist()
    x, y = data.x_train[:IMAGES], data.y_train[:IMAGES]
    rows = []
    for batch_size in (32, 256):
        ours, theirs = pipeline_ours(x, y, batch_size), pipeline_original(x, y, batch_size)
        rows.append(compare(f"pipeline alone, batch {batch_size}", ours, theirs))
    for width, images in TRAININGS:
        ours, theirs = training(x, y, width, images)
        rows.append(compare(f"training WRN-16-{width}, batch 32", ours, theirs))
    result = {
        "device": describe_device(),
        "versions": versions(),
        "data": data.source,
        "repeats": REPEATS,
        "rows": rows,
    }
    path = REPOSITORY / "docs" / "bench" / "pipeline.json"
    write_json(path, result)
    table = Table(
        "images/s, medians", "this kit", "ImageDataGenerator", "ratio", "by CPU time"
    )
    for row in rows:
        table.add_row(
            row["what"],
            f"{row['ours_images_per_second']:,.0f}",
            f"{row['original_images_per_second']:,.0f}",
            f"{row['ratio']:.2f}",
            f"{row['cpu_time_ratio']:.2f}",
        )
    Console().print(table)
    print(f"{result['device']['name']}; written to {path.relative_to(REPOSITORY)}")


def compare(what: str, ours: Callable[[], int], theirs: Callable[[], int]) -> dict:
    """Run two functions that return how many images they handled, in turn.

    Returns
    -------
    dict
        Medians over the repeats: images per wall second of both, and the ratios
        of ours to theirs by wall time and by process CPU time.
    """
    ours(), theirs()  # start-up does not count
    pairs = [(rate(ours), rate(theirs)) for _ in progress(range(REPEATS), desc=what)]
    return {
        "what": what,
        "ours_images_per_second": statistics.median(a["wall"] for a, _ in pairs),
        "original_images_per_second": statistics.median(b["wall"] for _, b in pairs),
        "ratio": statistics.median(a["wall"] / b["wall"] for a, b in pairs),
        "cpu_time_ratio": statistics.median(a["cpu"] / b["cpu"] for a, b in pairs),
        "pairs": pairs,
    }


def pipeline_ours(x: np.ndarray, y: np.ndarray, batch_size: int) -> Callable[[], int]:
    """Make one function that serves images, with augmentation and scaling."""
    augment = RandomFlipShift(0.2, True, seed=0)
    mean, scale = float(x.mean()), float(x.std())
    data = batches(x, y, batch_size, seed=0, repeat=True).map(
        lambda images, labels: ((augment(images, training=True) - mean) / scale, labels)
    )
    return _serve(iter(data.prefetch(2)))


def pipeline_original(x: np.ndarray, y: np.ndarray, batch_size: int) -> Callable[[], int]:
    """The generator of the original lab, as a function that serves images."""
    return _serve(original_generator(x).flow(*_floats(x, y), batch_size=batch_size))


def training(
    x: np.ndarray, y: np.ndarray, width: int, images: int
) -> tuple[Callable[[], int], Callable[[], int]]:
    """Two functions that train the same network, fed by either pipeline."""
    x, y = x[:images], y[:images]
    ours = with_preprocessing(wide_resnet(16, width), x, seed=0)
    theirs = wide_resnet(16, width)
    data = batches(x, y, 32, seed=0)
    flow = original_flow(x, y)
    for model in (ours, theirs):
        model.compile(
            "sgd", "categorical_crossentropy", metrics=["accuracy"], jit_compile=False
        )
    return _fit(ours, data, images), _fit(theirs, flow, images)


def _floats(x, y):
    return x.astype("float32"), keras.utils.to_categorical(y, 10)


def _serve(iterator):
    def serve():
        served = 0
        while served < PIPELINE_IMAGES:
            served += len(next(iterator)[0])
        return served

    return serve


def _fit(model, data, images):
    def fit():
        model.fit(data, verbose=0)
        return images

    return fit
