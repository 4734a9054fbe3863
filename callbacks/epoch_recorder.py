"""Record every epoch's times and accuracy for the run card."""

import time

import keras

from callbacks.stopping import stop_if_asked
from callbacks.waiting import wait_for_device


class EpochRecorder(keras.callbacks.Callback):
    """Keep the times and the validation accuracy of every epoch.

    Parameters
    ----------
    stop_at : float, optional
        End training after the first epoch whose validation accuracy is at
        least this.

    Attributes
    ----------
    epochs : dict of list
        `train_seconds` (without validation), `wall_seconds` (since training
        began) and, with validation, `val_accuracy`: an entry for each epoch.

    Notes
    -----
    Keras computes accuracies in float32, where 820 of 1,000 is 0.8199999928. They are
    rounded to six decimals, so that a share that is equal to `stop_at` has reached it.
    """

    def __init__(self, stop_at: float | None = None) -> None:
        super().__init__()
        self.stop_at = stop_at

    def on_train_begin(self, logs: dict | None = None) -> None:
        self.epochs = {"train_seconds": [], "wall_seconds": [], "val_accuracy": []}
        self.began = time.perf_counter()

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self.epoch_began, self.trained = time.perf_counter(), None

    # Not at a batch's end: such a hook makes Keras wait for each batch.
    def on_train_batch_begin(self, batch: int, logs: dict | None = None) -> None:
        stop_if_asked()

    def on_test_begin(self, logs: dict | None = None) -> None:
        wait_for_device(self.model)
        self.trained = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        now = time.perf_counter()
        self.epochs["train_seconds"].append((self.trained or now) - self.epoch_began)
        self.epochs["wall_seconds"].append(now - self.began)
        if not logs or "val_accuracy" not in logs:
            return
        accuracy = round(float(logs["val_accuracy"]), 6)
        self.epochs["val_accuracy"].append(accuracy)
        if self.stop_at is not None and accuracy >= self.stop_at:
            self.model.stop_training = True
