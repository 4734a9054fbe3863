"""How long training took so far, and in all."""

import time

import keras


class PrintTotalTime(keras.callbacks.Callback):
    """Print the wall seconds since training began.

    ``Cumulative training time after epoch 3: 12.34`` after every epoch and
    ``Cumulative training time: 40.21`` at the end; validation is included.
    """

    def on_train_begin(self, logs: dict | None = None) -> None:
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        wall_seconds = time.perf_counter() - self.began
        print(f"Cumulative training time after epoch {epoch + 1}: {wall_seconds:.2f}")

    def on_train_end(self, logs: dict | None = None) -> None:
        wall_seconds = time.perf_counter() - self.began
        print(f"Cumulative training time: {wall_seconds:.2f}")
