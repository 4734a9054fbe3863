"""Answers to lab 02 that must fail, each with its hint, and odd ones that must pass."""

import statistics
import sys
import time
from time import monotonic

import keras
import numpy as np


class PrintsNothing(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()


class CountsBatches(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()

    def on_epoch_begin(self, epoch, logs=None):
        self.batches, self.began = 0, time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.batches += 1

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.batches / (time.perf_counter() - self.began):.2f}")


class DividesTheWrongWayRound(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {(time.perf_counter() - self.began) / self.total_images}")


class NeverRestartsTheClock(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_train_begin(self, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        seconds = time.perf_counter() - self.began
        print(f"Images/sec: {self.total_images / seconds:.2f}")


class MeasuresTheLastBatchOnly(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_train_batch_begin(self, batch, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        seconds = time.perf_counter() - self.began
        print(f"Images/sec: {self.total_images / seconds:.2f}")


class WritesAnotherLine(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        print(f"throughput {self.total_images / (time.perf_counter() - self.began):.2f}")


class PrintsOnceAtTheEnd(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_train_begin(self, logs=None):
        self.began = time.perf_counter()

    def on_train_end(self, logs=None):
        print(f"Images/sec: {self.total_images / (time.perf_counter() - self.began):.2f}")


class Crashes(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.total_images:.2f}")


class Original(keras.callbacks.Callback):
    """As the original lab's students wrote it: no super(), time(), round."""

    def __init__(self, total_images=0):
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch_start_time = time.time()

    def on_epoch_end(self, epoch, logs=None):
        elapsed_time = time.time() - self.epoch_start_time
        images_per_sec = round(self.total_images / elapsed_time, 2)
        print("Images/sec: {}".format(images_per_sec))  # noqa: UP032


class TrainingOnly(keras.callbacks.Callback):
    """From the first batch to the last, with another clock and other names."""

    def __init__(self, n):
        super().__init__()
        self.n = n

    def on_train_batch_begin(self, batch, logs=None):
        if batch == 0:
            self.t = monotonic()

    def on_train_batch_end(self, batch, logs=None):
        self.s = monotonic() - self.t

    def on_epoch_end(self, epoch, logs=None):
        print("Training went well.")
        sys.stdout.write("Images/sec: %.2f\n" % (self.n / self.s))


def keeps_state_in_a_closure(total_images):
    began = []
    return keras.callbacks.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: began.append(time.perf_counter_ns()),
        on_epoch_end=lambda epoch, logs: print(
            "Images/sec:", total_images / (time.perf_counter_ns() - began[-1]) * 1e9
        ),
    )


def ignores_points(batch_sizes, measure, points):
    for size in batch_sizes:
        try:
            points[size] = measure(size)
        except MemoryError:
            points[size] = None
            return


def lets_it_crash(batch_sizes, measure, points):
    for size in batch_sizes:
        if size not in points:
            points[size] = measure(size)


def forgets_to_record(batch_sizes, measure, points):
    for size in batch_sizes:
        if size in points:
            continue
        try:
            points[size] = measure(size)
        except MemoryError:
            break


def goes_on(batch_sizes, measure, points):
    for size in batch_sizes:
        if size in points:
            continue
        try:
            points[size] = measure(size)
        except MemoryError:
            points[size] = None


def stores_at_the_end(batch_sizes, measure, points):
    found = {}
    for size in batch_sizes:
        if size in points:
            continue
        try:
            found[size] = measure(size)
        except MemoryError:
            found[size] = None
            break
    points.update(found)


def stops_at_a_known_size(batch_sizes, measure, points):
    for size in batch_sizes:
        if size in points:
            break
        try:
            points[size] = measure(size)
        except MemoryError:
            points[size] = None
            break


def stores_seconds(batch_sizes, measure, points):
    for size in batch_sizes:
        if size in points:
            continue
        try:
            points[size] = size / measure(size)
        except MemoryError:
            points[size] = None
            break


def returns_nothing(batch_sizes, measure, points):
    return points["no such size"]


def forgets_the_none_of_an_earlier_run(batch_sizes, measure, points):
    for size in batch_sizes:
        if size in points:
            continue
        try:
            points[size] = measure(size)
        except MemoryError:
            points[size] = None
            break


def with_while_and_bare_except(batch_sizes, measure, points):
    if None in points.values():
        return points
    todo = [batch_sizes[i] for i in range(len(batch_sizes))]
    todo = [b for b in sorted(todo) if b not in points.keys()]  # noqa: SIM118
    while todo:
        b = todo.pop(0)
        try:
            speed = measure(b)
        except Exception:
            speed, todo = None, []
        points.update({b: speed})
    return points


def largest_is_the_peak(points):
    return 0.0, max(v for v in points.values() if v)


def peak_right_cost_wrong(points):
    found = {b: v for b, v in points.items() if v}
    b = min(found)
    return b / found[b] - b / max(found.values()), max(found.values())


def milliseconds(points):
    t0, peak = by_regression(points)
    return 1000 * t0, peak


def other_way_round(points):
    t0, peak = by_regression(points)
    return peak, t0


def counts_misfits(points):
    return 0.01, max(points.values())


def a_line_through_throughput(points):
    sizes = np.array([b for b, v in points.items() if v])
    speeds = np.array([v for v in points.values() if v])
    slope, start = np.polyfit(sizes, speeds, 1)
    return start, slope


def by_regression(points):
    """Ordinary least squares over the reciprocal, from the standard library."""
    pairs = [(1 / b, 1 / v) for b, v in points.items() if v is not None]
    # 1 / throughput = 1 / peak + t0 / b
    fit = statistics.linear_regression(*zip(*pairs, strict=True))
    return fit.slope, 1 / fit.intercept


def by_curve_fit(points):
    from scipy.optimize import curve_fit

    sizes = np.array([b for b in points if points[b]], float)
    speeds = np.array([points[b] for b in points if points[b]])
    law = lambda b, t0, peak: b / (t0 + b / peak)  # noqa: E731
    start = (0.01, speeds.max())
    return tuple(curve_fit(law, sizes, speeds, start, sigma=speeds)[0])


WRONG = {
    "2.1": [
        ("nothing", PrintsNothing),
        ("batches", CountsBatches),
        ("inverted", DividesTheWrongWayRound),
        ("whole_training", NeverRestartsTheClock),
        ("other", MeasuresTheLastBatchOnly),
        ("format", WritesAnotherLine),
        ("nothing", PrintsOnceAtTheEnd),
        ("raised", Crashes),
    ],
    "2.2": [
        ("measured_again", ignores_points),
        ("crashed", lets_it_crash),
        ("not_recorded", forgets_to_record),
        ("went_on", goes_on),
        ("went_on", forgets_the_none_of_an_earlier_run),
        ("late", stores_at_the_end),
        ("stopped_early", stops_at_a_known_size),
        ("values", stores_seconds),
        ("raised", returns_nothing),
    ],
    "2.3": [
        ("peak", largest_is_the_peak),
        ("peak", peak_right_cost_wrong),
        ("units", milliseconds),
        ("swapped", other_way_round),
        ("raised", counts_misfits),
        ("other", a_line_through_throughput),
    ],
}


def by_polyfit_unweighted(points):
    sizes = [b for b in points if points[b]]
    slope, t0 = np.polyfit(sizes, [b / points[b] for b in sizes], 1)
    return t0, 1 / slope


UNUSUAL = {
    "2.1": [Original, TrainingOnly, keeps_state_in_a_closure],
    "2.2": [with_while_and_bare_except],
    "2.3": [by_regression, by_curve_fit, by_polyfit_unweighted],
}
