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
PARTS = "Start-up: {:.2f}, training: {:.2f}, validation: {:.2f}"


class Parts(Callback):
    """The line with the parts, by clocks of its own: whatever else a class does."""

    def __new__(cls, *arguments):
        self = super().__new__(cls)
        self.parts = {}
        return self

    def note(self, name):
        self.parts.setdefault(name, perf_counter())

    def say_parts(self):
        total = perf_counter() - self.parts["began"]
        start_up, validation = self.start_up_part(), self.parts["validation"]
        print(PARTS.format(start_up, total - start_up - validation, validation))

    def start_up_part(self):
        return self.parts["first_batch"] - self.parts["began"]


def with_parts(cls):
    """The same callback, with the right line of its parts at the end."""

    class Both(Parts, cls):
        def on_train_begin(self, logs=None):
            self.parts = {"began": perf_counter(), "validation": 0.0}
            super().on_train_begin(logs)

        def on_train_batch_end(self, batch, logs=None):
            self.note("first_batch")
            super().on_train_batch_end(batch, logs)

        def on_test_begin(self, logs=None):
            self.parts["test"] = perf_counter()
            super().on_test_begin(logs)

        def on_test_end(self, logs=None):
            super().on_test_end(logs)
            self.parts["validation"] += perf_counter() - self.parts["test"]

        def on_train_end(self, logs=None):
            super().on_train_end(logs)
            self.say_parts()

    Both.__name__ = cls.__name__
    return Both


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

    def on_epoch_begin(self, epoch, logs=None):
        self.then = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        now = time.perf_counter()
        self.sum, self.then = self.sum + now - self.then, now

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


class Split(Total):
    """The skeleton of those that are wrong in the parts."""

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.start_up, self.validation = None, 0.0

    def on_train_batch_end(self, batch, logs=None):
        if self.start_up is None:
            self.start_up = perf_counter() - self.began

    def on_test_begin(self, logs=None):
        self.test_began = perf_counter()

    def on_test_end(self, logs=None):
        self.validation += perf_counter() - self.test_began

    def on_train_end(self, logs=None):
        total = perf_counter() - self.began
        print(END.format(total))
        self.say(total)

    def say(self, total):
        training = total - self.start_up - self.validation
        print(PARTS.format(self.start_up, training, self.validation))


class SumInTheClass(Split):
    """Two callbacks in one training add to one sum."""

    spent = 0.0

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        SumInTheClass.spent = 0.0

    def on_test_end(self, logs=None):
        SumInTheClass.spent += perf_counter() - self.test_began

    def say(self, total):
        self.validation = self.spent
        super().say(total)


class ListInTheClass(Split):
    """The list is made once, with the class, and no callback has one of its own."""

    tests = []

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.tests.clear()

    def on_test_end(self, logs=None):
        self.tests.append(perf_counter() - self.test_began)
        self.validation = sum(self.tests)


class HalvesForTwo(SumInTheClass):
    """Right for two callbacks in one training, and for no other number."""

    def say(self, total):
        self.validation = SumInTheClass.spent / 2
        Split.say(self, total)


class PartsAfterEveryEpoch(Split):
    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        self.say(perf_counter() - self.began)

    def on_train_end(self, logs=None):
        print(END.format(perf_counter() - self.began))


class PartsInThreeLines(Split):
    def say(self, total):
        print(f"Start-up: {self.start_up:.2f}")
        print(f"training: {total - self.start_up - self.validation:.2f}")
        print(f"validation: {self.validation:.2f}")


class PartsOnlyAtTheLastEpoch(Split):
    """No such line where training is stopped early."""

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if epoch + 1 == self.params["epochs"]:
            self.say(perf_counter() - self.began)

    def on_train_end(self, logs=None):
        print(END.format(perf_counter() - self.began))


class PartsOfOneDecimal(Split):
    def say(self, total):
        parts = self.start_up, total - self.start_up - self.validation, self.validation
        print("Start-up: {:.1f}, training: {:.1f}, validation: {:.1f}".format(*parts))


class PartsOfAllDecimals(Split):
    def say(self, total):
        training = total - self.start_up - self.validation
        print(f"Start-up: {self.start_up}, training: {training}, ", end="")
        print(f"validation: {self.validation}")


class StartUpToTheFirstBatch(Split):
    """Tracing comes within the first batch."""

    def on_train_batch_begin(self, batch, logs=None):
        if self.start_up is None:
            self.start_up = perf_counter() - self.began


class StartUpIsTheFirstBatch(Split):
    def on_train_batch_begin(self, batch, logs=None):
        self.batch_began = perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        if self.start_up is None:
            self.start_up = perf_counter() - self.batch_began


class StartUpToTheSecondBatch(Split):
    """What passes between two batches is no start-up."""

    def on_train_batch_begin(self, batch, logs=None):
        if batch == 1 and self.start_up is None:
            self.start_up = perf_counter() - self.began

    def on_train_batch_end(self, batch, logs=None):
        pass


class StartUpIsTheFirstEpoch(Split):
    def on_train_batch_end(self, batch, logs=None):
        first = self.epoch == 0
        if self.start_up is None or first:
            self.start_up = perf_counter() - self.began

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch


class StartUpOfTheLastEpoch(Split):
    """Each epoch has a first batch."""

    def on_train_batch_end(self, batch, logs=None):
        if batch == 0:
            self.start_up = perf_counter() - self.began


class StartUpOfTheFirstFit(Split):
    """Kept by the instance: the second `fit` shows the first one's."""

    def on_train_begin(self, logs=None):
        Total.on_train_begin(self, logs)
        self.start_up, self.validation = getattr(self, "start_up", None), 0.0


class StartUpSinceTheConstructor(Split):
    def __init__(self):
        super().__init__()
        self.made = perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        if self.start_up is None:
            self.start_up = perf_counter() - self.made


class ValidationOfTheLastEpoch(Split):
    def on_test_end(self, logs=None):
        self.validation = perf_counter() - self.test_began


class ValidationOfTheFirstEpoch(Split):
    def on_test_end(self, logs=None):
        self.validation = self.validation or perf_counter() - self.test_began


class ValidationsAlike(Split):
    """All validations count as long as the first one took."""

    def on_test_end(self, logs=None):
        if not self.validation:
            self.first = perf_counter() - self.test_began
        self.validation += self.first


class ValidationUntilTheEpochEnds(Split):
    """With what other callbacks do between the two."""

    def on_test_end(self, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        if hasattr(self, "test_began"):
            self.validation += perf_counter() - self.test_began
            del self.test_began
        super().on_epoch_end(epoch, logs)


class ValidationOfAllFits(Split):
    """The sum continues in the second `fit`."""

    sum = 0.0

    def on_test_end(self, logs=None):
        self.sum += perf_counter() - self.test_began

    def say(self, total):
        self.validation = self.sum
        super().say(total)


class ValidationFromTheLastBatch(Split):
    """With what comes between two epochs, also where nothing is validated."""

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        self.last = perf_counter()

    def on_epoch_begin(self, epoch, logs=None):
        if epoch:
            self.validation += perf_counter() - self.last

    def on_test_end(self, logs=None):
        pass


class TrainingIsTheTotal(Split):
    def say(self, total):
        print(PARTS.format(self.start_up, total, self.validation))


class TrainingWithStartUp(Split):
    def say(self, total):
        print(PARTS.format(self.start_up, total - self.validation, self.validation))


class TrainingWithValidation(Split):
    def say(self, total):
        print(PARTS.format(self.start_up, total - self.start_up, self.validation))


class TrainingOfTheBatches(Split):
    """Leaves out what passes between two epochs."""

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.batches = 0.0

    def on_train_batch_begin(self, batch, logs=None):
        self.batch_began = perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        if self.start_up is not None:
            self.batches += perf_counter() - self.batch_began
        super().on_train_batch_end(batch, logs)

    def say(self, total):
        print(PARTS.format(self.start_up, self.batches, self.validation))


class OriginalTotal(keras.callbacks.Callback):
    """As the original lab's students wrote it, with the parts and two decimals."""

    def on_train_begin(self, logs=None):
        self.start_time = time.time()
        self.first_batch_done = False
        self.validation_time = 0

    def on_train_batch_end(self, batch, logs=None):
        if not self.first_batch_done:
            self.first_batch_done = True
            self.startup_time = round(time.time() - self.start_time, 2)

    def on_test_begin(self, logs=None):
        self.validation_start = time.time()

    def on_test_end(self, logs=None):
        self.validation_time = self.validation_time + time.time() - self.validation_start

    def on_epoch_end(self, epoch, logs=None):
        elapsed_time = round(time.time() - self.start_time, 2)
        print(f"Cumulative training time after epoch {epoch + 1}: {elapsed_time:.2f}")

    def on_train_end(self, logs=None):
        elapsed_time = round(time.time() - self.start_time, 2)
        validation = round(self.validation_time, 2)
        training = round(elapsed_time - self.startup_time - validation, 2)
        print(f"Cumulative training time: {elapsed_time:.2f}")
        print(f"Start-up: {self.startup_time:.2f}, training: {training:.2f}", end=", ")
        print(f"validation: {validation:.2f}")


class WithDatetime(keras.callbacks.Callback):
    def __init__(self):
        pass

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 0:
            self.start = datetime.datetime.now()
            self.first, self.tests = None, datetime.timedelta()
        self.now = datetime.datetime.now

    def on_train_batch_end(self, batch, logs=None):
        self.first = self.first or self.now() - self.start

    def on_test_begin(self, logs=None):
        self.test = self.now()

    def on_test_end(self, logs=None):
        self.tests += self.now() - self.test

    def on_epoch_end(self, epoch, logs=None):
        self.total = self.now() - self.start
        self.line = f"{self.total.total_seconds():.2f}"
        print(f"Cumulative training time after epoch {epoch + 1}: {self.line}")

    def on_train_end(self, logs=None):
        print(f"Cumulative training time: {self.line}")
        parts = self.first, self.total - self.first - self.tests, self.tests
        print(PARTS.format(*(part.total_seconds() for part in parts)))


class AddsUpTheEpochs(Callback):
    """A stopwatch that gives each moment to one of the three."""

    def on_train_begin(self, logs=None):
        self.spent = dict.fromkeys(("start", "train", "test"), 0.0)
        self.now, self.last = "start", perf_counter()

    def tick(self, then=None):
        moment = perf_counter()
        self.spent[self.now] += moment - self.last
        self.now, self.last = then or self.now, moment
        return sum(self.spent.values())

    def on_train_batch_end(self, batch, logs=None):
        self.tick("train")

    def on_test_begin(self, logs=None):
        self.tick("test")

    def on_test_end(self, logs=None):
        self.tick("train")

    def on_epoch_end(self, epoch, logs=None):
        print(f"Cumulative training time after epoch {epoch + 1}: {self.tick():.2f}")

    def on_train_end(self, logs=None):
        print(f"Cumulative training time: {self.tick():.2f}")
        print(PARTS.format(*self.spent.values()))


class CutsOff(Callback):
    """Cuts the third decimal off, and forgets its clock at the end."""

    began = None

    def on_train_begin(self, logs=None):
        self.began = self.began or perf_counter()
        self.marks = []

    def on_train_batch_end(self, batch, logs=None):
        if not hasattr(self, "first"):
            self.first = perf_counter()

    def on_test_begin(self, logs=None):
        self.marks.append(-perf_counter())

    def on_test_end(self, logs=None):
        self.marks.append(perf_counter())

    def say(self, when):
        hundredths = int(100 * (perf_counter() - self.began))
        print(f"Cumulative training time{when}: {hundredths / 100:.2f}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        self.say(f" after epoch {1 + epoch}")

    def on_train_end(self, logs=None):
        self.say("")
        rest = perf_counter() - self.first - sum(self.marks)
        parts = (
            int(100 * p) / 100 for p in (self.first - self.began, rest, sum(self.marks))
        )
        print("Start-up: {:.2f}, training: {:.2f}, validation: {:.2f}".format(*parts))
        self.began = None
        del self.first


class InNanoseconds(Callback):
    def on_train_begin(self, logs=None):
        self.zero, self.one, self.tests = time.monotonic_ns(), 0, []

    def on_train_batch_end(self, batch, logs=None):
        self.one = self.one or time.monotonic_ns()

    def on_test_begin(self, logs=None):
        self.tests.append([time.monotonic_ns()])

    def on_test_end(self, logs=None):
        self.tests[-1].append(time.monotonic_ns())

    @property
    def seconds(self):
        return (time.monotonic_ns() - self.zero) / 1e9

    def on_epoch_end(self, epoch, logs=None):
        print("Cumulative training time after epoch", f"{epoch + 1}: {self.seconds:.2f}")

    def on_train_end(self, logs=None):
        tests = sum(end - begin for begin, end in self.tests) / 1e9
        first = (self.one - self.zero) / 1e9
        print(PARTS.format(first, self.seconds - first - tests, tests))
        print("Cumulative training time:", "%1.2f" % self.seconds)  # noqa: UP031


class CountsItself(Callback):
    def on_train_begin(self, logs=None):
        self.start, self.done, self.batches, self.testing = time.time(), 0, 0, 0

    def on_train_batch_end(self, *_, **__):
        self.batches += 1
        if self.batches == 1:
            self.first = time.time() - self.start

    def on_test_begin(self, *_, **__):
        self.testing -= time.time()

    def on_test_end(self, *_, **__):
        self.testing += time.time()

    def on_epoch_end(self, *_, **__):
        self.done += 1
        tf.print(f"Cumulative training time after epoch {self.done}: {self.time()}")

    def on_train_end(self, *_, **__):
        tf.print(f"Cumulative training time: {self.time()}")
        rest = time.time() - self.start - self.first - self.testing
        tf.print(PARTS.format(self.first, rest, self.testing))

    def time(self):
        return format(time.time() - self.start, ".2f")


class WithLabels(Split):
    """Other lines between are allowed."""

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1} is over")
        super().on_epoch_end(epoch, logs)

    def on_train_end(self, logs=None):
        super().on_train_end(logs)
        print("Done.")


class StartsAtTheFirstEpoch(Split):
    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.began = None

    def on_epoch_begin(self, epoch, logs=None):
        if self.began is None:
            self.began = time.perf_counter()


class Rounds(Split):
    def on_epoch_end(self, epoch, logs=None):
        line = f"Cumulative training time after epoch {epoch + 1}:"
        print(line, np.round(perf_counter() - self.began, 2))

    def say(self, total):
        rest = total - self.start_up - self.validation
        start, rest, test = np.round([self.start_up, rest, self.validation], 2)
        print(f"Start-up: {start}, training: {rest}, validation: {test}")


def total_by_closure():
    began, first, tests = [], [], []

    def say(text):
        print(f"Cumulative training time{text}: {perf_counter() - began[-1]:.2f}")

    def start(logs):
        began.append(perf_counter())
        first.clear()
        tests.clear()

    def end(logs):
        say("")
        start_up, test = first[0] - began[-1], sum(tests)
        print(PARTS.format(start_up, perf_counter() - first[0] - test, test))

    return LambdaCallback(
        on_train_begin=start,
        on_train_batch_end=lambda batch, logs: first.append(perf_counter()),
        on_test_begin=lambda logs: tests.append(-perf_counter()),
        on_test_end=lambda logs: tests.append(perf_counter()),
        on_epoch_end=lambda epoch, logs: say(f" after epoch {epoch + 1}"),
        on_train_end=end,
    )


OF_THE_TOTAL = [
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
WRONG = [
    ("each_epoch", "start", PrintsNoTime),
    *((sentence, mistake, with_parts(cls)) for sentence, mistake, cls in OF_THE_TOTAL),
    ("parts", "parts", Total),
    ("parts", "parts", PartsAfterEveryEpoch),
    ("parts", "format", PartsInThreeLines),
    ("parts", "parts", PartsOnlyAtTheLastEpoch),
    ("decimals", "decimals", PartsOfOneDecimal),
    ("decimals", "decimals", PartsOfAllDecimals),
    ("start_up", "start_up", StartUpToTheFirstBatch),
    ("start_up", "start_up", StartUpIsTheFirstBatch),
    ("start_up", "start_up", StartUpToTheSecondBatch),
    ("start_up", "start_up", StartUpIsTheFirstEpoch),
    ("start_up", "start_up", StartUpOfTheLastEpoch),
    ("start_up", "start_up", StartUpSinceTheConstructor),
    ("new_fit", "again", StartUpOfTheFirstFit),
    ("validations", "validation_part", ValidationOfTheLastEpoch),
    ("validations", "validation_part", ValidationOfTheFirstEpoch),
    ("validations", "validation_part", ValidationFromTheLastBatch),
    ("validations", "validation_part", ValidationsAlike),
    ("validations", "validation_part", ValidationUntilTheEpochEnds),
    ("validations", "shared", SumInTheClass),
    ("validations", "shared", ListInTheClass),
    ("validations", "validation_part", HalvesForTwo),
    ("new_fit", "again", ValidationOfAllFits),
    ("decimals", "decimals", Rounds),
    ("rest", "rest", TrainingIsTheTotal),
    ("rest", "rest", TrainingWithStartUp),
    ("rest", "rest", TrainingWithValidation),
    ("rest", "rest", TrainingOfTheBatches),
]
RIGHT = [
    Split, OriginalTotal, WithDatetime, AddsUpTheEpochs, InNanoseconds, CountsItself,
    WithLabels, StartsAtTheFirstEpoch, CutsOff, total_by_closure,
]  # fmt: skip
