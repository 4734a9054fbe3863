"""A progress bar for work that takes more than a few seconds."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import keras
from tqdm import tqdm

from callbacks.live import under_way
from callbacks.live.divergence import divergence
from callbacks.stopping import stop_if_asked

_hidden = False


def hide_bars(hidden: bool) -> None:
    """Hide the bars of a loop that a live dashboard follows: it has a bar itself."""
    global _hidden
    _hidden = hidden


def progress(iterable: Iterable | None = None, **options: Any) -> tqdm:
    """Make a bar with the time left; it follows the iterable, if one is given."""
    options.setdefault("disable", _hidden)
    # stdout, not stderr: notebooks show stderr in red.
    return tqdm(iterable, leave=False, file=sys.stdout, mininterval=0.5, **options)


def counted(function: Callable, total: int, unit: str) -> Callable:
    """Wrap a function of one argument so that every call moves a bar."""
    bar = None  # before the first call, which may be in a later cell, there is none

    def call(argument):
        nonlocal bar
        if bar is None:
            bar = progress(total=total, unit=unit)
        bar.set_description(f"{unit} {argument}")
        under_way.say(call, f"{unit} {argument}")
        result = function(argument)
        under_way.say(call, "")
        bar.update()
        if bar.n >= total:
            bar.close()
        return result

    return call


class TrainingProgress(keras.callbacks.Callback):
    """A bar with the time left, for one of many trainings; a line if it diverges."""

    params: dict  # Keras sets them before a training

    def on_train_begin(self, logs: dict | None = None) -> None:
        steps, epochs = self.params.get("steps"), self.params["epochs"]
        self.bar = progress(total=steps and steps * epochs, unit="step")
        self.diverged = False

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self.bar.set_description(f"Epoch {epoch + 1}", refresh=False)
        under_way.say(self, f"epoch {epoch + 1} of {self.params['epochs']}")

    # Not at a batch's end: such a hook makes Keras wait for each batch.
    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        stop_if_asked()
        self.bar.update()

    # Other callbacks may print now.
    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.bar.clear()
        if not self.diverged and (line := divergence(logs or {}, epoch + 1, self.model)):
            self.diverged = True
            print(line)

    def on_train_end(self, logs: dict | None = None) -> None:
        under_way.say(self, "")
        self.bar.close()
