"""What the labs run on, in words that every figure can carry."""

import contextlib
import math
import os
import platform
import re
from pathlib import Path

import keras
import psutil
import tensorflow as tf

from helpers.errors import DeviceError


def describe_device():
    """Say what Keras computes on here.

    Returns
    -------
    dict
        `kind` ("cpu", "gpu" or "tpu"), `name`, `replicas` and `simulated`.
    """
    tpus = tf.config.list_physical_devices("TPU")
    gpus = tf.config.list_physical_devices("GPU")
    if tpus:
        kind, name = "tpu", f"TPU, {len(tpus)} cores"
    elif gpus:
        details = tf.config.experimental.get_device_details(gpus[0])
        kind, name = "gpu", details.get("device_name", "GPU")
    else:
        kind, name = "cpu", f"{_cpu_name()}, {os.cpu_count()} cores"
    return {"kind": kind, "name": name, "replicas": 1, "simulated": False}


def claim_gpu(index=0, memory_growth=True, memory_limit_mib=None):
    """Take one GPU and a share of its memory, before TensorFlow starts.

    Parameters
    ----------
    index : int
        Which of the GPUs that TensorFlow sees.
    memory_growth : bool
        Take memory as it is needed, and not nearly all of it at the start.
    memory_limit_mib : int, optional
        Take this much and never more; asks for ``memory_growth=False``.

    Returns
    -------
    dict
        What was done: `gpu` (the index, or None without any GPU),
        `memory_growth` and `memory_limit_mib`.

    Raises
    ------
    ValueError
        If memory is to grow and have a limit, which TensorFlow does not allow,
        or if there is no such GPU.
    DeviceError
        If TensorFlow has started: its devices are fixed then.
    """
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


@contextlib.contextmanager
def memory_guard(model, batch_size):
    """Turn running out of memory into Python's MemoryError.

    A GPU says when it has no room. A CPU does not: the system kills the process,
    so there a batch that cannot fit is refused before it is tried.

    Parameters
    ----------
    model : keras.Model
    batch_size : int

    Raises
    ------
    MemoryError
    """
    if not tf.config.list_physical_devices("GPU"):
        needed, free = memory_needed_bytes(model, batch_size), memory_free_bytes()
        if needed > free:
            raise MemoryError(
                f"a batch of {batch_size:,} needs about {needed / 2**30:.1f} GiB, "
                f"{free / 2**30:.1f} GiB are free"
            )
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        raise MemoryError(f"a batch of {batch_size:,} did not fit") from error


def memory_needed_bytes(model, batch_size):
    """Estimate what one training step of a batch keeps in memory.

    Three bytes for each value in the layers' outputs: WRN-16-1 on a CPU grew by
    3.1 at batch sizes 256 and 512 (outputs stay for the backward pass, but some
    layers work in place).

    Parameters
    ----------
    model : keras.Model
    batch_size : int
    """
    values = 0
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            values += memory_needed_bytes(layer, 1) / 3
        else:
            values += math.prod(layer.output.shape[1:])
    return 3 * values * batch_size


def memory_free_bytes():
    """Main memory that a process can still take, without swapping."""
    free = psutil.virtual_memory().available
    try:  # a container has a limit of its own
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text()
    except OSError:
        return free
    return free if limit == "max" else min(free, int(limit) - int(used))


def _cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    name = re.sub(r"\((R|TM)\)|Processor|CPU", "", line.split(":")[1])
                    return " ".join(name.split())
    except OSError:
        pass
    return platform.processor() or platform.machine()
