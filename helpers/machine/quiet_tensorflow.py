"""Import TensorFlow without its own log lines, and a fifth faster."""

import contextlib
import gc
import os
import sys
import warnings


def silence_tensorflow(figures: bool = True) -> None:
    """Import TensorFlow and Keras without the lines that they log about themselves.

    Parameters
    ----------
    figures : bool
        False in a process that draws nothing: Keras then does without Matplotlib, which is
        a sixth of the import.
    """
    # Keras warns that it does not shuffle a dataset again: this is intended.
    warnings.filterwarnings("ignore", message=".*`shuffle=True` was passed")
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with _discard_stderr(), _no_garbage_collection(), _hidden(_not_needed(figures)):
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


def _not_needed(figures):
    """TensorFlow Lite imports JAX where it is installed: a second, and 140 MB for nothing.

    Where Keras computes with JAX, JAX is not hidden: TensorFlow imports Keras.
    """
    if os.environ.get("KERAS_BACKEND") != "jax":
        yield "jax"
    if not figures:
        yield "matplotlib"


@contextlib.contextmanager
def _hidden(packages):
    # With None in `sys.modules` an import raises ImportError, which the importers expect.
    hidden = [package for package in packages if package not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # None is Python's own way
    try:
        yield
    finally:
        for package in hidden:
            del sys.modules[package]


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
