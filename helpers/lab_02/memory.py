"""How much memory training holds."""

import psutil
import tensorflow as tf


def memory_held_bytes() -> int:
    """The most memory that training has held so far.

    TensorFlow keeps what it once took, for the next step. So in a sweep from small to
    large batch sizes this grows with the batch size, and never falls.

    Returns
    -------
    int
        On a GPU, what TensorFlow's tensors took there at most; else what the whole
        process holds in main memory now.
    """
    if tf.config.list_physical_devices("GPU"):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"]
    return psutil.Process().memory_info().rss
