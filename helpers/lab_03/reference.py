"""The solutions in labs/03_time_to_accuracy.py, written by `labs build`: edit there."""

import statistics
import time

import keras


# Solution 3.1: stop after `patience` epochs in a row above the target.
class StopAtAccuracy(keras.callbacks.Callback):
    """Stop after `patience` epochs in a row above `target`."""

    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.met = 0

    def on_epoch_end(self, epoch, logs=None):
        accuracy = (logs or {}).get("val_accuracy")
        if accuracy is None:
            print("StopAtAccuracy needs metrics=['accuracy'] and validation_data.")
            return
        # Six decimals: in float32 850 of 1,000 is 0.8500000238.
        self.met = self.met + 1 if round(accuracy, 6) > self.target else 0
        if self.met >= self.patience:
            self.model.stop_training = True
            print(f"Early stopping after epoch {epoch + 1}")


# Solution 3.2: print the seconds since training began, and what they went into.
class PrintTotalTime(keras.callbacks.Callback):
    """Print the time since training began, and at the end its parts."""

    def on_train_begin(self, logs=None):
        self.began = time.perf_counter()
        self.start_up = self.validation = 0.0

    def on_train_batch_end(self, batch, logs=None):
        if not self.start_up:
            self.start_up = time.perf_counter() - self.began

    def on_test_begin(self, logs=None):
        self.test_began = time.perf_counter()

    def on_test_end(self, logs=None):
        self.validation += time.perf_counter() - self.test_began

    def on_epoch_end(self, epoch, logs=None):
        wall_seconds = time.perf_counter() - self.began
        print(f"Cumulative training time after epoch {epoch + 1}: {wall_seconds:.2f}")

    def on_train_end(self, logs=None):
        wall_seconds = time.perf_counter() - self.began
        training = wall_seconds - self.start_up - self.validation
        print(f"Cumulative training time: {wall_seconds:.2f}")
        print(f"Start-up: {self.start_up:.2f}, training: {training:.2f}, ", end="")
        print(f"validation: {self.validation:.2f}")


# Solution 3.3: time to accuracy of each batch size: count, median, fastest, slowest.
def summarize(runs, target):
    """Count, median and spread of the time to accuracy of each batch size."""
    times = {}
    for run in runs:
        epochs = zip(run["wall_seconds"], run["val_accuracy"], strict=True)
        first = next((t for t, accuracy in epochs if accuracy >= target), float("inf"))
        times.setdefault(run["batch_size"], []).append(first)

    def row(all_times):
        reached = [t for t in all_times if t < float("inf")]
        # All runs count: one that never reaches the target is slower than all that do.
        median = statistics.median(all_times)
        return {
            "reached": len(reached),
            "runs": len(all_times),
            "median_seconds": median if median < float("inf") else None,
            "fastest_seconds": min(reached, default=None),
            "slowest_seconds": max(reached, default=None),
        }

    return {batch_size: row(all_times) for batch_size, all_times in times.items()}


# Solution 3.4: the batch size of a device with the least time, and that time.
def best_batch_size(floor, bend, t0_seconds, peak, devices=1):
    """The batch size of a device with the least time to the target, and that time."""
    bend = bend / devices
    batch_size = (bend * t0_seconds * peak) ** 0.5
    return batch_size, floor * (1 + bend / batch_size) * (t0_seconds + batch_size / peak)


# Solution 3.5: the number of the line, the corrected line, and the factor that the bug costs.
def find_the_bug(looks, train_seconds, valid_seconds):
    """The line with the bug, the corrected line, and the factor that the bug costs."""
    training = looks * train_seconds
    factor = (training + (looks - 1) * valid_seconds) / training
    return 22, "began = clock()", factor


REFERENCES = {
    "3.1": StopAtAccuracy,
    "3.2": PrintTotalTime,
    "3.3": summarize,
    "3.4": best_batch_size,
    "3.5": find_the_bug,
}
