"""Which floating-point precision trains fastest here: tried, not told by a name."""

import contextlib
import statistics
import time
from collections.abc import Callable, Generator

import keras
import numpy as np
import tensorflow as tf

from helpers.machine.devices import has_tpu


@contextlib.contextmanager
def dtype_policy(name: str) -> Generator[None]:
    """Make new layers with a dtype policy of Keras, and put the old one back after."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def candidates() -> list[str]:
    """The precisions that are worth a try on this device.

    Which is faster on a CPU its name does not say: with AMX bfloat16 doubled the speed
    of training, with AVX-512 and without AMX it was once slower than float32.

    Returns
    -------
    list of str
        "float32", then the policy with half the bits: "mixed_float16" on GPUs before
        compute capability 8.0, which have no bfloat16; "mixed_bfloat16" elsewhere.
    """
    gpus = [] if has_tpu() else tf.config.list_physical_devices("GPU")
    details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
    capability = min((d.get("compute_capability", (0, 0)) for d in details), default=(8, 0))
    return ["float32", "mixed_bfloat16" if capability >= (8, 0) else "mixed_float16"]


def training_speeds(
    new_model: Callable,
    images: np.ndarray,
    labels: np.ndarray,
    precisions: list[str] | None = None,
    seconds: float = 1.0,
) -> dict[str, float]:
    """Images per second of training in each precision, their steps in turn.

    Parameters
    ----------
    new_model : callable
        Builds and compiles a new model. Called once under each dtype policy; for
        "mixed_float16" Keras then scales the loss by itself.
    images, labels : arrays
        One batch, as the model takes it.
    precisions : list of str, optional
        Names of dtype policies; None: `candidates`.
    seconds : float
        Wall time for each; the first two steps, with tracing, come on top.

    Returns
    -------
    dict of str to float
        From the median step of each precision.
    """
    models = {}
    for precision in precisions or candidates():
        with dtype_policy(precision):
            models[precision] = new_model()
        for _ in range(2):
            models[precision].train_on_batch(images, labels)
    took = {precision: [] for precision in models}
    while min(map(sum, took.values())) < seconds:
        for precision, model in models.items():
            began = time.perf_counter()
            model.train_on_batch(images, labels)  # returns numbers, so it has waited
            took[precision].append(time.perf_counter() - began)
    return {name: len(images) / statistics.median(steps) for name, steps in took.items()}


def choose(precision: str, speeds: dict[str, float]) -> str:
    """The precision that was asked for; for "auto" the fastest of `training_speeds`."""
    return max(speeds, key=lambda name: speeds[name]) if precision == "auto" else precision
