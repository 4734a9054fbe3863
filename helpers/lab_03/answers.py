"""Answers to lab 03: wrong ones with the sentence they break and their hint, right ones."""

import collections
import datetime
import itertools
import math
import statistics
import time
from functools import partial
from statistics import median
from time import perf_counter

import keras
import numpy as np
import tensorflow as tf
from keras.callbacks import Callback, LambdaCallback


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

    def missing(self):
        print("no val_accuracy: give fit validation_data")

    def on_epoch_end(self, epoch, logs=None):
        if self.key not in logs:
            self.missing()
        elif self.good(logs[self.key]):
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


class RoundsToTwoDecimals(Stop):
    def good(self, accuracy):
        return round(accuracy, 2) > round(self.target, 2)


class RoundsToThreeDecimals(Stop):
    def good(self, accuracy):
        return round(accuracy, 3) > self.target


class WantsItToRise(Stop):
    def on_train_begin(self, logs=None):
        super().on_train_begin()
        self.before = 0

    def good(self, accuracy):
        rises, self.before = accuracy >= self.before, accuracy
        return rises and accuracy > self.target


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


class DoesNothing(keras.callbacks.Callback):
    def __init__(self, target=0.85, patience=2):
        super().__init__()


class PassesOverTheTarget(Stop):
    """An epoch exactly at the target neither counts nor sets back."""

    def on_epoch_end(self, epoch, logs=None):
        if logs.get("val_accuracy") != self.target:
            super().on_epoch_end(epoch, logs)


class CountsOverFits(Stop):
    def __init__(self, target=0.85, patience=2):
        super().__init__(target, patience)
        self.met = 0

    def on_train_begin(self, logs=None):
        pass


class SaysItTwice(Stop):
    def stop(self, epoch):
        super().stop(epoch)
        super().stop(epoch)


class SaysItInEveryGoodEpoch(Stop):
    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if self.met and not self.enough():
            print(f"Early stopping after epoch {epoch + 1}")


class WritesAnotherMessage(Stop):
    def stop(self, epoch):
        self.model.stop_training = True
        print(f"Stopped early after epoch {epoch + 1}")


class SaysItAsANumberWithAPoint(Stop):
    def stop(self, epoch):
        self.model.stop_training = True
        print("Early stopping after epoch", epoch + 1.0)


class SaysThatSomethingIsMissing(Stop):
    def missing(self):
        print("Something is missing.")


class KeepsSilent(Stop):
    def missing(self):
        pass


class CrashesWithoutValidation(Stop):
    def missing(self):
        raise KeyError(self.key)


class StopsWithoutValidation(Stop):
    def missing(self):
        print("no val_accuracy")
        self.model.stop_training = True


class WantsTwoInARow(Stop):
    """Right for a patience of two."""

    def enough(self):
        return self.met >= 2


class OriginalStop(keras.callbacks.Callback):
    """As the original lab's students wrote it: the count survives a second `fit`."""

    def __init__(self, target=0.85, patience=2):
        self.target = target
        self.patience = patience
        self.stopped_epoch = 0
        self.met_target = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs.get("val_accuracy", 0) > self.target:
            self.met_target += 1
        else:
            self.met_target = 0
        if self.met_target >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0:
            print("Early stopping after epoch {}".format(self.stopped_epoch + 1))  # noqa: UP032


class SaysItAtTheEnd(keras.callbacks.Callback):
    def __init__(self, target=0.85, patience=2):
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.stopped_after, self.met_target = None, 0

    def on_epoch_end(self, epoch, logs=None):
        if logs.get("val_accuracy") is None:
            print("There is no validation accuracy.")
        elif logs["val_accuracy"] > self.target:
            self.met_target += 1
        else:
            self.met_target = 0
        if self.met_target >= self.patience:
            self.stopped_after = epoch + 1
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        if self.stopped_after:
            print(f"Early stopping after epoch {self.stopped_after}")


class KeepsAHistory(keras.callbacks.Callback):
    def __init__(self, target, patience):
        self.t, self.p = target, patience

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 0:
            self.seen = []

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append((logs or {}).get("val_accuracy", float("nan")))
        if math.isnan(self.seen[-1]):
            print("val_accuracy is missing")
        if len(self.seen) >= self.p and all(a > self.t for a in self.seen[-self.p :]):
            self.model.stop_training = True
            print("Early stopping after epoch", len(self.seen))


class WithADeque(Callback):
    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.last = collections.deque(maxlen=self.patience)

    def on_epoch_end(self, epoch, logs=None):
        if "val_accuracy" not in logs:
            tf.print("I need val_accuracy")
            return
        self.last.append(round(logs["val_accuracy"], 6) > self.target)
        if sum(self.last) == self.patience:
            self.model.stop_training = True
            tf.print("Early stopping after epoch", epoch + 1)


class FromKeras(keras.callbacks.EarlyStopping):
    """Inherits from Keras' own callback, and changes when it is enough."""

    def __init__(self, target=0.85, patience=2):
        super().__init__(monitor="val_accuracy", patience=patience)
        self.target = target

    def on_train_begin(self, logs=None):
        self.in_a_row = 0

    def on_epoch_end(self, epoch, logs=None):
        value = logs.get(self.monitor)
        if value is None:
            print(f"{self.monitor} is not there")
            return
        self.in_a_row = (self.in_a_row + 1) * (value > self.target)
        if self.in_a_row >= self.patience:
            print(f"Early stopping after epoch {1 + epoch}")
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        pass


class CountsDown(Callback):
    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.left = self.patience

    def on_epoch_end(self, epoch, logs=None):
        if logs is None or "val_accuracy" not in logs:
            return print("val_accuracy?")
        self.left = self.left - 1 if logs["val_accuracy"] > self.target else self.patience
        if not self.left:
            self.model.stop_training = True
            print(f"Early stopping after epoch {epoch + 1}", flush=True)


class RemembersTheLastBadEpoch(Callback):
    def __init__(self, target=0.85, patience=2):
        self.target, self.patience, self.bad = target, patience, -1

    def on_epoch_end(self, epoch, logs=None):
        if epoch == 0:
            self.bad = -1
        accuracy = logs.get("val_accuracy")
        if accuracy is None:
            print("add validation_data to fit()")
            self.bad = epoch
            return
        if not accuracy > self.target:
            self.bad = epoch
        if epoch - self.bad >= self.patience:
            self.model.stop_training = True
            print(f"Early stopping after epoch {epoch + 1}")


class TriesIt(Stop):
    def on_epoch_end(self, epoch, logs=None):
        try:
            self.met = self.met + 1 if logs["val_accuracy"] > self.target else 0
        except KeyError as error:
            print("missing:", error)
            return
        if self.met == self.patience:
            self.stop(epoch)


def stops_by_closure(target=0.85, patience=2):
    state = {"met": 0}
    callback = LambdaCallback(on_train_begin=lambda logs: state.update(met=0))

    def on_epoch_end(epoch, logs=None):
        if "val_accuracy" not in logs:
            print("val_accuracy is not in the logs")
            return
        state["met"] = state["met"] + 1 if logs["val_accuracy"] > target else 0
        if state["met"] >= patience:
            callback.model.stop_training = True
            print(f"Early stopping after epoch {epoch + 1}")

    callback.on_epoch_end = on_epoch_end
    return callback


def stops_by_partial(target=0.85, patience=2):
    return partial(CountsDown, patience=patience)(target=target)


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


def rounds_the_accuracies(runs, target):
    return {
        b: summary_of([first_time(run, target - 0.005) for run in group])
        for b, group in grouped(runs)
    }


def reads_between_the_looks(runs, target):
    """Where the line between two looks crosses the target."""

    def reached(run):
        looks = list(zip(run["wall_seconds"], run["val_accuracy"], strict=True))
        for (t0, below), (t1, above) in itertools.pairwise(looks):
            if above >= target:
                return t0 + (t1 - t0) * (target - below) / (above - below)
        return None

    return {b: summary_of(list(map(reached, group))) for b, group in grouped(runs)}


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


def start_code(runs, target):
    times = {}
    for run in runs:
        times.setdefault(run["batch_size"], []).append(run["wall_seconds"][-1])
    return {
        batch_size: {
            "reached": len(seconds),
            "runs": len(seconds),
            "median_seconds": statistics.mean(seconds),
            "fastest_seconds": min(seconds),
            "slowest_seconds": max(seconds),
        }
        for batch_size, seconds in times.items()
    }


def takes_the_last_good_look(runs, target):
    def last(run):
        looks = zip(run["wall_seconds"], run["val_accuracy"], strict=True)
        return max((t for t, accuracy in looks if accuracy >= target), default=None)

    return {b: summary_of([last(run) for run in group]) for b, group in grouped(runs)}


def failures_take_their_whole_time(runs, target):
    def reached(run):
        return first_time(run, target) or run["wall_seconds"][-1]

    return {b: summary_of([reached(run) for run in group]) for b, group in grouped(runs)}


def gives_infinity(runs, target):
    rows = in_another_order(runs, target)
    for row in rows.values():
        if row["median_seconds"] is None:
            row["median_seconds"] = float("inf")
    return rows


def gives_zero_for_nothing(runs, target):
    rows = in_another_order(runs, target)
    for row in rows.values():
        for name in ("median_seconds", "fastest_seconds", "slowest_seconds"):
            row[name] = row[name] or 0.0
    return rows


def counts_failures_in_the_spread(runs, target):
    rows = {}
    for b, group in grouped(runs):
        rows[b] = summary_of([first_time(run, target) for run in group])
        if rows[b]["reached"] < rows[b]["runs"]:
            rows[b]["slowest_seconds"] = None
    return rows


def with_text_keys(runs, target):
    return {str(b): row for b, row in in_another_order(runs, target).items()}


def counts_only_the_reached(runs, target):
    rows = in_another_order(runs, target)
    return {b: row | {"runs": row["reached"]} for b, row in rows.items()}


def sorts_the_runs(runs, target):
    runs.sort(key=lambda run: run["batch_size"])
    return in_another_order(runs, target)


def adds_to_the_runs(runs, target):
    for run in runs:
        run["seconds"] = first_time(run, target)
    return {b: summary_of([r["seconds"] for r in group]) for b, group in grouped(runs)}


def in_another_order(runs, target):
    """Sorted by hand, with NumPy numbers and a key too many."""
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


def row_of(times):
    """A row from times that may be infinite, for the answers below."""
    fine = [t for t in times if math.isfinite(t)]
    middle = median(times)
    return dict(  # noqa: C408
        reached=len(fine),
        runs=len(times),
        median_seconds=middle if math.isfinite(middle) else None,
        fastest_seconds=min(fine) if fine else None,
        slowest_seconds=max(fine) if fine else None,
    )


def with_a_loop(runs, target):
    result = {}
    for run in runs:
        arrived = math.inf
        for i in range(len(run["val_accuracy"])):
            if run["val_accuracy"][i] >= target:
                arrived = run["wall_seconds"][i]
                break
        if run["batch_size"] not in result:
            result[run["batch_size"]] = []
        result[run["batch_size"]].append(arrived)
    for size in result:
        result[size] = row_of(result[size])
    return result


def with_groupby(runs, target):
    ordered = sorted(runs, key=lambda run: run["batch_size"])
    return {
        size: row_of([first_time(run, target) or math.inf for run in group])
        for size, group in itertools.groupby(ordered, key=lambda run: run["batch_size"])
    }


def with_defaultdict(runs, target):
    times = collections.defaultdict(list)
    for run in runs:
        good = np.array(run["val_accuracy"]) >= target
        seconds = run["wall_seconds"][int(good.argmax())] if good.any() else np.inf
        times[run["batch_size"]].append(seconds)
    return collections.OrderedDict((size, row_of(t)) for size, t in sorted(times.items()))


def with_dropwhile(runs, target):
    def arrival(run):
        looks = zip(run["val_accuracy"], run["wall_seconds"], strict=True)
        after = itertools.dropwhile(lambda look: look[0] < target, looks)
        return next(after, (0, math.inf))[1]

    sizes = {run["batch_size"] for run in runs}
    return {
        s: row_of([arrival(run) for run in runs if run["batch_size"] == s]) for s in sizes
    }


def median_by_hand(runs, target):
    rows = {}
    for size in sorted({run["batch_size"] for run in runs}):
        mine = [run for run in runs if run["batch_size"] == size]
        times = sorted(first_time(run, target) or 1e99 for run in mine)
        low, high = times[(len(times) - 1) // 2], times[len(times) // 2]
        fine = [t for t in times if t < 1e99]
        rows[size] = {
            "runs": len(mine),
            "reached": len(fine),
            "median_seconds": None if high == 1e99 else (low + high) / 2,
            "fastest_seconds": (fine or [None])[0],
            "slowest_seconds": (fine or [None])[-1],
        }
    return rows


def with_nan(runs, target):
    rows = {}
    for b, group in grouped(runs):
        t = np.array([first_time(run, target) for run in group], float)  # None is nan
        fine = t[~np.isnan(t)]
        middle = np.median(np.where(np.isnan(t), np.inf, t))
        rows[b] = {
            "reached": len(fine),
            "runs": len(t),
            "median_seconds": float(middle) if middle < np.inf else None,
            "fastest_seconds": fine.min() if len(fine) else None,
            "slowest_seconds": fine.max() if len(fine) else None,
        }
    return rows


def rounded(runs, target):
    rows = with_a_loop(runs, target)
    for row in rows.values():
        row.update((k, round(v, 2)) for k, v in row.items() if isinstance(v, float))
    return rows


def with_a_tolerance(runs, target):
    """As a float32 accuracy needs it: here it changes nothing."""
    return with_dropwhile(runs, target - 1e-7)


def by_recursion(runs, target, rows=None):
    rows = {} if rows is None else rows
    if not runs:
        return {size: row_of(times) for size, times in rows.items()}
    run, *others = runs
    rows.setdefault(run["batch_size"], []).append(first_time(run, target) or math.inf)
    return by_recursion(others, target, rows)


WRONG = {
    "3.1": [
        ("stops", "start", DoesNothing),
        ("stops", "never", OnlyPrints),
        ("stops", "early", OneEpochEarly),
        ("stops", "late", OneEpochLate),
        ("stops", "other", WantsTwoInARow),
        ("stops", "raised", TakesNoLogs),
        ("in_a_row", "reset", ForgetsToReset),
        ("at_target", "exceed", AtLeastTheTarget),
        ("stops", "coarse", RoundsToTwoDecimals),
        ("stops", "coarse", RoundsToThreeDecimals),
        ("in_a_row", "falling", WantsItToRise),
        ("at_target", "at_target", PassesOverTheTarget),
        ("metric", "metric", LooksAtTraining),
        ("new_fit", "again", CountsOverFits),
        ("new_fit", "again", OriginalStop),
        ("message", "message", CountsFromZero),
        ("message", "message", SaysItTwice),
        ("message", "message", WritesAnotherMessage),
        ("message", "message", SaysItAsANumberWithAPoint),
        ("message", "unasked", SaysItAlways),
        ("message", "unasked", SaysItInEveryGoodEpoch),
        ("missing", "missing", KeepsSilent),
        ("missing", "missing", SaysThatSomethingIsMissing),
        ("missing", "raised", CrashesWithoutValidation),
        ("missing", "other", StopsWithoutValidation),
    ],
    "3.2": [
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
        ("from_one", "again", CountsTheEpochsOn),
        ("total", "constant", StartsTheClockTooLate),
        ("total", "other", ClockFromTheFirstEpochsEnd),
        ("new_fit", "again", GoesOnInTheSecondFit),
    ],
    "3.3": [
        ("first", "start", start_code),
        ("first", "first", takes_the_last_epoch),
        ("first", "last", takes_the_last_good_look),
        ("infinite", "dropped", drops_failures),
        ("infinite", "all_reach", failures_take_their_whole_time),
        ("infinite", "raised", crashes_on_failure),
        ("median", "mean", takes_the_mean),
        ("median", "upper", takes_the_upper_middle),
        ("at_least", "at_target", above_the_target),
        ("at_least", "close", rounds_the_accuracies),
        ("first", "other", reads_between_the_looks),
        ("rows", "sizes", leaves_out_a_size),
        ("rows", "keys", with_text_keys),
        ("rows", "changed", sorts_the_runs),
        ("rows", "changed", adds_to_the_runs),
        ("counts", "all_counted", counts_all_as_reached),
        ("counts", "runs", counts_only_the_reached),
        ("spread", "other", counts_failures_in_the_spread),
        ("none", "no_json", gives_infinity),
        ("none", "other", gives_zero_for_nothing),
    ],
}
RIGHT = {
    "3.1": [
        Stop, SaysItAtTheEnd, KeepsAHistory, WithADeque, FromKeras, CountsDown,
        RemembersTheLastBadEpoch, TriesIt, stops_by_closure, stops_by_partial,
    ],
    "3.2": [
        Total, OriginalTotal, WithDatetime, AddsUpTheEpochs, InNanoseconds, CountsItself,
        WithLabels, StartsAtTheFirstEpoch, Rounds, CutsOff, total_by_closure,
    ],
    "3.3": [
        in_another_order, with_a_loop, with_groupby, with_defaultdict, with_dropwhile,
        median_by_hand, with_nan, rounded, with_a_tolerance, by_recursion,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right, each with the reason.
_MOVED = (
    "4: for run in runs:; epochs = zip(run['wall_seconds'], run['val_accuracy'], st"
    "rict=True); first = next((t for t, accuracy in epochs if accuracy >= target), "
    "float('inf')); times.setdefault(run['batch_size'], []).append(first); ; def ro"
    "w(all_times):; reached = [t for t in all_times if t < float('inf')]; median = "
    "statistics.median(all_times); return {'reached': len(reached), 'runs': len(all"
    "_times), 'median_seconds': median if median < float('inf') else None, 'fastest"
    "_seconds': min(reached, default=None), 'slowest_seconds': max(reached, default"
    "=None)} → ; def row(all_times):; reached = [t for t in all_times if t < float("
    "'inf')]; median = statistics.median(all_times); return {'reached': len(reached"
    "), 'runs': len(all_times), 'median_seconds': median if median < float('inf') e"
    "lse None, 'fastest_seconds': min(reached, default=None), 'slowest_seconds': ma"
    "x(reached, default=None)}; for run in runs:; epochs = zip(run['wall_seconds'],"
    " run['val_accuracy'], strict=True); first = next((t for t, accuracy in epochs "
    "if accuracy >= target), float('inf')); times.setdefault(run['batch_size'], [])"
    ".append(first)"
)
_INIT = "4: def __init__(self, target=0.85, patience=2): → def __init__(self, "
_DEFAULT = "a default; the lab and the check give both"
_MET = "16: self.met = self.met + 1 if round(accuracy, 6) > self.target else 0 → "
RIGHT_MUTANTS = {
    "3.1": {
        f"{_INIT}target=1.7, patience=2):": _DEFAULT,
        f"{_INIT}target=0.425, patience=2):": _DEFAULT,
        f"{_INIT}target=0.85, patience=3):": _DEFAULT,
        f"{_INIT}target=0.85, patience=1):": _DEFAULT,
        "5: super().__init__() → pass": "Keras does not need it for a callback",
        "5: super().__init__(); self.target, self.patience = (target, patience) → "
        "self.target, self.patience = (target, patience); super().__init__()": (
            "the order is free"
        ),
        "12: accuracy = (logs or {}).get('val_accuracy') → "
        "accuracy = logs.get('val_accuracy')": "Keras always gives a dict",
        "14: print(\"StopAtAccuracy needs metrics=['accuracy'] and validation_data.\") → "
        "print(\"StopAtAccuracy needs metrics=['accuracy'] and validation_data.x\")": (
            "the words are free"
        ),
        f"{_MET}self.met = self.met + 1 if round(accuracy, 7) > self.target else 0": (
            "rounding is left to us, and this is as good"
        ),
        f"{_MET}self.met = self.met + 1 if round(accuracy, 5) > self.target else 0": (
            "rounding is left to us, and this is as good"
        ),
        f"{_MET}self.met = 1 + self.met if round(accuracy, 6) > self.target else 0": (
            "the same sum"
        ),
        "18: self.model.stop_training = True; "
        "print(f'Early stopping after epoch {epoch + 1}') → "
        "print(f'Early stopping after epoch {epoch + 1}'); "
        "self.model.stop_training = True": "the order is free",
        "19: print(f'Early stopping after epoch {epoch + 1}') → "
        "print(f'Early stopping after epoch {1 + epoch}')": "the same sum",
    },
    "3.2": {
        "9: print(f'Cumulative training time after epoch {epoch + 1}: "
        "{wall_seconds:.2f}') → "
        "print(f'Cumulative training time after epoch {1 + epoch}: {wall_seconds:.2f}')": (
            "the same sum"
        ),
    },
    "3.3": {
        _MOVED: "the function is used after both",
        "5: epochs = zip(run['wall_seconds'], run['val_accuracy'], strict=True) → "
        "epochs = zip(run['wall_seconds'], run['val_accuracy'])": "equally long lists",
        "5: epochs = zip(run['wall_seconds'], run['val_accuracy'], strict=True) → "
        "epochs = zip(run['wall_seconds'], run['val_accuracy'], strict=False)": (
            "equally long lists"
        ),
        "10: reached = [t for t in all_times if t < float('inf')]; "
        "median = statistics.median(all_times) → median = statistics.median(all_times); "
        "reached = [t for t in all_times if t < float('inf')]": "the order is free",
    },
}
