"""Answers to lab 03 that must fail, each with its hint, and odd ones that must pass."""

import statistics
import time

import keras


class Stop(keras.callbacks.Callback):
    """The skeleton that the wrong ones change one thing of."""

    key = "val_accuracy"

    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.met = 0

    def good(self, accuracy):
        return accuracy > self.target

    def bad(self):
        self.met = 0

    def enough(self):
        return self.met >= self.patience

    def stop(self, epoch):
        self.model.stop_training = True
        print(f"Early stopping after epoch {epoch + 1}")

    def on_epoch_end(self, epoch, logs=None):
        if self.good(logs[self.key]):
            self.met += 1
        else:
            self.bad()
        if self.enough():
            self.stop(epoch)


class ForgetsToReset(Stop):
    def bad(self):
        pass


class OneEpochEarly(Stop):
    def enough(self):
        return self.met >= self.patience - 1


class OneEpochLate(Stop):
    def enough(self):
        return self.met > self.patience


class AtLeastTheTarget(Stop):
    def good(self, accuracy):
        return accuracy >= self.target


class LooksAtTraining(Stop):
    key = "accuracy"


class OnlyPrints(Stop):
    def stop(self, epoch):
        print(f"Early stopping after epoch {epoch + 1}")


class CountsFromZero(Stop):
    def stop(self, epoch):
        self.model.stop_training = True
        print(f"Early stopping after epoch {epoch}")


class SaysItAlways(Stop):
    def stop(self, epoch):
        self.model.stop_training = True
        self.last = epoch

    def on_train_end(self, logs=None):
        print(f"Early stopping after epoch {getattr(self, 'last', 99) + 1}")


class TakesNoLogs(Stop):
    def on_epoch_end(self, epoch):
        pass


class OriginalStop(keras.callbacks.Callback):
    """As the original lab's students wrote it; it prints when training ends."""

    def __init__(self, target=0.85, patience=2):
        self.target = target
        self.patience = patience
        self.stopped_epoch = 0
        self.met_target = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs.get("val_accuracy") > self.target:
            self.met_target += 1
        else:
            self.met_target = 0
        if self.met_target >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0:
            print("Early stopping after epoch {}".format(self.stopped_epoch + 1))  # noqa: UP032


class KeepsAHistory(keras.callbacks.Callback):
    def __init__(self, target, patience):
        self.t, self.p = target, patience

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 0:
            self.seen = []

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append(logs["val_accuracy"])
        if len(self.seen) >= self.p and all(a > self.t for a in self.seen[-self.p :]):
            self.model.stop_training = True
            print("Early stopping after epoch", len(self.seen))


EVERY = "Cumulative training time after epoch {}: {:.2f}"
END = "Cumulative training time: {:.2f}"


class Total(keras.callbacks.Callback):
    """The skeleton that the wrong ones change one thing of."""

    def on_train_begin(self, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch + 1, time.perf_counter() - self.began))

    def on_train_end(self, logs=None):
        print(END.format(time.perf_counter() - self.began))


class EpochsFromZero(Total):
    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch, time.perf_counter() - self.began))


class ClockInTheConstructor(Total):
    def __init__(self):
        super().__init__()
        self.began = time.perf_counter()

    def on_train_begin(self, logs=None):
        pass


class TimeOfOneEpoch(Total):
    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()


class AllEpochsOverTheLast(Total):
    """The mean time of an epoch instead of the total."""

    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch + 1, (time.perf_counter() - self.began) / (epoch + 1)))


class MeanAfterASlowStart(AllEpochsOverTheLast):
    """On a busy machine the first epoch is much longer than the others."""

    def on_epoch_begin(self, epoch, logs=None):
        time.sleep(0.3 if epoch == 0 else 0)


class NothingAtTheEnd(Total):
    def on_train_end(self, logs=None):
        pass


class ClockOfTheFirstFit(Total):
    def on_train_begin(self, logs=None):
        if not hasattr(self, "began"):
            self.began = time.perf_counter()


class OtherWords(Total):
    def on_epoch_end(self, epoch, logs=None):
        print(f"Total time: {time.perf_counter() - self.began:.2f}")


class NoClock(Total):
    def on_train_begin(self, logs=None):
        pass


class OriginalTotal(keras.callbacks.Callback):
    """As the original lab's students wrote it."""

    def on_train_begin(self, logs=None):
        self.start_time = time.time()

    def on_epoch_end(self, epoch, logs=None):
        elapsed_time = round(time.time() - self.start_time, 2)
        print(f"Cumulative training time after epoch {epoch + 1}: {elapsed_time}")

    def on_train_end(self, logs=None):
        elapsed_time = round(time.time() - self.start_time, 2)
        print(f"Cumulative training time: {elapsed_time}")


class WithDatetime(keras.callbacks.Callback):
    def __init__(self):
        pass

    def on_epoch_begin(self, epoch, logs=None):
        from datetime import datetime

        if epoch == 0:
            self.start = datetime.now()
        self.now = datetime.now

    def on_epoch_end(self, epoch, logs=None):
        self.line = f"{(self.now() - self.start).total_seconds():.2f}"
        print(f"Cumulative training time after epoch {epoch + 1}: {self.line}")

    def on_train_end(self, logs=None):
        print(f"Cumulative training time: {self.line}")


def first_time(run, target):
    epochs = zip(run["wall_seconds"], run["val_accuracy"], strict=True)
    return next((t for t, accuracy in epochs if accuracy >= target), None)


def summary_of(times, runs=None, middle=statistics.median):
    reached = [t for t in times if t is not None]
    ordered = [t if t is not None else float("inf") for t in times]
    median = middle(ordered) if ordered else None
    return {
        "reached": len(reached),
        "runs": runs or len(times),
        "median_seconds": None if median in (None, float("inf")) else median,
        "fastest_seconds": min(reached, default=None),
        "slowest_seconds": max(reached, default=None),
    }


def grouped(runs):
    groups = {}
    for run in runs:
        groups.setdefault(run["batch_size"], []).append(run)
    return groups.items()


def takes_the_last_epoch(runs, target):
    def last(run):
        reached = max(run["val_accuracy"]) >= target
        return run["wall_seconds"][-1] if reached else None

    return {b: summary_of([last(run) for run in group]) for b, group in grouped(runs)}


def drops_failures(runs, target):
    return {
        b: summary_of(
            [t for run in group if (t := first_time(run, target)) is not None], len(group)
        )
        for b, group in grouped(runs)
    }


def takes_the_mean(runs, target):
    def mean(times):
        return statistics.mean([t for t in times if t < float("inf")] or [float("inf")])

    return {
        b: summary_of([first_time(run, target) for run in group], middle=mean)
        for b, group in grouped(runs)
    }


def above_the_target(runs, target):
    return {
        b: summary_of([first_time(run, target + 1e-9) for run in group])
        for b, group in grouped(runs)
    }


def leaves_out_a_size(runs, target):
    rows = in_another_order(runs, target)
    return {b: row for b, row in rows.items() if row["reached"]}


def counts_all_as_reached(runs, target):
    return {
        b: summary_of([first_time(run, target) for run in group]) | {"reached": len(group)}
        for b, group in grouped(runs)
    }


def crashes_on_failure(runs, target):
    return {
        b: {
            "reached": len(group),
            "runs": len(group),
            "median_seconds": statistics.median(first_time(r, target) for r in group),
            "fastest_seconds": 0,
            "slowest_seconds": 0,
        }
        for b, group in grouped(runs)
    }


def takes_the_upper_middle(runs, target):
    def upper(times):
        return sorted(times)[len(times) // 2]

    return {
        b: summary_of([first_time(run, target) for run in group], middle=upper)
        for b, group in grouped(runs)
    }


def in_another_order(runs, target):
    """Sorted by hand, with NumPy numbers and a key too many."""
    import numpy as np

    result = {}
    for size in sorted({run["batch_size"] for run in runs}, reverse=True):
        times = np.array(
            [
                min(
                    (
                        t
                        for t, a in zip(r["wall_seconds"], r["val_accuracy"], strict=True)
                        if a >= target
                    ),
                    default=np.inf,
                )
                for r in runs
                if r["batch_size"] == size
            ]
        )
        fine = times[np.isfinite(times)]
        median = np.median(times)
        result[np.int64(size)] = {
            "runs": times.size,
            "reached": fine.size,
            "median_seconds": median if np.isfinite(median) else None,
            "fastest_seconds": fine.min() if fine.size else None,
            "slowest_seconds": fine.max() if fine.size else None,
            "note": "odd but right",
        }
    return result


WRONG = {
    "3.1": [
        ("reset", ForgetsToReset),
        ("early", OneEpochEarly),
        ("late", OneEpochLate),
        ("exceed", AtLeastTheTarget),
        ("metric", LooksAtTraining),
        ("never", OnlyPrints),
        ("message", CountsFromZero),
        ("unasked", SaysItAlways),
        ("raised", TakesNoLogs),
    ],
    "3.2": [
        ("from_zero", EpochsFromZero),
        ("constructor", ClockInTheConstructor),
        ("per_epoch", TimeOfOneEpoch),
        ("per_epoch", AllEpochsOverTheLast),
        ("per_epoch", MeanAfterASlowStart),
        ("nothing", NothingAtTheEnd),
        ("again", ClockOfTheFirstFit),
        ("format", OtherWords),
        ("raised", NoClock),
    ],
    "3.3": [
        ("first", takes_the_last_epoch),
        ("dropped", drops_failures),
        ("mean", takes_the_mean),
        ("at_target", above_the_target),
        ("sizes", leaves_out_a_size),
        ("counts", counts_all_as_reached),
        ("other", takes_the_upper_middle),
        ("raised", crashes_on_failure),
    ],
}

UNUSUAL = {
    "3.1": [OriginalStop, KeepsAHistory],
    "3.2": [OriginalTotal, WithDatetime],
    "3.3": [in_another_order],
}
