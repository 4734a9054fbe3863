"""Whether a batch fits into memory, checked before the system kills the process."""

import contextlib
import math
from collections.abc import Generator

import keras
import tensorflow as tf

from helpers.machine.computer import memory_free_bytes


@contextlib.contextmanager
def memory_guard(model: keras.Model, batch_size: int) -> Generator[None]:
    """Turn running out of memory into Python's MemoryError.

    A GPU reports that its memory is full. On a CPU the system kills the process, so
    there a batch that cannot fit is refused before it is tried.

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
                f"a batch of {batch_size:,} needs about {needed / 2**30:.1f} GiB, but only "
                f"{free / 2**30:.1f} GiB are free"
            )
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        raise MemoryError(f"a batch of {batch_size:,} did not fit") from error


def memory_needed_bytes(model: keras.Model, batch_size: int) -> float:
    """Estimate what one training step of a batch keeps in memory.

    Three bytes for each value in the layers' outputs: WRN-16-1 on a CPU grew by
    3.1 at batch sizes 256 and 512 (outputs stay for the backward pass, but some
    layers work in place), when batch normalisation was not one kernel yet.

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
