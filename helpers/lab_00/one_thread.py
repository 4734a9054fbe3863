"""Run work in a separate process, on one CPU thread or on all of them.

TensorFlow fixes its number of threads when it starts, so each number needs a new process.
"""

import json
import os
import statistics
import subprocess
import sys
import timeit

import numpy as np

from helpers.files import REPOSITORY
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.plain_json import as_json


def time_products(
    sizes: list[int], repeats: int, threads: int | None = None
) -> list[float]:
    """Median seconds of a square product of each size, timed by the solution of 0.2.

    Parameters
    ----------
    sizes : list of int
    repeats : int
        Timed products per size.
    threads : int, optional
        Number of CPU threads. None leaves the number to TensorFlow.

    Returns
    -------
    list of float
    """
    return _run({"sizes": sizes, "repeats": repeats}, threads)


def sum_on_one_thread(seed: int) -> float:
    """The result of `sum_of_product` when TensorFlow has a single thread."""
    return _run({"seed": seed}, threads=1)


def sum_of_product(seed: int, columns_first: bool = False) -> float:
    """Sum over the product of two random 500x500 matrices, in float32.

    Parameters
    ----------
    seed : int
        Gives the same matrices on every device and in every process.
    columns_first : bool
        Add up each column first and then the sums, which rounds differently.

    Returns
    -------
    float
    """
    import tensorflow as tf

    a, b = random_matrices(seed)
    product = tf.matmul(a, b)
    if columns_first:
        product = tf.reduce_sum(product, axis=0)
    return float(tf.reduce_sum(product))


def random_matrices(seed: int) -> np.ndarray:
    """Two float32 matrices, 500x500, standard normal."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2, 500, 500)).astype("float32")


def _run(job, threads):
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"}
    if threads:
        kinds = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")
        environment |= dict.fromkeys(kinds, str(threads))
    ended = subprocess.run(
        [sys.executable, "-m", "helpers.lab_00.one_thread", as_json(job)],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ended.stdout)


def _main(job):
    silence_tensorflow(figures=False)
    if "seed" in job:
        return sum_of_product(job["seed"])
    try:
        from helpers.lab_00.reference import time_matmul
    except ModuleNotFoundError:  # grading runs whole notebooks without it
        return [_median_seconds(n, job["repeats"]) for n in job["sizes"]]
    return [time_matmul("CPU:0", n, n, n, job["repeats"])[0] for n in job["sizes"]]


def _median_seconds(n, repeats):
    """Time a product on a CPU, where the call returns only when it is done."""
    import tensorflow as tf

    a, b = tf.random.normal((2, n, n))
    times = timeit.repeat(lambda: tf.matmul(a, b), number=1, repeat=repeats + 1)
    return statistics.median(times[1:])


if __name__ == "__main__":
    print(as_json(_main(json.loads(sys.argv[1]))))
