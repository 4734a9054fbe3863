"""Recorded answers to 3.1: wrong ones, and right ones in other styles."""

import collections
import math
from functools import partial

import keras
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


class SetsBackBeforeEpoch0(Stop):
    """But a `fit` that resumes a training never has an epoch 0."""

    def on_train_begin(self, logs=None):
        pass

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 0:
            self.met = 0


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

    def on_train_begin(self, logs=None):
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


class SetsBackAtTheEndOnly(Stop):
    """Which Keras does not reach where a fit is interrupted."""

    def __init__(self, target=0.85, patience=2):
        super().__init__(target, patience)
        self.met = 0

    def on_train_begin(self, logs=None):
        pass

    def on_train_end(self, logs=None):
        self.met = 0


class LooksAtBlocks(Stop):
    """Epochs 1 to `patience`, then the next ones: no row across a border counts."""

    def on_train_begin(self, logs=None):
        self.block = []

    def on_epoch_end(self, epoch, logs=None):
        if self.key not in logs:
            return self.missing()
        self.block.append(self.good(logs[self.key]))
        if len(self.block) == self.patience:
            if all(self.block):
                self.stop(epoch)
            self.block = []


class CountsInTheClass(Stop):
    def on_train_begin(self, logs=None):
        Stop.met = 0

    def on_epoch_end(self, epoch, logs=None):
        if self.key not in logs:
            return self.missing()
        Stop.met = Stop.met + 1 if self.good(logs[self.key]) else 0
        if Stop.met >= self.patience:
            self.stop(epoch)


class KeepsTheTargetInTheClass(Stop):
    def __init__(self, target=0.85, patience=2):
        super().__init__(target, patience)
        KeepsTheTargetInTheClass.limit = target

    def good(self, accuracy):
        return accuracy > self.limit


class KeepsAHistoryInTheClass(Stop):
    history = []

    def on_train_begin(self, logs=None):
        self.history.clear()

    def on_epoch_end(self, epoch, logs=None):
        if self.key not in logs:
            return self.missing()
        self.history.append(logs[self.key])
        last = self.history[-self.patience :]
        if len(last) == self.patience and min(last) > self.target:
            self.stop(epoch)


class TakesTheMean(Stop):
    def on_train_begin(self, logs=None):
        self.history = []

    def on_epoch_end(self, epoch, logs=None):
        if self.key not in logs:
            return self.missing()
        self.history.append(logs[self.key])
        last = self.history[-self.patience :]
        if len(last) == self.patience and sum(last) > self.patience * self.target:
            self.stop(epoch)


class TakesZeroForMissing(keras.callbacks.Callback):
    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.met = 0

    def on_epoch_end(self, epoch, logs=None):
        accuracy = (logs or {}).get("val_accuracy")
        if not accuracy:
            print("val_accuracy is missing in the logs")
            return
        self.met = self.met + 1 if accuracy > self.target else 0
        if self.met >= self.patience:
            print(f"Early stopping after epoch {epoch + 1}")
            self.model.stop_training = True


class CountsFromTheLastBadEpoch(keras.callbacks.Callback):
    """Before its first epoch, it takes all earlier ones for good."""

    def __init__(self, target=0.85, patience=2):
        super().__init__()
        self.target, self.patience = target, patience

    def on_train_begin(self, logs=None):
        self.bad = -1

    def on_epoch_end(self, epoch, logs=None):
        accuracy = (logs or {}).get("val_accuracy")
        if accuracy is None:
            print("val_accuracy is missing in the logs")
            self.bad = epoch
        elif accuracy <= self.target:
            self.bad = epoch
        elif epoch - self.bad >= self.patience:
            print(f"Early stopping after epoch {epoch + 1}")
            self.model.stop_training = True


WRONG = [
    ("stops", "other", TakesZeroForMissing),
    ("new_fit", "again", CountsFromTheLastBadEpoch),
    ("new_fit", "interrupted", SetsBackAtTheEndOnly),
    ("stops", "other", LooksAtBlocks),
    ("stops", "shared", CountsInTheClass),
    ("stops", "shared", KeepsTheTargetInTheClass),
    ("stops", "shared", KeepsAHistoryInTheClass),
    ("in_a_row", "averages", TakesTheMean),
    ("stops", "start", DoesNothing),
    ("stops", "never", OnlyPrints),
    ("stops", "early", OneEpochEarly),
    ("stops", "late", OneEpochLate),
    ("stops", "other", WantsTwoInARow),
    ("missing", "raised", TakesNoLogs),
    ("in_a_row", "reset", ForgetsToReset),
    ("at_target", "exceed", AtLeastTheTarget),
    ("stops", "coarse", RoundsToTwoDecimals),
    ("stops", "coarse", RoundsToThreeDecimals),
    ("in_a_row", "falling", WantsItToRise),
    ("at_target", "at_target", PassesOverTheTarget),
    ("metric", "metric", LooksAtTraining),
    ("new_fit", "again", CountsOverFits),
    ("new_fit", "again", SetsBackBeforeEpoch0),
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
    ("missing", "goes_on", StopsWithoutValidation),
]
RIGHT = [
    Stop, SaysItAtTheEnd, KeepsAHistory, WithADeque, FromKeras, CountsDown,
    RemembersTheLastBadEpoch, TriesIt, stops_by_closure, stops_by_partial,
]  # fmt: skip
