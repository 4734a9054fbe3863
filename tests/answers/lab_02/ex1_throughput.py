"""Recorded answers to 2.1: wrong ones, and right ones in other styles."""

import functools
import random
import sys
import time
from time import monotonic, perf_counter
from time import time as now

import keras
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


class MeasuresFromTheEpochBefore(Callback):
    """Between two epochs other callbacks work, too."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images = total_images

    def on_train_begin(self, logs=None):
        self.began, self.stopped = time.perf_counter(), None

    def on_test_begin(self, logs=None):
        self.stopped = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        seconds = (self.stopped or time.perf_counter()) - self.began
        print(f"Images/sec: {self.total_images / seconds:.2f}")
        self.began, self.stopped = time.perf_counter(), None


class KeepsTheEndOfAnInterruptedFit(Callback):
    """It forgets the end of training only after a whole epoch."""

    def __init__(self, total_images):
        super().__init__()
        self.total_images, self.stopped = total_images, None

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_test_begin(self, logs=None):
        self.stopped = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        seconds = (self.stopped or time.perf_counter()) - self.began
        print(f"Images/sec: {self.total_images / seconds:.2f}")
        self.stopped = None


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


class RoundsTheWrongWayRound(Timed):
    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.seconds() / self.total_images:.2f}")


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


class KeepsImagesInTheClass(Timed):
    def __init__(self, total_images):
        super().__init__(total_images)
        type(self).images = total_images

    def on_epoch_end(self, epoch, logs=None):
        print(f"Images/sec: {self.images / self.seconds():.2f}")


class ForgetsTheEndOncePerFit(Timed):
    """With `validation_freq=2` the end of an older validation is left over."""

    def on_train_begin(self, logs=None):
        self.ended = None

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()


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


WRONG = [
    ("images", "shared", KeepsImagesInTheClass),
    ("no_validation", "no_validation", ForgetsTheEndOncePerFit),
    ("each_epoch", "start", PrintsNothing),
    ("each_epoch", "each_epoch", PrintsOnceAtTheEnd),
    ("each_epoch", "each_epoch", PrintsAtEachBatch),
    ("each_epoch", "each_epoch", SkipsTheFirstEpoch),
    ("each_epoch", "each_epoch", PrintsTwice),
    ("line", "format", WritesAnotherLine),
    ("line", "format", AddsTheUnit),
    ("images", "batches", CountsBatches),
    ("images", "inverted", DividesTheWrongWayRound),
    ("images", "inverted", RoundsTheWrongWayRound),
    ("images", "other", PrintsImagesPerMinute),
    ("this_epoch", "unclear", SleepsForItsConstant),
    ("this_epoch", "constant", JittersItsConstant),
    ("this_epoch", "whole_training", NeverRestartsTheClock),
    ("this_epoch", "whole_training", StartsWhenMade),
    ("this_epoch", "whole_training", StartsInTheFirstFitOnly),
    ("this_epoch", "whole_training", MeasuresFromTheEpochBefore),
    ("no_validation", "no_validation", KeepsTheEndOfAnInterruptedFit),
    ("whole_epoch", "part", MeasuresTheLastBatchOnly),
    ("whole_epoch", "part", LeavesTheFirstBatchOut),
    ("whole_epoch", "part", AddsUpTheBatches),
    ("validation", "validation", Original),
    ("validation", "validation", StopsAfterValidation),
    ("no_validation", "no_validation", WantsValidation),
    ("no_validation", "no_validation", FailsWithoutValidation),
    ("validation", "validation", DecidesInTheFirstEpoch),
    ("no_validation", "raised", Crashes),
]
RIGHT = [
    TrainingOnly, Timed, WithoutSuper, InWholeNumbers, KeepsTheRates,
    WithAContextManager, Inherits, AddsBatchesAndGaps, keeps_state_in_a_closure,
    made_by_partial, StepsThroughAGenerator, WithTimestamps,
]  # fmt: skip
