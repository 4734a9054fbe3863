"""How much memory training holds."""

import psutil
import tensorflow as tf


def memory_held_bytes() -> int:
    """The most memory that training has held so far.

    TensorFlow keeps the memory that it has allocated, to use it again in the next step.
    So in a sweep from small to large batch sizes this number grows, and it never falls.

    Returns
    -------
    int
        On a GPU, the most memory that TensorFlow's tensors have used there; otherwise the
        host memory that the whole process uses now.
    """
    if tf.config.list_physical_devices("GPU"):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"]
    return psutil.Process().memory_info().rss
