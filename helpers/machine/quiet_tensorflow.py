"""Import TensorFlow without its own log lines, and a fifth faster."""

import contextlib
import gc
import os
import sys
import warnings


def silence_tensorflow() -> None:
    """Import TensorFlow and Keras without the lines that they log about themselves."""
    # Keras warns that it does not shuffle a dataset again: this is intended.
    warnings.filterwarnings("ignore", message=".*`shuffle=True` was passed")
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with _discard_stderr(), _no_garbage_collection(), _without_jax():
        import tensorflow as tf

        tf.config.list_physical_devices()
    tf.get_logger().setLevel("ERROR")  # notebooks show its log as output


@contextlib.contextmanager
def _discard_stderr():
    # The descriptor, not sys.stderr: the lines come from C++.
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


@contextlib.contextmanager
def _without_jax():
    """TensorFlow Lite imports JAX where it is installed: a second, and 140 MB for nothing.

    With None in `sys.modules` such an import raises `ImportError`, which it expects. Where
    Keras computes with JAX, nothing is hidden: TensorFlow imports Keras.
    """
    hidden = "jax" not in sys.modules and os.environ.get("KERAS_BACKEND") != "jax"
    if hidden:
        sys.modules["jax"] = None  # ty: ignore[invalid-assignment] - Python's own way
    try:
        yield
    finally:
        if hidden:
            del sys.modules["jax"]


@contextlib.contextmanager
def _no_garbage_collection():
    """What an import makes stays: to look for garbage takes a fifth of its time.

    Nor is it looked through later, each time that much else has been made.
    """
    were_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if were_on:
            gc.enable()
