"""Recorded answers to 5.2: wrong ones, and right ones in other styles."""

import math

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from keras.optimizers.schedules import LearningRateSchedule, PolynomialDecay


class Warmup(LearningRateSchedule):
    """What most answers to 5.2 have in common: nearly right."""

    def __init__(self, base_rate, factor, warmup_steps):
        self.base_rate, self.factor, self.n = base_rate, factor, warmup_steps

    def part(self, step):
        return ops.minimum(ops.cast(step, "float32") / self.n, 1.0)

    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * (self.factor - 1))


class StartSchedule(Warmup):
    def __call__(self, step):
        return keras.ops.convert_to_tensor(self.base_rate * self.factor)


class StartsAtZero(Warmup):
    def __call__(self, step):
        return self.base_rate * self.factor * self.part(step)


class CountsFromOne(Warmup):
    def __call__(self, step):
        return super().__call__(step + 1)


class EndsOneEarly(Warmup):
    """As a list of so many rates has it: the last of them at the last step."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__(base_rate, factor, max(1, warmup_steps - 1))


class NeverEnds(Warmup):
    def part(self, step):
        return ops.cast(step, "float32") / self.n


class FallsBack(Warmup):
    def part(self, step):
        part = ops.cast(step, "float32") / self.n
        return ops.where(part <= 1, part, 0.0)


class StopsBelowThePeak(Warmup):
    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * (self.factor - 1) / 2)


class AddsTheFactor(Warmup):
    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * self.factor)


class TakesTheFactorForTheRate(Warmup):
    def __call__(self, step):
        return self.base_rate + self.part(step) * (self.factor - self.base_rate)


class WholeFactor(Warmup):
    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__(base_rate, int(factor), warmup_steps)


class WholeParts(Warmup):
    def part(self, step):
        return ops.minimum(ops.cast(step, "float32") // self.n, 1.0)


class Exponential(Warmup):
    def __call__(self, step):
        return self.base_rate * self.factor ** self.part(step)


class Smooth(Warmup):
    def part(self, step):
        return (1 - ops.cos(math.pi * super().part(step))) / 2


class SquareRoot(Warmup):
    def part(self, step):
        return ops.sqrt(super().part(step))


class WaitsForTheSecondStep(Warmup):
    def part(self, step):
        return super().part(ops.maximum(ops.cast(step, "float32") - 1, 0))


class CountsItsCalls(Warmup):
    def __call__(self, step):
        self.calls = getattr(self, "calls", -1) + 1
        return super().__call__(self.calls)


class KeepsThemInTheClass(Warmup):
    def __init__(self, base_rate, factor, warmup_steps):
        Warmup.now = base_rate, factor, warmup_steps

    def __call__(self, step):
        return Warmup(*self.now)(step)


class UsesIf(Warmup):
    def __call__(self, step):
        if step < self.n:
            return self.base_rate * (1 + step / self.n * (self.factor - 1))
        return self.base_rate * self.factor


class UsesMin(Warmup):
    def part(self, step):
        return min(float(step) / self.n, 1.0)


class UsesNumPy(Warmup):
    def part(self, step):
        return np.minimum(np.float32(step) / self.n, 1.0)


class InterpolatesWithNumPy(Warmup):
    def __call__(self, step):
        step = step.numpy() if hasattr(step, "numpy") else step
        return np.interp(step, [0, self.n], [self.base_rate, self.base_rate * self.factor])


class DividesWholeNumbers(Warmup):
    """A tensor of whole numbers and a float do not go together."""

    def __call__(self, step):
        return self.base_rate + tf.minimum(step, self.n) * (
            self.base_rate * (self.factor - 1) / self.n
        )


class WorksForPythonOnly(Warmup):
    """In a graph the rate is that of the end."""

    def part(self, step):
        return min(step / self.n, 1.0) if isinstance(step, int) else 1.0


class PlainClass:
    def __init__(self, base_rate, factor, warmup_steps):
        self.inner = Warmup(base_rate, factor, warmup_steps)

    def __call__(self, step):
        return self.inner(step)


def plain_function(base_rate, factor, warmup_steps):
    return lambda step: Warmup(base_rate, factor, warmup_steps)(step)


class ForgetsStep(Warmup):
    def __call__(self):
        return self.base_rate


class HalfPrecision(Warmup):
    def __call__(self, step):
        part = keras.ops.minimum(keras.ops.cast(step, "float16") / self.n, 1.0)
        return self.base_rate * (1 + keras.ops.cast(part, "float32") * (self.factor - 1))


class RoundsTheRate(Warmup):
    def __call__(self, step):
        return keras.ops.round(super().__call__(step), 5)


class ByPiece(LearningRateSchedule):
    """With `where` in place of the minimum."""

    def __init__(self, base_rate, factor, warmup_steps):
        self.low, self.high, self.n = base_rate, base_rate * factor, warmup_steps

    def __call__(self, step):
        step = keras.ops.cast(step, "float32")
        line = self.low + (self.high - self.low) * step / self.n
        return keras.ops.where(step < self.n, line, self.high)

    def get_config(self):
        return {}


class OnTopOfPolynomialDecay(PolynomialDecay):
    """Keras has a line from one rate to another: decay upwards."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__(base_rate, warmup_steps, base_rate * factor, power=1.0)


class WithTensorFlow(LearningRateSchedule):
    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__()
        self.base = tf.constant(base_rate, tf.float32)
        self.top, self.steps = self.base * factor, tf.cast(warmup_steps, tf.float32)

    def __call__(self, step):
        way = tf.clip_by_value(tf.cast(step, tf.float32) / self.steps, 0.0, 1.0)
        return (1.0 - way) * self.base + way * self.top


class WithCond(Warmup):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        rise = (self.factor - 1) * self.base_rate / self.n
        return tf.cond(
            step >= self.n,
            lambda: tf.constant(self.factor * self.base_rate, tf.float32),
            lambda: self.base_rate + rise * step,
        )


class WithAutograph(Warmup):
    @tf.function
    def __call__(self, step):
        rate = tf.constant(self.base_rate * self.factor, tf.float32)
        if tf.cast(step, tf.float32) < self.n:
            part = tf.cast(step, tf.float32) / tf.cast(self.n, tf.float32)
            rate = self.base_rate * (1 + part * (self.factor - 1))
        return rate


class TakesTheSmallerRate(Warmup):
    """With a factor below 1 the smaller of the two is the last one, from the start."""

    limit = staticmethod(ops.minimum)

    def __call__(self, step):
        slope = self.base_rate * (self.factor - 1) / self.n
        line = self.base_rate + slope * ops.cast(step, "float32")
        return self.limit(line, self.base_rate * self.factor)


class LimitsTheRate(TakesTheSmallerRate):
    def limit(self, line, last):
        return (ops.minimum if self.factor > 1 else ops.maximum)(line, last)


class LimitsTheStep(Warmup):
    def __call__(self, step):
        step = ops.cast(ops.minimum(step, self.n), "float32")
        return self.base_rate * ((self.n - step) + step * self.factor) / self.n


class Interpolates(Warmup):
    def __call__(self, step):
        # A table of all rates of the warm-up.
        table = np.linspace(self.base_rate, self.base_rate * self.factor, self.n + 1)
        return ops.take(ops.convert_to_tensor(table), ops.minimum(step, self.n))


class Decorated(Warmup):
    def __call__(self, step):
        return self.rate(tf.cast(step, "float32"))

    @tf.function(autograph=False)
    def rate(self, step):
        part = tf.where(step > self.n, tf.ones_like(step), step / self.n)
        return tf.add(self.base_rate, part * self.base_rate * (self.factor - 1))


def made_by_a_function(base_rate, factor, warmup_steps):
    class Made(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            left = ops.relu(1 - ops.cast(step, "float32") / warmup_steps)
            return base_rate * (factor - left * (factor - 1))

    return Made()


def from_pieces(base_rate, factor, warmup_steps):
    rise = PolynomialDecay(base_rate, warmup_steps, factor * base_rate)

    class Wrapped(LearningRateSchedule):
        __call__ = staticmethod(lambda step: rise(step))

    return Wrapped()


class CountsInFloat16(keras.optimizers.schedules.LearningRateSchedule):
    """Above 2,048 it knows even steps only."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__()
        self.base_rate, self.factor, self.steps = base_rate, factor, warmup_steps

    def __call__(self, step):
        step = keras.ops.cast(keras.ops.cast(step, "float16"), "float32")
        part = keras.ops.minimum(step / self.steps, 1.0)
        return self.base_rate * (1 + part * (self.factor - 1))


WRONG = [
    ("line", "coarse", CountsInFloat16),
    ("start", "start", StartSchedule),
    ("start", "from_zero", StartsAtZero),
    ("start", "one_off", CountsFromOne),
    ("start", "limit", TakesTheSmallerRate),
    ("line", "jump", WholeParts),
    ("line", "curve", Exponential),
    ("line", "coarse", HalfPrecision),
    ("line", "coarse", RoundsTheRate),
    ("line", "other", Smooth),
    ("line", "other", SquareRoot),
    ("peak", "other", WaitsForTheSecondStep),
    ("start", "other", CountsItsCalls),
    ("start", "other", KeepsThemInTheClass),
    ("peak", "peak", AddsTheFactor),
    ("peak", "added", TakesTheFactorForTheRate),
    ("peak", "other", StopsBelowThePeak),
    ("peak", "other", WholeFactor),
    ("line", "other", EndsOneEarly),
    ("after", "after", NeverEnds),
    ("after", "back", FallsBack),
    ("graph", "graph", UsesMin),
    ("graph", "graph", UsesIf),
    ("graph", "graph", UsesNumPy),
    ("graph", "graph", InterpolatesWithNumPy),
    ("graph", "graph", WorksForPythonOnly),
    ("graph", "raised", DividesWholeNumbers),
    ("schedule", "schedule", PlainClass),
    ("schedule", "schedule", plain_function),
    ("graph", "raised", ForgetsStep),
]
RIGHT = [
    ByPiece, OnTopOfPolynomialDecay, WithTensorFlow, WithCond, WithAutograph,
    LimitsTheRate, LimitsTheStep, Interpolates, Decorated, made_by_a_function,
    from_pieces,
]  # fmt: skip
