"""A few words on the training that runs now, for a person who stops it or waits."""

import contextlib
import os
import time

# `labs run` names a file here, and shows what it says.
FILE = "LABS_UNDER_WAY"
SECONDS = 0.5  # between two writes: a training of milliseconds is not slowed down
_now = {}
_written = 0.0


def say(who: object, text: str) -> None:
    """Say how far something is.

    Parameters
    ----------
    who : object
        A sweep, or a training in it: each has its own words.
    text : str
        "epoch 2 of 5"; nothing: it has ended.
    """
    if text:
        _now[id(who)] = text
    else:
        _now.pop(id(who), None)
    _write()


def now() -> str:
    """The words of all that is under way, the outer first: "size 64, epoch 1 of 5"."""
    return ", ".join(_now.values())


def forget() -> None:
    """A cell has ended, whatever was under way in it."""
    _now.clear()
    _write(at_once=True)


def _write(at_once=False):
    global _written
    path = os.environ.get(FILE)
    if not path or not (at_once or time.monotonic() >= _written + SECONDS):
        return
    _written = time.monotonic()
    # The reader copes with half a line; a full disk must not end a training.
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as file:
        file.write(now())
