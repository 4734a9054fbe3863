"""Call `fit` of a tiny model for real, so that a callback is called as Keras calls it."""

import contextlib
import functools
from collections.abc import Callable, Sequence

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.printed import Printed

BATCH_SIZE = 2


class Idle(keras.Sequential):
    """Its steps compute nothing: what matters is when Keras calls the callbacks."""

    def make_train_function(self, force: bool = False) -> None:
        self.train_function = lambda iterator: self.get_metrics_result()

    def make_test_function(self, force: bool = False) -> None:
        self.test_function = lambda iterator: self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, float]:
        return {"loss": 0.0, "accuracy": 0.0}

    def reset_metrics(self) -> None:
        pass


@functools.cache
def _model():
    """One for all fits: nothing in it changes, and it takes longer to make than to fit."""
    model = Idle([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse", run_eagerly=True)
    return model


class InterruptedFitError(Exception):
    """Ends a fit in its middle, as the stop button does."""


def train(
    callback: keras.callbacks.Callback | list[keras.callbacks.Callback],
    epochs: list[dict],
    wait: Callable,
    fits: Sequence[int] = (True,),
    interrupted_after: int | None = None,
    initial_epochs: Sequence[int] = (),
    interrupted_in_validation: bool = False,
) -> dict[str, list]:
    """Call Keras' `fit` with the callback, and with waits where time has to pass.

    Parameters
    ----------
    callback : keras.callbacks.Callback or list of keras.callbacks.Callback
    epochs : list of dict
        For each epoch `batch_seconds` (a list), `validation_seconds`, and
        `metrics` that replace what Keras logs. `pause_seconds`, if it is there,
        passes after the first batch, before the second; `between_seconds` passes
        after the epoch.
    wait : callable
        Called in the middle of every batch and validation, in a pause, and before
        and after `fit`.
    fits : sequence of int
        A `fit` with the same callback for each: after how many epochs it validates, 1 or
        True for every epoch, 0 or False for none.
    interrupted_after : int, optional
        The first `fit` ends with an exception after so many epochs.
    initial_epochs : sequence of int, optional
        The epoch with which each `fit` begins, counted from 0.
    interrupted_in_validation : bool
        Whether the first `fit` ends with an exception in its first validation.

    Returns
    -------
    dict
        `printed`: for each fit the lines printed at each epoch, those after
        the last epoch in one more entry; `epochs_run`: a number for each fit.
    """
    steps = len(epochs[0]["batch_seconds"])
    x = np.zeros((steps * BATCH_SIZE, 1), "float32")
    model = _model()
    wait(0)
    result = {"printed": [], "epochs_run": []}
    callbacks = callback if isinstance(callback, list) else [callback]
    for number, validate in enumerate(fits):
        waits = Waits(epochs, wait, printed := Printed())
        if number == 0:
            waits.interrupted_after = interrupted_after
            waits.interrupted_in_validation = interrupted_in_validation
        with printed, contextlib.suppress(InterruptedFitError):
            model.fit(
                _served(x, BATCH_SIZE),
                epochs=len(epochs),
                initial_epoch=initial_epochs[number] if initial_epochs else 0,
                validation_data=_served(x[:1], 1) if validate else None,
                validation_freq=int(validate) or 1,
                callbacks=[Metrics(epochs), *callbacks, waits],
                verbose=0,
            )
        wait(0)
        result["printed"].append(printed.parts())
        result["epochs_run"].append(waits.epochs_run)
    return result


def _served(x, batch_size):
    """A data set that is not optimised again in every epoch, which would be slow."""
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = False
    data = tf.data.Dataset.from_tensor_slices((x, x)).batch(batch_size)
    return data.with_options(options)


class Metrics(keras.callbacks.Callback):
    """Runs before the answer: gives it the question's metrics."""

    def __init__(self, epochs: list[dict]) -> None:
        super().__init__()
        self.epochs = epochs

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        assert logs is not None  # Keras always gives them
        logs.update(self.epochs[epoch].get("metrics", {}))


class Waits(keras.callbacks.Callback):
    """Runs after the answer, which has started its clock when this waits."""

    def __init__(self, epochs: list[dict], wait: Callable, printed: Printed) -> None:
        super().__init__()
        self.epochs, self.wait, self.printed = epochs, wait, printed
        self.epochs_run, self.interrupted_after = 0, None
        self.interrupted_in_validation = False

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self.epoch = epoch

    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        self.wait(self.epochs[self.epoch]["batch_seconds"][batch])

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        if batch == 0 and (seconds := self.epochs[self.epoch].get("pause_seconds")):
            self.wait(seconds)

    def on_test_begin(self, logs: dict | None = None) -> None:
        self.wait(self.epochs[self.epoch].get("validation_seconds", 0))
        if self.interrupted_in_validation:
            raise InterruptedFitError

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        self.printed.cut()
        self.epochs_run += 1
        if seconds := self.epochs[epoch].get("between_seconds"):
            self.wait(seconds)
        if self.epochs_run == self.interrupted_after:
            raise InterruptedFitError
