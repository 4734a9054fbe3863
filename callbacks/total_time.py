"""Print the wall time of training so far, and what it was spent on."""

import time

import keras


class PrintTotalTime(keras.callbacks.Callback):
    """Print the time since training began, and at the end its parts.

    Prints ``Cumulative training time after epoch 3: 12.34`` after every epoch. At the end
    it prints ``Cumulative training time: 40.21``, and how much of that was start-up (until
    the end of the first batch), validation, and training (all the rest). In seconds.
    """

    def on_train_begin(self, logs: dict | None = None) -> None:
        self.began = time.perf_counter()
        self.start_up = self.validation = 0.0

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        if not self.start_up:
            self.start_up = time.perf_counter() - self.began

    def on_test_begin(self, logs: dict | None = None) -> None:
        self.test_began = time.perf_counter()

    def on_test_end(self, logs: dict | None = None) -> None:
        self.validation += time.perf_counter() - self.test_began

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        wall_seconds = time.perf_counter() - self.began
        print(f"Cumulative training time after epoch {epoch + 1}: {wall_seconds:.2f}")

    def on_train_end(self, logs: dict | None = None) -> None:
        wall_seconds = time.perf_counter() - self.began
        training = wall_seconds - self.start_up - self.validation
        print(f"Cumulative training time: {wall_seconds:.2f}")
        print(f"Start-up: {self.start_up:.2f}, training: {training:.2f}, ", end="")
        print(f"validation: {self.validation:.2f}")
