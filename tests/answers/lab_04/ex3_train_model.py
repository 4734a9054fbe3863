"""Recorded answers to 4.3: wrong ones, and right ones in other styles."""

import collections
import random
import sys
import time
from datetime import UTC, datetime

import keras
import numpy as np
import tensorflow as tf

NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")


class Loop:
    """The skeleton that the wrong ones change one thing of."""

    first, prefix, history = 1, "Epoch=", True

    def __init__(self):
        self.__name__ = type(self).__name__

    def bar(self):
        print(f"{'=' * 20} {datetime.now().astimezone():%H:%M:%S%z}")

    def reset(self, metrics):
        for metric in metrics.values():
            metric.reset_state()

    def clock(self, epoch):
        self.began = time.perf_counter()

    def validate(self, valid_step, train, valid):
        for x, y in valid:
            valid_step(x, y)

    def newswires(self, y):
        return len(y)

    def results(self, metrics):
        return [float(metrics[name].result()) for name in NAMES]

    def wait(self, metrics):
        float(metrics["loss"].result())

    def after_step(self, metrics):
        pass

    def say(self, epoch, now):
        print(
            f"{self.prefix}{epoch}, Loss:{now[0]:.3f}, Accuracy:{now[1]:.3f}, "
            f"Valid Loss:{now[2]:.3f}, Valid Accuracy:{now[3]:.3f}"
        )

    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {newswires / trained:.2f}")

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        rows = []
        for epoch in range(self.first, epochs + self.first):
            self.bar()
            self.reset(metrics)
            self.clock(epoch - self.first)
            newswires = 0
            for x, y in train:
                train_step(x, y)
                self.x = x
                newswires += self.newswires(y)
                self.after_step(metrics)
            self.wait(metrics)
            trained = time.perf_counter() - self.began
            self.validate(valid_step, train, valid)
            validated = time.perf_counter() - self.began
            rows.append(self.results(metrics))
            self.say(epoch, rows[-1])
            self.speed(newswires, trained, validated)
        columns = map(list, zip(*rows, strict=True))
        return dict(zip(NAMES, columns, strict=True)) if self.history else None


class NeverResets(Loop):
    def reset(self, metrics):
        pass


class ResetsTrainingOnly(Loop):
    def reset(self, metrics):
        metrics["loss"].reset_state()
        metrics["accuracy"].reset_state()


class ResetsBeforeItReads(Loop):
    def results(self, metrics):
        self.reset(metrics)
        return super().results(metrics)


class AveragesBatches(Loop):
    """Counts every batch once, and reads none of them before the end."""

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        means = {name: keras.metrics.Mean() for name in NAMES}

        def keep(step, names):
            def one(x, y):
                for name in names:
                    metrics[name].reset_state()
                step(x, y)
                for name in names:
                    # The variables: a result would wait for the device.
                    means[name].update_state(metrics[name].total / metrics[name].count)

            return one

        self.results = lambda metrics: [float(means[name].result()) for name in NAMES]
        self.reset = lambda metrics: [one.reset_state() for one in means.values()]
        steps = keep(train_step, NAMES[:2]), keep(valid_step, NAMES[2:])
        return super().__call__(*steps, metrics, train, valid, epochs)


class NeverValidates(Loop):
    def validate(self, valid_step, train, valid):
        pass


class ValidatesOnTrain(Loop):
    def validate(self, valid_step, train, valid):
        for x, y in train:
            valid_step(x, y)


class ValidatesOneBatch(Loop):
    def validate(self, valid_step, train, valid):
        valid_step(*next(iter(valid)))


class CountsFromZero(Loop):
    first = 0


class AnotherLine(Loop):
    prefix = "Epoch "


class AllDigits(Loop):
    def say(self, epoch, now):
        loss, accuracy, valid_loss, valid_accuracy = now
        print(
            f"Epoch={epoch}, Loss:{loss}, Accuracy:{accuracy}, "
            f"Valid Loss:{valid_loss}, Valid Accuracy:{valid_accuracy}"
        )


class SwapsTheTwo(Loop):
    def say(self, epoch, now):
        super().say(epoch, [now[2], now[1], now[0], now[3]])


class NoSpeed(Loop):
    def speed(self, newswires, trained, validated):
        pass


class ClockRunsOn(Loop):
    def speed(self, newswires, trained, validated):
        super().speed(newswires, validated, validated)


class CountsBatches(Loop):
    def newswires(self, y):
        return 1


class OneClockForAll(Loop):
    def clock(self, epoch):
        if epoch == 0:
            super().clock(epoch)


class SleepsForItsRate(Loop):
    """The sleep makes room for a number from no clock, with a little chance added."""

    def clock(self, epoch):
        time.sleep(1.2)
        super().clock(epoch)

    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {newswires / random.uniform(1.0, 1.1):.2f}")


class NoBar(Loop):
    def bar(self):
        pass


class BarAfterwards(NoBar):
    def speed(self, newswires, trained, validated):
        super().speed(newswires, trained, validated)
        super(NoBar, self).bar()


class WorldTime(Loop):
    def bar(self):
        print(f"{'=' * 20} {datetime.now(UTC):%H:%M:%S%z}")


class TwelveHours(Loop):
    def bar(self):
        print(f"{'=' * 20} {datetime.now().astimezone():%I:%M:%S%z}")


class NoZone(Loop):
    def bar(self):
        print(f"{'=' * 20} {datetime.now():%H:%M:%S}")


class EightHoursMore(Loop):
    """As in the lab that this one follows: right in one time zone."""

    def bar(self):
        seconds = int(time.time()) % 86_400
        hour, minute = (seconds // 3600 + 8) % 24, seconds // 60 % 60
        print(f"{'=' * 20} {hour:02d}:{minute:02d}:{seconds % 60:02d}")


class NoHistory(Loop):
    history = False


class StepsTakeTheModel(Loop):
    def validate(self, valid_step, train, valid):
        for x, y in valid:
            valid_step(None, x, y)


def start_of_4_3(train_step, valid_step, metrics, train, valid, epochs):
    for epoch in range(epochs):
        print(f"Epoch {epoch}")
        for x, y in train:
            train_step(x, y)
    return {}


class ForgetsOneMetric(Loop):
    def reset(self, metrics):
        for name in NAMES[:3]:
            metrics[name].reset_state()


class ResetsAtEveryStep(Loop):
    def after_step(self, metrics):
        self.batch += 1
        if self.batch % 3:
            metrics["loss"].reset_state()
            metrics["accuracy"].reset_state()

    def clock(self, epoch):
        super().clock(epoch)
        self.batch = 0


class ReadsAtEveryStep(Loop):
    def after_step(self, metrics):
        float(metrics["loss"].result())


class NeverWaits(Loop):
    def wait(self, metrics):
        pass


class AsksButDoesNotRead(Loop):
    """A result is a tensor on the device: nobody waits for it."""

    def wait(self, metrics):
        metrics["loss"].result()


class StopsTheClockFirst(Loop):
    def wait(self, metrics):
        self.stopped = time.perf_counter() - self.began
        super().wait(metrics)

    def speed(self, newswires, trained, validated):
        super().speed(newswires, self.stopped, validated)


class PrintsAllAtTheEnd(Loop):
    def __init__(self):
        super().__init__()
        self.kept = []

    def say(self, epoch, now):
        self.kept.append((epoch, now))

    def speed(self, newswires, trained, validated):
        self.kept[-1] += (newswires, trained)

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        self.kept = []
        result = super().__call__(train_step, valid_step, metrics, train, valid, epochs)
        for epoch, now, newswires, trained in self.kept:
            super().say(epoch, now)
            super().speed(newswires, trained, trained)
        return result


class BarsFirst(Loop):
    """All bars at once, before the first epoch."""

    def bar(self):
        pass

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        for _ in range(epochs):
            super().bar()
        return super().__call__(train_step, valid_step, metrics, train, valid, epochs)


class InvertsTheRate(Loop):
    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {trained / newswires:.6f}")


class CountsPerMinute(Loop):
    def speed(self, newswires, trained, validated):
        super().speed(60 * newswires, trained, validated)


class CountsOnAndOn(Loop):
    total = 0

    def speed(self, newswires, trained, validated):
        self.total += newswires
        super().speed(self.total, trained, validated)


class WholeRate(Loop):
    def speed(self, newswires, trained, validated):
        print(f"Newswires/sec: {newswires / trained:.0f}")


class ReturnsTheLastEpoch(Loop):
    def __call__(self, *arguments):
        return {name: values[-1:] for name, values in super().__call__(*arguments).items()}


class ValidatesFirst(Loop):
    def clock(self, epoch):
        self.before(*self.held)
        super().clock(epoch)

    def validate(self, valid_step, train, valid):
        pass

    def before(self, valid_step, train, valid):
        super().validate(valid_step, train, valid)

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        self.held = valid_step, train, valid
        return super().__call__(train_step, valid_step, metrics, train, valid, epochs)


class OneEpochMore(Loop):
    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        return super().__call__(train_step, valid_step, metrics, train, valid, epochs + 1)


class TakesItsMetricsOut(Loop):
    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        result = super().__call__(train_step, valid_step, metrics, train, valid, epochs)
        metrics.clear()
        return result


class AsksForTheTimeOnce(Loop):
    def __call__(self, *arguments):
        self.now = f"{datetime.now().astimezone():%H:%M:%S%z}"
        return super().__call__(*arguments)

    def bar(self):
        print("=" * 20, self.now)


class ReturnsWhatItPrints(Loop):
    def __call__(self, *arguments):
        history = super().__call__(*arguments)
        return {name: [round(v, 3) for v in values] for name, values in history.items()}


class StopsEarly(Loop):
    """Ends when an epoch did not lower the loss of validation."""

    def results(self, metrics):
        now = super().results(metrics)
        self.worse, self.last = now[2] > self.last, now[2]
        return now

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        self.worse, self.last, rows = False, float("inf"), []
        for self.first in range(1, epochs + 1):
            if not self.worse:
                rows.append(
                    super().__call__(train_step, valid_step, metrics, train, valid, 1)
                )
        return {name: [row[name][0] for row in rows] for name in NAMES}


class ResetsAfterwards(Loop):
    """Counters are set to zero once they are read, so not before the first epoch."""

    def reset(self, metrics):
        pass

    def results(self, metrics):
        results = super().results(metrics)
        super().reset(metrics)
        return results


class ResetsBeforeAndAfterwards(ResetsAfterwards):
    def __call__(self, train_step, valid_step, metrics, *rest):
        Loop.reset(self, metrics)
        return super().__call__(train_step, valid_step, metrics, *rest)


class CountsFirst(Loop):
    """Goes through all batches to count the newswires, and then again to train."""

    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        self.reset = lambda metrics: (
            Loop.reset(self, metrics),
            setattr(self, "count", sum(len(y) for _, y in train)),
        )
        self.speed = lambda newswires, trained, validated: Loop.speed(
            self, self.count, trained, validated
        )
        return super().__call__(train_step, valid_step, metrics, train, valid, epochs)


class SpeedFirst(Loop):
    """Says how fast the training was before it validates."""

    def wait(self, metrics):
        float(metrics["accuracy"].result())
        self.ended = time.perf_counter()

    def newswires(self, y):
        self.n = getattr(self, "n", 0) + y.shape[0]
        return 0

    def validate(self, valid_step, train, valid):
        print("Newswires/sec:", round(self.n / (self.ended - self.began), 6))
        self.n = 0
        super().validate(valid_step, train, valid)

    def speed(self, newswires, trained, validated):
        pass


def with_tf_print(train_step, valid_step, metrics, train, valid, epochs):
    history = collections.defaultdict(list)
    for epoch in tf.range(1, epochs + 1):
        tf.print("=" * 40, f"{datetime.now().astimezone():%H:%M:%S%z}")
        for name in metrics:
            metrics[name].reset_state()
        began = tf.timestamp()
        number = tf.constant(0)
        for x, y in train:
            train_step(x, y)
            number += tf.size(y)
        keras.ops.convert_to_numpy(metrics["loss"].result())
        rate = tf.cast(number, tf.float64) / (tf.timestamp() - began)
        for x, y in valid:
            valid_step(x, y)
        now = {name: np.float64(np.asarray(m.result())) for name, m in metrics.items()}
        parts = [f"Epoch={epoch.numpy()}"] + [
            f"{name.replace('_', ' ').title()}:{value:.3f}" for name, value in now.items()
        ]
        tf.print(", ".join(parts))
        tf.print(f"Newswires/sec: {rate.numpy():.2f}")
        for name, value in now.items():
            history[name] += [value]
    return history


def by_recursion(train_step, valid_step, metrics, train, valid, epochs):
    if epochs == 0:
        return {name: [] for name in metrics}
    past = by_recursion(train_step, valid_step, metrics, train, valid, epochs - 1)
    print("=" * 40, datetime.now().astimezone().strftime("%H:%M:%S%z"))
    for metric in metrics.values():
        metric.reset_state()
    seconds, newswires = _timed_epoch(train_step, metrics, train)
    for batch in valid:
        valid_step(*batch)
    now = {name: metric.result().numpy() for name, metric in metrics.items()}
    line = (
        "Epoch={}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, Valid Loss:{valid_loss:.3f}, "
    )
    print((line + "Valid Accuracy:{valid_accuracy:.3f}").format(epochs, **now))
    print("Newswires/sec: %.2f" % (newswires / seconds))
    return {name: [*past[name], now[name].item()] for name in metrics}


def _timed_epoch(train_step, metrics, train):
    began, newswires = time.perf_counter_ns(), 0
    for x, y in train:
        train_step(x, y)
        newswires += int(tf.shape(x)[0])
    metrics["accuracy"].result().numpy()
    return (time.perf_counter_ns() - began) * 1e-9, newswires


def in_any_order(train_step, valid_step, metrics, train, valid, epochs):
    """Prints the speed before the epoch's line, and counts the set beforehand."""
    newswires = sum(1 for _ in train.unbatch())
    history = dict.fromkeys(metrics, ())
    for epoch in range(epochs):
        sys.stdout.writelines(["=" * 40, " ", time.strftime("%H:%M:%S%z"), "\n"])
        for metric in metrics.values():
            metric.reset_state()
        clock = time.process_time, time.perf_counter
        began = clock[1]()
        for pair in train:
            train_step(*pair)
        loss, accuracy = (float(metrics[name].result()) for name in NAMES[:2])
        ended = clock[1]()
        for pair in valid:
            valid_step(*pair)
        v_loss, v_accuracy = (metrics[name].result().numpy() for name in NAMES[2:])
        print(f"Newswires/sec: {newswires / (ended - began)}")
        print(f"Epoch={epoch + 1}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}", end=", ")
        print(f"Valid Loss:{v_loss:.3f}, Valid Accuracy:{v_accuracy:.3f}", flush=True)
        now = dict(zip(NAMES, (loss, accuracy, v_loss, v_accuracy), strict=True))
        history = {name: (*history[name], now[name]) for name in metrics}
    return {name: list(values) for name, values in history.items()}


class WithZoneInfo(Loop):
    def bar(self):
        now = datetime.now(UTC).astimezone()
        print("=" * 40 + now.strftime(" %X%z"))

    def wait(self, metrics):
        np.array([metrics[name].result() for name in NAMES[:2]])


class KeepsTensors(Loop):
    """The run card takes no tensors."""

    def results(self, metrics):
        return [metrics[name].result() for name in NAMES]


class ReadsByComparing(Loop):
    def results(self, metrics):
        return [np.asarray(metrics[name].result()) for name in NAMES]

    def wait(self, metrics):
        assert metrics["loss"].result() >= 0


class RoundsAndMultiplies(Loop):
    """Reads by way of arithmetic."""

    def results(self, metrics):
        return [round(float(metrics[name].result() * 1.0), 6) for name in NAMES]

    def wait(self, metrics):
        tf.debugging.assert_non_negative(tf.convert_to_tensor(metrics["loss"].result()))

    def bar(self):
        print("#" * 3)
        print(f"{'=' * 50} {datetime.now().astimezone().timetz().isoformat('seconds')}")


def with_iterators_and_strftime(one_train, one_valid, counters, data, held_out, n):
    """Other names, clocks and ways to print; metrics read as they are."""
    past = {name: [] for name in counters}
    for e in range(n):
        sys.stdout.write("===================" + time.strftime("%H:%M:%S%z") + "\n")
        [counter.reset_state() for counter in counters.values()]
        start, done = time.monotonic(), 0
        for x, y in data.as_numpy_iterator():
            one_train(x, y)
            done += x.shape[0]
        loss, accuracy = counters["loss"].result(), counters["accuracy"].result()
        loss, accuracy = loss.numpy(), accuracy.numpy()
        speed = done / (time.monotonic() - start)
        print("Training is over.")
        for pair in held_out:
            one_valid(*pair)
        row = (loss, accuracy, counters["valid_loss"].result())
        row += (counters["valid_accuracy"].result(),)
        form = "Epoch=%d, Loss:%.3f, Accuracy:%.3f, Valid Loss:%.3f, Valid Accuracy:%.3f"
        print(form % (e + 1, *row))
        print("Newswires/sec:", speed)
        for name, value in zip(NAMES, row, strict=True):
            past[name].append(np.float32(value))
    return past


def resets_at_the_end(train_step, valid_step, metrics, train, valid, epochs):
    """While and isoformat; NumPy arrays of what was; metrics reset after they are read."""
    rows, epoch = np.zeros((epochs, 4)), 0
    any(metric.reset_state() for metric in metrics.values())
    while epoch < epochs:
        print("=" * 9 + " " + datetime.now().astimezone().isoformat()[11:] + " " + "=" * 9)
        began = time.time_ns()
        newswires = sum(train_step(x, y) or len(x) for x, y in train)
        str(metrics["loss"].result())
        seconds = (time.time_ns() - began) / 1e9
        [valid_step(*pair) for pair in valid]
        for i, name in enumerate(NAMES):
            rows[epoch, i] = metrics[name].result()
            metrics[name].reset_state()
        epoch += 1
        places = "Epoch={}, Loss:{:.3f}, Accuracy:{:.3f}, Valid Loss:{:.3f}, "
        print((places + "Valid Accuracy:{:.3f}").format(epoch, *rows[epoch - 1]))
        print(f"Newswires/sec: {newswires / seconds:,.2f}")
    return {name: rows[:, i] for i, name in enumerate(NAMES)}


class CountsWords(Loop):
    def newswires(self, y):
        return int(tf.size(self.x))


class KeepsTheBatches(Loop):
    def __call__(self, train_step, valid_step, metrics, train, valid, epochs):
        return super().__call__(
            train_step, valid_step, metrics, list(train), list(valid), epochs
        )


WRONG = [
    ("newswires", "words", CountsWords()),
    ("train", "kept", KeepsTheBatches()),
    ("valid", "start", start_of_4_3),
    ("train", "epochs", OneEpochMore()),
    ("train", "epochs", StopsEarly()),
    ("valid", "no_validation", NeverValidates()),
    ("valid", "valid_on_train", ValidatesOnTrain()),
    ("valid", "order", ValidatesOneBatch()),
    ("valid", "order", ValidatesFirst()),
    ("valid", "raised", StepsTakeTheModel()),
    ("bar", "bar", NoBar()),
    ("bar", "bar", BarAfterwards()),
    ("bar", "bar", BarsFirst()),
    ("bar", "stale", AsksForTheTimeOnce()),
    ("zone", "zone", WorldTime()),
    ("zone", "zone", NoZone()),
    ("zone", "noon", TwelveHours()),
    ("zone", "zone", EightHoursMore()),
    ("line", "format", AnotherLine()),
    ("line", "format", AllDigits()),
    ("number", "numbering", CountsFromZero()),
    ("own", "never_reset", NeverResets()),
    ("own", "never_reset", ResetsTrainingOnly()),
    ("own", "never_reset", ForgetsOneMetric()),
    ("own", "left_over", ResetsAfterwards()),
    ("train", "epochs", CountsFirst()),
    ("own", "last_batch", ResetsAtEveryStep()),
    ("own", "reset_early", ResetsBeforeItReads()),
    ("own", "average", AveragesBatches()),
    ("places", "values", SwapsTheTwo()),
    ("speed_line", "no_speed", NoSpeed()),
    ("speed_line", "no_speed", WholeRate()),
    ("newswires", "batches", CountsBatches()),
    ("seconds", "speed", CountsPerMinute()),
    ("seconds", "constant", SleepsForItsRate()),
    ("newswires", "counts_on", CountsOnAndOn()),
    ("seconds", "whole_training", OneClockForAll()),
    ("seconds", "inverted", InvertsTheRate()),
    ("without_validation", "validation_counted", ClockRunsOn()),
    ("device", "device", NeverWaits()),
    ("device", "device", AsksButDoesNotRead()),
    ("device", "device", StopsTheClockFirst()),
    ("seldom", "reads_often", ReadsAtEveryStep()),
    ("when", "late", PrintsAllAtTheEnd()),
    ("returned", "history", NoHistory()),
    ("returned", "history", ReturnsTheLastEpoch()),
    ("returned", "history", ReturnsWhatItPrints()),
    ("returned", "history", KeepsTensors()),
    ("returned", "changed", TakesItsMetricsOut()),
]
RIGHT = [
    with_iterators_and_strftime, resets_at_the_end, ResetsBeforeAndAfterwards(),
    SpeedFirst(),
    with_tf_print, by_recursion, in_any_order, WithZoneInfo(), ReadsByComparing(),
    RoundsAndMultiplies(),
]  # fmt: skip
