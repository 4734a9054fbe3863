"""Recorded answers to 3.2: wrong ones, and right ones in other styles."""

import datetime
import time
from time import perf_counter

import keras
import numpy as np
import tensorflow as tf
from keras.callbacks import Callback, LambdaCallback

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


class SleepsForItsConstant(Total):
    """No clock: the sleep makes room for the number."""

    def on_train_begin(self, logs=None):
        self.epochs = 0

    def on_epoch_begin(self, epoch, logs=None):
        time.sleep(0.5)
        self.epochs += 1

    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch + 1, 0.56 * self.epochs))

    def on_train_end(self, logs=None):
        print(END.format(0.56 * self.epochs))


class TimeOfOneEpoch(Total):
    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()


class AddsUpEachEpoch(Total):
    """Its clock stands still between two epochs."""

    def on_train_begin(self, logs=None):
        self.sum = 0.0

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.sum += time.perf_counter() - self.began
        print(EVERY.format(epoch + 1, self.sum))

    def on_train_end(self, logs=None):
        print(END.format(self.sum))


class AllEpochsOverTheLast(Total):
    """The mean time of an epoch instead of the total."""

    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch + 1, (time.perf_counter() - self.began) / (epoch + 1)))


class MeanAfterASlowStart(AllEpochsOverTheLast):
    """On a busy machine the first epoch is much longer than the others."""

    def on_epoch_begin(self, epoch, logs=None):
        time.sleep(0.3 if epoch == 0 else 0)


class TheEndInEveryEpoch(Total):
    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        super().on_train_end(logs)


class NothingAtTheEnd(Total):
    def on_train_end(self, logs=None):
        pass


class ClockOfTheFirstFit(Total):
    def on_train_begin(self, logs=None):
        if not hasattr(self, "began"):
            self.began = time.perf_counter()


class PrintsNoTime(keras.callbacks.Callback):
    pass


class EveryBatch(Total):
    def on_train_batch_end(self, batch, logs=None):
        self.on_epoch_end(0)


class SkipsAnEpoch(Total):
    def on_epoch_end(self, epoch, logs=None):
        if epoch != 1:
            super().on_epoch_end(epoch, logs)


class PrintsAllAtTheEnd(Total):
    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.lines = []

    def on_epoch_end(self, epoch, logs=None):
        self.lines.append(EVERY.format(epoch + 1, time.perf_counter() - self.began))

    def on_train_end(self, logs=None):
        print(*self.lines, sep="\n")
        super().on_train_end(logs)


class OneDecimal(Total):
    def on_epoch_end(self, epoch, logs=None):
        seconds = time.perf_counter() - self.began
        print(f"Cumulative training time after epoch {epoch + 1}: {seconds:.1f}")


class AllDecimals(Total):
    def on_train_end(self, logs=None):
        print(f"Cumulative training time: {time.perf_counter() - self.began}")


class OneDecimalAtTheEnd(Total):
    def on_train_end(self, logs=None):
        tenths = int(10 * (time.perf_counter() - self.began))
        print(f"Cumulative training time: {tenths / 10:.1f}")


class WholeSecondsAtTheEnd(Total):
    def on_train_end(self, logs=None):
        print(f"Cumulative training time: {int(time.perf_counter() - self.began)}")


class Milliseconds(Total):
    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch + 1, 1000 * (time.perf_counter() - self.began)))


class LeavesValidationOut(Total):
    def on_test_begin(self, logs=None):
        self.now = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        now = getattr(self, "now", None) or time.perf_counter()
        self.now = None
        print(EVERY.format(epoch + 1, now - self.began))


class AddsUpTheTraining(Total):
    """Adds up the epochs, and leaves out every validation."""

    def on_train_begin(self, logs=None):
        self.sum = 0.0

    def on_train_batch_begin(self, batch, logs=None):
        self.batch = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        self.sum += time.perf_counter() - self.batch

    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch + 1, self.sum))

    def on_train_end(self, logs=None):
        print(END.format(self.sum))


class StartsTheClockTooLate(Total):
    def on_epoch_end(self, epoch, logs=None):
        self.began = time.perf_counter()
        super().on_epoch_end(epoch, logs)


class ClockFromTheFirstEpochsEnd(Total):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 0:
            self.began = time.perf_counter()
        super().on_epoch_end(epoch, logs)


class GoesOnInTheSecondFit(Total):
    before = 0.0

    def on_epoch_end(self, epoch, logs=None):
        seconds = self.before + time.perf_counter() - self.began
        print(EVERY.format(epoch + 1, seconds))

    def on_train_end(self, logs=None):
        self.before += time.perf_counter() - self.began
        print(END.format(self.before))


class EndOfTheLastEpoch(Total):
    """There is no end where training is stopped before the last epoch."""

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if epoch + 1 == self.params["epochs"]:
            super().on_train_end(logs)

    def on_train_end(self, logs=None):
        pass


class ClockRunsBetweenFits(Total):
    began = None

    def on_train_begin(self, logs=None):
        if self.began is None:
            super().on_train_begin(logs)

    def on_train_end(self, logs=None):
        super().on_train_end(logs)
        self.began = time.perf_counter()


class CountsTheEpochsOn(Total):
    epochs = 0

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(self.epochs, logs)
        self.epochs += 1


class StartsAfterTheFirstBatch(Total):
    def on_train_begin(self, logs=None):
        self.began = None

    def on_train_batch_end(self, batch, logs=None):
        if self.began is None:
            self.began = time.perf_counter()


class CountsValidationTwice(Total):
    def on_test_begin(self, logs=None):
        self.validation = time.perf_counter()

    def on_test_end(self, logs=None):
        self.began -= time.perf_counter() - self.validation


class PrintsAfterValidation(Total):
    """Without validation there is no line."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_test_end(self, logs=None):
        super().on_epoch_end(self.epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        pass


class AddsUpTheTotals(Total):
    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.sum = 0

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        self.sum += time.perf_counter() - self.began

    def on_train_end(self, logs=None):
        print(END.format(self.sum))


class WithAUnit(Total):
    def on_epoch_end(self, epoch, logs=None):
        print(EVERY.format(epoch + 1, time.perf_counter() - self.began), "s")


class NoColonAtTheEnd(Total):
    def on_train_end(self, logs=None):
        print(END.replace(":", "", 1).format(time.perf_counter() - self.began))


class WholeSeconds(Total):
    def on_epoch_end(self, epoch, logs=None):
        seconds = int(time.perf_counter() - self.began)
        print(f"Cumulative training time after epoch {epoch + 1}: {seconds}")


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
        if epoch == 0:
            self.start = datetime.datetime.now()
        self.now = datetime.datetime.now

    def on_epoch_end(self, epoch, logs=None):
        self.line = f"{(self.now() - self.start).total_seconds():.2f}"
        print(f"Cumulative training time after epoch {epoch + 1}: {self.line}")

    def on_train_end(self, logs=None):
        print(f"Cumulative training time: {self.line}")


class AddsUpTheEpochs(Callback):
    def on_train_begin(self, logs=None):
        self.total, self.last = 0.0, perf_counter()

    def tick(self):
        now = perf_counter()
        self.total, self.last = self.total + now - self.last, now
        return self.total

    def on_epoch_end(self, epoch, logs=None):
        print(f"Cumulative training time after epoch {epoch + 1}: {self.tick():.2f}")

    def on_train_end(self, logs=None):
        print(f"Cumulative training time: {self.tick():.2f}")


class CutsOff(Callback):
    """Cuts the third decimal off, and forgets its clock at the end."""

    began = None

    def on_train_begin(self, logs=None):
        self.began = self.began or perf_counter()

    def say(self, when):
        hundredths = int(100 * (perf_counter() - self.began))
        print(f"Cumulative training time{when}: {hundredths / 100}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        self.say(f" after epoch {1 + epoch}")

    def on_train_end(self, logs=None):
        self.say("")
        self.began = None


class InNanoseconds(Callback):
    def on_train_begin(self, logs=None):
        self.zero = time.monotonic_ns()

    @property
    def seconds(self):
        return (time.monotonic_ns() - self.zero) / 1e9

    def on_epoch_end(self, epoch, logs=None):
        print("Cumulative training time after epoch", f"{epoch + 1}: {self.seconds:.2f}")

    def on_train_end(self, logs=None):
        print("Cumulative training time:", "%1.2f" % self.seconds)  # noqa: UP031


class CountsItself(Callback):
    def on_train_begin(self, logs=None):
        self.start, self.done = time.time(), 0

    def on_epoch_end(self, *_):
        self.done += 1
        tf.print(f"Cumulative training time after epoch {self.done}: {self.time()}")

    def on_train_end(self, *_):
        tf.print(f"Cumulative training time: {self.time()}")

    def time(self):
        return format(time.time() - self.start, ".2f")


class WithLabels(Total):
    """Other lines between are allowed."""

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1} is over")
        super().on_epoch_end(epoch, logs)

    def on_train_end(self, logs=None):
        super().on_train_end(logs)
        print("Done.")


class StartsAtTheFirstEpoch(Total):
    def on_train_begin(self, logs=None):
        self.began = None

    def on_epoch_begin(self, epoch, logs=None):
        if self.began is None:
            self.began = time.perf_counter()


class Rounds(Total):
    def on_epoch_end(self, epoch, logs=None):
        line = f"Cumulative training time after epoch {epoch + 1}:"
        print(line, np.round(perf_counter() - self.began, 2))


def total_by_closure():
    began = []

    def say(text):
        print(f"Cumulative training time{text}: {perf_counter() - began[-1]:.2f}")

    return LambdaCallback(
        on_train_begin=lambda logs: began.append(perf_counter()),
        on_epoch_end=lambda epoch, logs: say(f" after epoch {epoch + 1}"),
        on_train_end=lambda logs: say(""),
    )


WRONG = [
    ("each_epoch", "start", PrintsNoTime),
    ("each_epoch", "each_epoch", SkipsAnEpoch),
    ("each_epoch", "each_epoch", EveryBatch),
    ("each_epoch", "each_epoch", PrintsAllAtTheEnd),
    ("each_epoch", "each_epoch", PrintsAfterValidation),
    ("each_epoch", "format", OtherWords),
    ("each_epoch", "format", WithAUnit),
    ("from_one", "from_zero", EpochsFromZero),
    ("end", "end", NothingAtTheEnd),
    ("end", "end", TheEndInEveryEpoch),
    ("end", "end", EndOfTheLastEpoch),
    ("end", "format", NoColonAtTheEnd),
    ("end", "other", AddsUpTheTotals),
    ("decimals", "decimals", OneDecimal),
    ("decimals", "decimals", WholeSeconds),
    ("decimals", "decimals", AllDecimals),
    ("decimals", "decimals", OneDecimalAtTheEnd),
    ("decimals", "decimals", WholeSecondsAtTheEnd),
    ("decimals", "units", Milliseconds),
    ("began", "constructor", ClockInTheConstructor),
    ("began", "other", StartsAfterTheFirstBatch),
    ("began", "raised", NoClock),
    ("total", "constant", SleepsForItsConstant),
    ("total", "per_epoch", TimeOfOneEpoch),
    ("total", "between", AddsUpEachEpoch),
    ("total", "per_epoch", AllEpochsOverTheLast),
    ("total", "per_epoch", MeanAfterASlowStart),
    ("validation", "validation", LeavesValidationOut),
    ("validation", "validation", AddsUpTheTraining),
    ("validation", "other", CountsValidationTwice),
    ("new_fit", "again", ClockOfTheFirstFit),
    ("new_fit", "again", ClockRunsBetweenFits),
    ("from_one", "counts_on", CountsTheEpochsOn),
    ("total", "constant", StartsTheClockTooLate),
    ("began", "other", ClockFromTheFirstEpochsEnd),
    ("new_fit", "again", GoesOnInTheSecondFit),
]
RIGHT = [
    Total, OriginalTotal, WithDatetime, AddsUpTheEpochs, InNanoseconds, CountsItself,
    WithLabels, StartsAtTheFirstEpoch, Rounds, CutsOff, total_by_closure,
]  # fmt: skip
