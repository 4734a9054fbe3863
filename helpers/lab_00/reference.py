"""The solutions in labs/00_devices.py, written by `labs build`: edit there."""

import statistics
import time

import tensorflow as tf

from helpers.errors import DeviceError


# Solution 0.1: make one GPU visible, with memory growth or a limit.
def claim_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    """Take one GPU and a share of its memory; say what was done."""
    if memory_growth and memory_limit_mib:
        raise ValueError("memory grows or has a limit: give memory_growth=False too")
    gpus = tf.config.list_physical_devices("GPU")
    if not gpus:
        print("There is no GPU here: going on with the CPU.")
        return {"gpu": None, "memory_growth": False, "memory_limit_mib": None}
    if index not in range(len(gpus)):
        raise ValueError(f"index must be below {len(gpus)}, not {index}")
    gpu = gpus[index]
    try:
        tf.config.set_visible_devices(gpu, "GPU")
        if memory_growth:
            tf.config.experimental.set_memory_growth(gpu, True)
        elif memory_limit_mib:
            limit = tf.config.LogicalDeviceConfiguration(memory_limit_mib)
            tf.config.set_logical_device_configuration(gpu, [limit])
    except RuntimeError as error:
        message = "TensorFlow has started: restart the kernel and claim the GPU first."
        raise DeviceError(message) from error
    return {
        "gpu": index,
        "memory_growth": memory_growth,
        "memory_limit_mib": memory_limit_mib,
    }


# Solution 0.2: the median time of a matrix product in seconds, and its GFLOP/s.
def time_matmul(device, m, k, n, repeats):
    """Median seconds and GFLOP/s of an (m, k) by (k, n) product on a device."""
    with tf.device(device):
        a, b = tf.random.normal((m, k)), tf.random.normal((k, n))
        tf.matmul(a, b)[0, 0].numpy()
        times = []
        for _ in range(repeats):
            began = time.perf_counter()
            tf.matmul(a, b)[0, 0].numpy()
            times.append(time.perf_counter() - began)
    seconds = statistics.median(times)
    return seconds, 2 * m * k * n / seconds / 1e9


# Solution 0.3: the size from which the fast device always wins, or None.
def crossover(sizes, slow_seconds, fast_seconds):
    """The size from which fast always beats slow, or None."""
    winner = None
    rows = list(zip(sizes, slow_seconds, fast_seconds, strict=True))
    for size, slow, fast in reversed(rows):
        if fast >= slow:
            break
        winner = size
    return winner


REFERENCES = {
    "0.1": claim_gpu,
    "0.2": time_matmul,
    "0.3": crossover,
}
