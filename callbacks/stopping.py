"""Stop training between two batches, where the model and its figures are whole."""

import time

LATELY_SECONDS = 1.0

_asked = False
_batch_began = -LATELY_SECONDS  # by `time.monotonic`


def ask_to_stop() -> bool:
    """Ask the training that runs to stop where its next batch begins.

    Returns
    -------
    bool
        Whether one of our callbacks has lately seen a batch begin, so that it is likely to
        see the next one.
    """
    global _asked
    _asked = time.monotonic() - _batch_began < LATELY_SECONDS
    return _asked


def is_asked() -> bool:
    """Whether training has been asked to stop, and has not."""
    return _asked


def take_back() -> None:
    """Ask no more."""
    global _asked
    _asked = False


def stop_if_asked() -> None:
    """To be called where a batch begins.

    Raises
    ------
    KeyboardInterrupt
        If `ask_to_stop` was called.
    """
    global _batch_began
    _batch_began = time.monotonic()
    if _asked:
        take_back()
        raise KeyboardInterrupt
