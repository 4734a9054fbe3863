"""How many images a second each epoch trained."""

import time

import keras


class PrintThroughput(keras.callbacks.Callback):
    """Print the training throughput of every epoch, ``Images/sec: 812.35``.

    Parameters
    ----------
    total_images : int
        Images in one epoch; with `drop_remainder`, those really trained on.

    Notes
    -----
    Counts wall time from the epoch's first batch to the end of its last, so
    validation is left out. The first epoch includes graph tracing. On a GPU, validation may
    begin before the last batch is trained: put a callback before this one that waits, such
    as `TrainingDashboard` or `EpochRecorder`.
    """

    def __init__(self, total_images: int) -> None:
        super().__init__()
        self.total_images = total_images

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        # perf_counter, not time(): the wall clock can jump.
        self.began = time.perf_counter()
        self.trained = None

    def on_test_begin(self, logs: dict | None = None) -> None:
        # Validation is what comes between the last batch and the epoch's end.
        self.trained = time.perf_counter()

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        epoch_seconds = (self.trained or time.perf_counter()) - self.began
        print(f"Images/sec: {self.total_images / epoch_seconds:.2f}")
