"""The calibration load: training steps that are the same everywhere.

A score is a time divided by the load's, so that quick and slow machines can be compared.
The load trains a small convolutional network in float32 on images that it makes itself.
"""

import itertools
import time
from collections.abc import Callable

from helpers.speed_record.rule import CALIBRATION_STEPS

BATCH = 128
CHANNELS = (16, 32, 64)
WARM_UP_STEPS = 5  # compile and allocate: they do not count


def calibration_load() -> Callable[[int], float]:
    """Build the network, and take the steps that do not count.

    Returns
    -------
    callable
        ``load(steps)`` takes so many training steps, waits until they are done, and returns
        the last loss.
    """
    import tensorflow as tf

    random = tf.random.Generator.from_seed(0)
    images = random.normal((BATCH, 28, 28, 1))
    labels = random.uniform((BATCH,), maxval=10, dtype=tf.int32)
    sizes = (1, *CHANNELS)
    kernels = [
        tf.Variable(random.normal((3, 3, size, following), stddev=(2 / (9 * size)) ** 0.5))
        for size, following in itertools.pairwise(sizes)
    ]
    dense = tf.Variable(random.normal((CHANNELS[-1], 10), stddev=0.1))
    weights = [*kernels, dense]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            x = images
            for kernel in kernels:
                x = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME"))
                x = tf.nn.max_pool2d(x, 2, 2, "SAME")
            logits = tf.reduce_mean(x, (1, 2)) @ dense
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            )
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.01 * gradient)
        return loss

    def load(steps):
        loss = 0.0
        for _ in range(steps):
            loss = step()
        return float(loss)

    load(WARM_UP_STEPS)
    return load


def calibration_seconds(
    load: Callable[[int], float], steps: int = CALIBRATION_STEPS
) -> float:
    """Seconds of the load by this process's own clock, for a dry run.

    The judge uses a clock outside of the process instead.
    """
    began = time.perf_counter()
    load(steps)
    return time.perf_counter() - began
