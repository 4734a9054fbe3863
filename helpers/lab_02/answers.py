"""Answers to lab 02: wrong ones with the sentence they break and their hint, right ones."""

import functools
import math
import random
import statistics
import sys
import time
from time import monotonic, perf_counter
from time import time as now

import keras
import numpy as np
import tensorflow as tf
from keras.callbacks import Callback, LambdaCallback


class Timed(keras.callbacks.Callback):
    """What most wrong answers to 2.1 have in common: nearly right."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.began, self.ended = time.perf_counter(), None

    def on_test_begin(self, logs=None):
        self.ended = time.perf_counter()

    def seconds(self):
        return (self.ended or time.perf_counter()) - self.began

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.total_images / self.seconds():.2f}")


class PrintsNothing(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()


class PrintsOnceAtTheEnd(Timed):
    def on_epoch_end(self, epoch, logs=None):
        pass

    def on_train_end(self, logs=None):
        print(f"Images/sec: {self.total_images / self.seconds():.2f}")


class PrintsAtEachBatch(Timed):
    def on_train_batch_end(self, batch, logs=None):
        print(f"Images/sec: {self.total_images / self.seconds():.2f}")


class SkipsTheFirstEpoch(Timed):
    def on_epoch_end(self, epoch, logs=None):
        if epoch:
            super().on_epoch_end(epoch, logs)


class PrintsTwice(Timed):
    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        super().on_epoch_end(epoch, logs)


class SleepsForItsConstant(Timed):
    """No clock: the sleep makes room for the number."""

    def on_epoch_begin(self, epoch, logs=None):
        time.sleep(0.6)

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.total_images / 0.55:.2f}")


class JittersItsConstant(Timed):
    """No clock, and no two numbers are the same."""

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.total_images / random.uniform(0.5, 0.56):.2f}")


class WritesAnotherLine(Timed):
    def on_epoch_end(self, epoch, logs=None):
        print(f"throughput {self.total_images / self.seconds():.2f}")


class AddsTheUnit(Timed):
    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.total_images / self.seconds():.2f} images/s")


class CountsBatches(Timed):
    def on_train_batch_end(self, batch, logs=None):
        self.batches = batch + 1

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.batches / self.seconds():.2f}")


class DividesTheWrongWayRound(Timed):
    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.seconds() / self.total_images}")


class PrintsImagesPerMinute(Timed):
    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {60 * self.total_images / self.seconds():.2f}")


class NeverRestartsTheClock(Timed):
    def on_train_begin(self, logs=None):
        self.began = time.perf_counter()

    def on_epoch_begin(self, epoch, logs=None):
        self.ended = None


class StartsWhenMade(Timed):
    def __init__(self, total_images):
        super().__init__(total_images)
        self.made = time.perf_counter()

    def on_epoch_begin(self, epoch, logs=None):
        self.began, self.ended = self.made, None


class StartsInTheFirstFitOnly(Timed):
    def on_epoch_begin(self, epoch, logs=None):
        self.ended = None
        if not hasattr(self, "began"):
            self.began = time.perf_counter()


class MeasuresTheLastBatchOnly(Timed):
    def on_train_batch_begin(self, batch, logs=None):
        self.began = time.perf_counter()


class LeavesTheFirstBatchOut(Timed):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 0:
            self.began = time.perf_counter()


class AddsUpTheBatches(Timed):
    """What passes between two batches is not in any of them."""

    def on_epoch_begin(self, epoch, logs=None):
        self.sum = 0.0

    def on_train_batch_begin(self, batch, logs=None):
        self.began = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.sum += time.perf_counter() - self.began

    def seconds(self):
        return self.sum


class Original(keras.callbacks.Callback):
    """As the original lab's students wrote it: the validation is in the time."""

    def __init__(self, total_images=0):
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch_start_time = time.time()

    def on_epoch_end(self, epoch, logs=None):
        elapsed_time = time.time() - self.epoch_start_time
        images_per_sec = round(self.total_images / elapsed_time, 2)
        print("Images/sec: {}".format(images_per_sec))  # noqa: UP032


class StopsAfterValidation(Timed):
    def on_test_begin(self, logs=None):
        pass

    def on_test_end(self, logs=None):
        self.ended = time.perf_counter()


class WantsValidation(Timed):
    def __init__(self, total_images):
        super().__init__(total_images)
        self.ended = None

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()


class DecidesInTheFirstEpoch(Timed):
    """Whether there is validation: the next `fit` may differ."""

    validates = None

    def on_epoch_end(self, epoch, logs=None):
        if self.validates is None:
            self.validates = self.ended is not None
        if not self.validates:
            self.ended = None
        super().on_epoch_end(epoch, logs)


class FailsWithoutValidation(Timed):
    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def seconds(self):
        return self.ended - self.began


class Crashes(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.total_images:.2f}")


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


class WithoutSuper(Callback):
    def __init__(self, n):
        self.n = n

    def on_epoch_begin(self, *_):
        self.clock = [perf_counter()]

    def on_test_begin(self, *_):
        self.clock.append(perf_counter())

    def on_epoch_end(self, *_):
        self.clock.append(perf_counter())
        start, end, *_rest = self.clock
        print("Images/sec:", round(self.n / (end - start), 2))


class InWholeNumbers(keras.callbacks.Callback):
    def __init__(self, total_images):
        super().__init__()
        self.total, self.t0, self.t1 = total_images, 0.0, 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.perf_counter_ns()

    def on_train_batch_end(self, batch, logs=None):
        self.t1 = time.perf_counter_ns()

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.total * 1e9 / (self.t1 - self.t0):.3f}", flush=True)


class KeepsTheRates(Callback):
    """Also remembers them, and prints with TensorFlow's own print."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images, self.rates = total_images, []

    def on_epoch_begin(self, epoch, logs=None):
        self.seconds = -now()
        self.running = True

    def stop(self):
        if self.running:
            self.seconds += now()
            self.running = False

    def on_test_begin(self, logs=None):
        self.stop()

    def on_epoch_end(self, epoch, logs=None):
        self.stop()
        self.rates.append(self.total_images / self.seconds)
        tf.print(f"Images/sec: {self.rates[-1]:.2f}", output_stream=sys.stdout)


class Stopwatch:
    def __enter__(self):
        self.began = perf_counter()
        return self

    def __exit__(self, *_):
        self.seconds = perf_counter() - self.began


class WithAContextManager(Callback):
    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.watch = Stopwatch().__enter__()
        self.open = True

    def _close(self):
        if self.open:
            self.watch.__exit__()
        self.open = False

    on_test_begin = lambda self, logs=None: self._close()  # noqa: E731

    def on_epoch_end(self, epoch, logs=None):
        self._close()
        line = f"Images/sec: {self.total_images / self.watch.seconds:.2f}"
        print(line)


class Base(Callback):
    def report(self, rate):
        print("Images/sec: " + format(rate, ".2f"))


class Inherits(Base):
    started = stopped = None

    def __init__(self, total_images):
        Callback.__init__(self)
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.started, self.stopped = time.process_time, None
        self.started = time.perf_counter()

    def on_test_begin(self, logs=None):
        self.stopped = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        if self.stopped is None:
            self.stopped = time.perf_counter()
        self.report(self.total_images / (self.stopped - self.started))


class AddsBatchesAndGaps(Callback):
    """Adds up from one batch's end to the next one's."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_epoch_begin(self, epoch, logs=None):
        self.seconds, self.last = 0.0, perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        t = perf_counter()
        self.seconds, self.last = self.seconds + t - self.last, t

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}")
        print(f"Images/sec: {self.total_images / self.seconds:g}")


def keeps_state_in_a_closure(total_images):
    """A function that makes a callback, in place of a class."""
    clock = {}

    def begin(epoch, logs):
        clock["began"] = time.perf_counter()

    def batch_end(batch, logs):
        clock["seconds"] = time.perf_counter() - clock["began"]

    def end(epoch, logs):
        print(f"Images/sec: {total_images / clock['seconds']:.2f}")

    return LambdaCallback(
        on_epoch_begin=begin, on_train_batch_end=batch_end, on_epoch_end=end
    )


class StepsThroughAGenerator(Callback):
    def __init__(self, total_images: int) -> None:
        super().__init__()
        self.total_images = total_images

    def clock(self):
        began = perf_counter()
        yield
        seconds = perf_counter() - began
        yield
        yield print(f"Images/sec: {self.total_images / seconds:,.2f}")

    def on_epoch_begin(self, *_):
        self.moments, self.training = self.clock(), True
        next(self.moments)

    def on_test_begin(self, *_):
        if self.training:
            next(self.moments)
        self.training = False

    def on_epoch_end(self, *_):
        self.on_test_begin()
        next(self.moments)


class WithTimestamps(Callback):
    """With TensorFlow's clock and its tensors."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images = tf.cast(total_images, tf.float64)

    def on_epoch_begin(self, epoch, logs=None):
        self.moments = [tf.timestamp()]

    def on_train_batch_end(self, batch, logs=None):
        self.moments[1:] = [tf.timestamp()]

    def on_epoch_end(self, epoch, logs=None):
        match self.moments:
            case [began, ended]:
                tf.print("Images/sec:", self.total_images / (ended - began))


def made_by_partial(total_images):
    return functools.partial(TrainingOnly, n=total_images)()


def measures_all_again(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            break


def start_code(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        points[batch_size] = measure(batch_size)


def lets_it_crash(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            points[batch_size] = measure(batch_size)


def forgets_to_record(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            if points[batch_size] is None:
                break
            continue
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            break


def records_zero(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = 0.0
        if not points[batch_size]:
            break


def goes_on(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None


def forgets_the_none_of_an_earlier_run(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            continue
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            return


def stores_at_the_end(batch_sizes, measure, points):
    found = {}
    for batch_size in batch_sizes:
        if batch_size in points:
            if points[batch_size] is None:
                break
            continue
        try:
            found[batch_size] = measure(batch_size)
        except MemoryError:
            found[batch_size] = None
            break
    points.update(found)


def stops_at_a_known_size(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            break
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            break


def from_the_largest(batch_sizes, measure, points):
    for batch_size in batch_sizes[::-1]:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None


def sorts_the_sizes(batch_sizes, measure, points):
    lets_known_ones_be(sorted(batch_sizes), measure, points)


def rounds_to_hundredths(batch_sizes, measure, points):
    lets_known_ones_be(batch_sizes, lambda size: round(measure(size), 2), points)


def catches_value_errors(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except (MemoryError, ValueError):
                points[batch_size] = None
        if points[batch_size] is None:
            break


def stores_seconds(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = batch_size / measure(batch_size)
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break


def rounds(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = round(measure(batch_size))
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break


def text_keys(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[str(batch_size)] = measure(batch_size)
            except MemoryError:
                points[str(batch_size)] = None
                break
        elif points[batch_size] is None:
            break


def gives_up(batch_sizes, measure, points):
    if None in points.values():
        return
    lets_known_ones_be(batch_sizes, measure, points)


def catches_everything(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except:  # noqa: E722
                points[batch_size] = None
        if points[batch_size] is None:
            break


def passes_over_errors(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None
            except Exception:
                continue
        if points[batch_size] is None:
            break


def takes_from_the_list(batch_sizes, measure, points):
    while batch_sizes:
        batch_size = batch_sizes.pop(0)
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break


def misspells(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        points[batchsize] = measure(batch_size)  # noqa: F821


def lets_known_ones_be(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            if points[batch_size] is None:
                return
            continue
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            return


def with_get(batch_sizes, measure, points):
    for size in batch_sizes:
        if points.get(size, "new") is None:
            break
        if size in points.keys():  # noqa: SIM118
            continue
        try:
            speed = measure(size)
        except MemoryError:
            speed = None
        points[size] = speed
        if speed is None:
            break


def with_while(batch_sizes, measure, points):
    i = 0
    while i < len(batch_sizes) and points.get(batch_sizes[i], 0) is not None:
        size = batch_sizes[i]
        i += 1
        if size in points:
            continue
        try:
            points.update({size: measure(size)})
        except MemoryError as error:
            print("no room:", error)
            points.update({size: None})
            break


def with_a_flag(batch_sizes, measure, points):
    full = False
    for b in batch_sizes:
        if full:
            continue
        if b in points:
            full = points[b] is None
        else:
            try:
                points[b] = measure(b)
            except MemoryError:
                points[b] = None
                full = True


def cuts_the_list_first(batch_sizes, measure, points):
    too_large = [b for b in batch_sizes if b in points and points[b] is None]
    todo = [b for b in batch_sizes if b < min(too_large, default=math.inf)]
    try:
        for b in todo:
            last = b
            if b not in points:
                points[b] = measure(b)
    except MemoryError:
        points[last] = None


def by_recursion(batch_sizes, measure, points):
    if not batch_sizes:
        return
    first, *rest = batch_sizes
    if first not in points:
        try:
            points[first] = measure(first)
        except MemoryError:
            points[first] = None
    if points[first] is not None:
        by_recursion(rest, measure, points)


def with_a_helper(batch_sizes, measure, points):
    def speed_of(size):
        try:
            return measure(size)
        except MemoryError:
            return None

    for size in batch_sizes:
        if size not in points:
            points[size] = speed_of(size)
        if points[size] is None:
            return points
    return points


def with_any(batch_sizes, measure, points):
    def does_not_fit(size):
        if size not in points:
            try:
                points[size] = measure(size)
            except MemoryError:
                points[size] = None
        return points[size] is None

    any(does_not_fit(size) for size in batch_sizes)


def with_else(batch_sizes, measure, points):
    for size in batch_sizes:
        if size not in points:
            try:
                speed = measure(size)
            except MemoryError:
                points[size] = None
                break
            else:
                points[size] = speed
        elif points[size] is None:
            break


def with_setdefault(batch_sizes, measure, points):
    for size in batch_sizes:
        try:
            size in points or points.setdefault(size, measure(size))
        except MemoryError:
            points.setdefault(size, None)
        if points[size] is None:
            break


def fitting(points):
    """The points that fitted: sizes and times of a step, for the answers below."""
    sizes = np.array([b for b, speed in points.items() if speed is not None], float)
    speeds = np.array([speed for speed in points.values() if speed is not None])
    return sizes, sizes / speeds


def largest_is_the_peak(points):
    return 0.0, max(speed for speed in points.values() if speed)


def peak_right_cost_wrong(points):
    sizes, seconds = fitting(points)
    _, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return t0, max(sizes / seconds)


def milliseconds(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return 1000 * t0, 1 / slope


def other_way_round(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return 1 / slope, t0


def seconds_of_an_image(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return t0, slope


def counts_misfits(points):
    sizes = list(points)
    seconds = [b / points[b] for b in sizes]
    slope, t0 = np.polyfit(sizes, seconds, 1)
    return t0, 1 / slope


def drops_the_last(points):
    """Right only where the one that did not fit comes last."""
    if list(points.values())[-1] is None:
        points = dict(list(points.items())[:-1])
    sizes = np.array(list(points), float)
    seconds = sizes / np.array(list(points.values()), float)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    return t0, 1 / slope


def deletes_them(points):
    for size in [size for size, speed in points.items() if speed is None]:
        del points[size]
    return by_regression(points)


def a_line_through_throughput(points):
    sizes, seconds = fitting(points)
    slope, start = np.polyfit(sizes, sizes / seconds, 1)
    return start, 1 / slope


def unweighted(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1)
    return t0, 1 / slope


def weighted_by_size(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes, seconds, 1, w=sizes)
    return t0, 1 / slope


def never_below_0(points):
    t0_seconds, peak = by_regression(points)
    return max(t0_seconds, 0.0), peak


def two_points_only(points):
    known = [b for b in points if points[b]][-2:]
    (a, b), (s, t) = known, [size / points[size] for size in known]
    slope = (t - s) / (b - a)
    return s - slope * a, 1 / slope


def weighted(name, weight):
    """A line by `np.polyfit` with weights made of the sizes and the times of a step."""

    def fit(points):
        sizes, seconds = fitting(points)
        slope, t0 = np.polyfit(sizes, seconds, 1, w=weight(sizes, seconds))
        return t0, 1 / slope

    fit.__name__ = name
    return fit


weighted_by_root = weighted("weighted_by_root", lambda sizes, seconds: seconds**-0.5)
weighted_by_square = weighted("weighted_by_square", lambda sizes, seconds: seconds**-2)
weighted_by_seconds = weighted("weighted_by_seconds", lambda sizes, seconds: seconds)
weighted_per_size = weighted("weighted_per_size", lambda sizes, seconds: 1 / sizes)
weighted_by_speed = weighted("weighted_by_speed", lambda sizes, seconds: sizes / seconds)


def the_ends_only(points):
    known = [b for b in points if points[b]]
    a, b = min(known), max(known)
    s, t = a / points[a], b / points[b]
    slope = (t - s) / (b - a)
    return s - slope * a, 1 / slope


def without_the_first(points):
    sizes, seconds = fitting(points)
    slope, t0 = np.polyfit(sizes[1:], seconds[1:], 1, w=1 / seconds[1:])
    return t0, 1 / slope


def by_medians(points):
    """Theil and Sen: the median of the slopes between all pairs."""
    pairs = [(b, b / v) for b, v in points.items() if v is not None]
    slope = statistics.median(
        (t - s) / (b - a) for i, (a, s) in enumerate(pairs) for b, t in pairs[i + 1 :]
    )
    return statistics.median(s - slope * b for b, s in pairs), 1 / slope


def by_logarithms(points):
    """Steps of Newton on the logarithms of the throughputs."""
    sizes, seconds = fitting(points)
    t0, per_image = by_regression(points)[0], 1 / by_regression(points)[1]
    for _ in range(20):
        model = t0 + sizes * per_image
        slopes = np.stack([1 / model, sizes / model], axis=1)
        step, *_ = np.linalg.lstsq(slopes, np.log(seconds / model), rcond=None)
        t0, per_image = t0 + step[0], per_image + step[1]
    return t0, 1 / per_image


def by_absolute_errors(points):
    """The smallest sum of errors that are not squared: a line through two of the points."""
    sizes, seconds = fitting(points)
    one, other = np.triu_indices(len(sizes), 1)
    slopes = (seconds[other] - seconds[one]) / (sizes[other] - sizes[one])
    starts = seconds[one] - slopes * sizes[one]
    errors = np.abs((starts[:, None] + np.outer(slopes, sizes)) / seconds - 1).sum(axis=1)
    best = errors.argmin()
    return starts[best], 1 / slopes[best]


def by_regression(points):
    """Throughput's inverse is a line over the inverse of the batch size."""
    sizes, seconds = fitting(points)
    t0, per_image = np.polyfit(1 / sizes, seconds / sizes, 1, w=sizes / seconds)
    return float(t0), float(1 / per_image)


def by_least_squares(points):
    sizes, seconds = fitting(points)
    matrix = np.stack([1 / seconds, sizes / seconds], axis=1)
    (t0, per_image), *_ = np.linalg.lstsq(matrix, np.ones(len(sizes)), rcond=None)
    return t0, 1 / per_image


def by_formula(points):
    pairs = [(b, b / v) for b, v in points.items() if v]
    w = [1 / s**2 for _, s in pairs]
    mb = sum(wi * b for wi, (b, _) in zip(w, pairs, strict=True)) / sum(w)
    ms = sum(wi * s for wi, (_, s) in zip(w, pairs, strict=True)) / sum(w)
    top = sum(wi * (b - mb) * (s - ms) for wi, (b, s) in zip(w, pairs, strict=True))
    slope = top / sum(wi * (b - mb) ** 2 for wi, (b, _) in zip(w, pairs, strict=True))
    return ms - slope * mb, 1 / slope


def by_polynomial(points):
    sizes, seconds = fitting(points)
    line = np.polynomial.Polynomial.fit(sizes, seconds, 1, w=1 / seconds).convert()
    return line.coef[0], 1 / line.coef[1]


def by_tensorflow(points):
    sizes, seconds = fitting(points)
    matrix = tf.constant(np.stack([np.ones_like(sizes), sizes], 1) / seconds[:, None])
    t0, per_image = tf.linalg.lstsq(matrix, tf.ones((len(sizes), 1), tf.float64))
    return t0.numpy()[0], (1 / per_image).numpy()[0]


def by_solving(points):
    sizes, seconds = fitting(points)
    w = seconds**-2
    left = [[w.sum(), (w * sizes).sum()], [(w * sizes).sum(), (w * sizes**2).sum()]]
    right = [(w * seconds).sum(), (w * sizes * seconds).sum()]
    t0, per_image = np.linalg.solve(left, right)
    return [t0, 1 / per_image]


def by_lambda(points):
    clean = dict(filter(lambda item: item[1] is not None, points.items()))
    b, v = map(np.asarray, zip(*clean.items(), strict=True))
    slope, start = np.polyfit(b, b / v, deg=1, w=v / b)
    return np.array([start, 1 / slope])


def in_float32(points):
    sizes, seconds = (part.astype("float32") for part in fitting(points))
    matrix = np.stack([1 / seconds, sizes / seconds], axis=1)
    t0, per_image = np.linalg.lstsq(matrix, np.ones(len(sizes), "float32"), rcond=None)[0]
    return t0, 1 / per_image


def by_steps_downhill(points):
    """Newton's step on the sum of squares, from anywhere: it is a parabola."""
    sizes, seconds = fitting(points)
    weights = np.zeros(2)
    matrix = np.stack([np.ones(len(sizes)), sizes]) / seconds
    for _ in range(3):
        errors = weights @ matrix - 1
        weights = weights - np.linalg.solve(matrix @ matrix.T, matrix @ errors)
    return weights[0], 1 / weights[1]


def by_turning(points):
    """By a QR decomposition, and rounded to six digits."""
    sizes, seconds = fitting(points)
    q, r = np.linalg.qr(np.stack([1 / seconds, sizes / seconds], axis=1))
    t0, per_image = np.linalg.solve(r, q.sum(axis=0))
    return float(f"{t0:.6g}"), float(f"{1 / per_image:.6g}")


def by_many_lines(points):
    xs, ys, ws = [], [], []
    for size in sorted(points):
        if points[size]:
            xs.append(size)
            ys.append(size / points[size])
            ws.append(points[size] / size)
    result = np.polyfit(xs, ys, 1, w=ws)
    peak = 1.0 / result[0]
    return (result[1], peak)


WRONG = {
    "2.1": [
        ("each_epoch", "start", PrintsNothing),
        ("each_epoch", "each_epoch", PrintsOnceAtTheEnd),
        ("each_epoch", "each_epoch", PrintsAtEachBatch),
        ("each_epoch", "each_epoch", SkipsTheFirstEpoch),
        ("each_epoch", "each_epoch", PrintsTwice),
        ("line", "format", WritesAnotherLine),
        ("line", "format", AddsTheUnit),
        ("images", "batches", CountsBatches),
        ("images", "inverted", DividesTheWrongWayRound),
        ("images", "other", PrintsImagesPerMinute),
        ("this_epoch", "unclear", SleepsForItsConstant),
        ("this_epoch", "constant", JittersItsConstant),
        ("this_epoch", "whole_training", NeverRestartsTheClock),
        ("this_epoch", "whole_training", StartsWhenMade),
        ("this_epoch", "whole_training", StartsInTheFirstFitOnly),
        ("whole_epoch", "other", MeasuresTheLastBatchOnly),
        ("whole_epoch", "other", LeavesTheFirstBatchOut),
        ("whole_epoch", "other", AddsUpTheBatches),
        ("validation", "validation", Original),
        ("validation", "validation", StopsAfterValidation),
        ("no_validation", "no_validation", WantsValidation),
        ("no_validation", "raised", FailsWithoutValidation),
        ("validation", "validation", DecidesInTheFirstEpoch),
        ("images", "raised", Crashes),
    ],
    "2.2": [
        ("known", "start", start_code),
        ("known", "measured_again", measures_all_again),
        ("none", "crashed", lets_it_crash),
        ("none", "not_recorded", forgets_to_record),
        ("none", "other", records_zero),
        ("stop", "went_on", goes_on),
        ("stop_later", "went_on_later", forgets_the_none_of_an_earlier_run),
        ("at_once", "late", stores_at_the_end),
        ("at_once", "text_keys", text_keys),
        ("every_size", "stopped_early", stops_at_a_known_size),
        ("every_size", "other", from_the_largest),
        ("every_size", "other", sorts_the_sizes),
        ("every_size", "gave_up", gives_up),
        ("every_size", "changed", takes_from_the_list),
        ("every_size", "raised", misspells),
        ("value", "value", stores_seconds),
        ("value", "value", rounds),
        ("value", "value", rounds_to_hundredths),
        ("other_errors", "caught_all", catches_everything),
        ("other_errors", "caught_all", catches_value_errors),
        ("other_errors", "other", passes_over_errors),
    ],
    "2.3": [
        ("fixed_cost", "start", largest_is_the_peak),
        ("fixed_cost", "units", milliseconds),
        ("fixed_cost", "swapped", other_way_round),
        ("fixed_cost", "other", a_line_through_throughput),
        ("peak", "peak", peak_right_cost_wrong),
        ("peak", "per_image", seconds_of_an_image),
        ("none", "raised", counts_misfits),
        ("none", "raised", drops_the_last),
        ("weights", "unweighted", unweighted),
        ("weights", "weights", weighted_by_size),
        ("weights", "weights", weighted_by_root),
        ("weights", "weights", weighted_by_square),
        ("weights", "weights", weighted_by_seconds),
        ("weights", "weights", weighted_per_size),
        ("weights", "weights", weighted_by_speed),
        ("weights", "other", by_logarithms),
        ("least_squares", "below", never_below_0),
        ("least_squares", "points", two_points_only),
        ("least_squares", "points", the_ends_only),
        ("least_squares", "points", without_the_first),
        ("least_squares", "points", by_medians),
        ("least_squares", "other", by_absolute_errors),
        ("unchanged", "changed", deletes_them),
    ],
}
RIGHT = {
    "2.1": [
        TrainingOnly, Timed, WithoutSuper, InWholeNumbers, KeepsTheRates,
        WithAContextManager, Inherits, AddsBatchesAndGaps, keeps_state_in_a_closure,
        made_by_partial, StepsThroughAGenerator, WithTimestamps,
    ],
    "2.2": [
        lets_known_ones_be, with_get, with_while, with_a_flag, cuts_the_list_first,
        by_recursion, with_a_helper, with_any, with_else, with_setdefault,
    ],
    "2.3": [
        by_regression, by_least_squares, by_formula, by_polynomial, by_tensorflow,
        by_solving, by_lambda, by_many_lines, in_float32, by_steps_downhill, by_turning,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right.
RIGHT_MUTANTS = {
    "2.1": {
        "5: super().__init__() → pass": "Keras does not need it for a callback",
        "5: super().__init__(); self.total_images = total_images → "
        "self.total_images = total_images; super().__init__()": "the order is free",
        "9: self.began = time.perf_counter(); self.trained = None → "
        "self.trained = None; self.began = time.perf_counter()": "the order is free",
        "17: print(f'Images/sec: {self.total_images / epoch_seconds:.2f}') → "
        "print(f'Images/sec: {self.total_images / epoch_seconds:}')": "more digits",
    },
    "2.2": {},
    "2.3": {
        "4: sizes = np.array(list(fitting)) → sizes = list(fitting)": "NumPy takes lists",
        "5: step_seconds = sizes / np.array(list(fitting.values())) → "
        "step_seconds = sizes / list(fitting.values())": "NumPy takes lists",
        "6: slope, t0_seconds = np.polyfit(sizes, step_seconds, 1, w=1 / step_seconds) → "
        "slope, t0_seconds = np.polyfit(sizes, step_seconds, 1, w=2 / step_seconds)": (
            "only the weights' ratios count"
        ),
    },
}
