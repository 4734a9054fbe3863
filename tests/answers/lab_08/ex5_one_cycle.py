"""Recorded answers to 8.5: wrong ones, and right ones in other styles."""

import math

import keras
import tensorflow as tf
from keras import ops


class Cycle(keras.optimizers.schedules.LearningRateSchedule):
    """What most answers to 8.5 have in common."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        self.peak, self.steps, self.warm_up, self.last = peak, steps, warm_up, last

    def parts(self, step):
        """Up from 0, down to `last`, in parts of the peak."""
        part = ops.minimum(ops.cast(step, "float32") / self.steps, 1.0)
        down = (part - self.warm_up) / (1 - self.warm_up)
        return part / self.warm_up, 1 - (1 - self.last) * down

    def __call__(self, step):
        return self.peak * ops.minimum(*self.parts(step))

    def get_config(self):
        names = ("peak", "steps", "warm_up", "last")
        return {name: getattr(self, name) for name in names}


class ConstantRate(Cycle):
    def __call__(self, step):
        return self.peak


class IgnoresItsParts(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps)


class EndsAtARate(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps, warm_up, last / peak)

    def get_config(self):
        return super().get_config() | {"last": self.last * self.peak}


class FallsToZero(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps, warm_up, 0.0)


class CountsFromOne(Cycle):
    def __call__(self, step):
        return super().__call__(step + 1)


class StartsAtThePeak(Cycle):
    def __call__(self, step):
        return self.peak * ops.minimum(1.0, self.parts(step)[1])


class RisesFromLast(Cycle):
    def __call__(self, step):
        up, down = self.parts(step)
        return self.peak * ops.minimum(self.last + (1 - self.last) * up, down)


class NeverFalls(Cycle):
    def __call__(self, step):
        return self.peak * ops.minimum(1.0, self.parts(step)[0])


class FallsForEver(Cycle):
    def parts(self, step):
        part = ops.cast(step, "float32") / self.steps
        down = (part - self.warm_up) / (1 - self.warm_up)
        return part / self.warm_up, 1 - (1 - self.last) * down


class EndsAtZeroLater(Cycle):
    def __call__(self, step):
        return super().__call__(step) * ops.where(step > 10 * self.steps, 0.0, 1.0)


class FallsFromTheStart(Cycle):
    def __call__(self, step):
        up, _ = self.parts(step)
        part = ops.minimum(ops.cast(step, "float32") / self.steps, 1.0)
        down = 1 - (1 - self.last) * part
        return self.peak * ops.where(up <= 1, up, down)


class FallsAsACosine(Cycle):
    def __call__(self, step):
        up, down = self.parts(step)
        part = (1 - down) / (1 - self.last)
        bent = 1 - (1 - self.last) * (1 - ops.cos(math.pi * part)) / 2
        return self.peak * ops.where(up <= 1, up, bent)


class FallsAsASquare(Cycle):
    def __call__(self, step):
        up, down = self.parts(step)
        part = (1 - down) / (1 - self.last)
        return self.peak * ops.where(up <= 1, up, 1 - (1 - self.last) * part**2)


class HasOtherParts(Cycle):
    def __init__(self, peak, steps, warm_up=0.3, last=0.02):
        super().__init__(peak, steps, warm_up, last)


class PlainCycle:
    """Not a schedule of Keras."""

    def __init__(self, *arguments):
        self.made = Cycle(*arguments)

    def __call__(self, step):
        return self.made(step)

    def get_config(self):
        return self.made.get_config()

    @classmethod
    def from_config(cls, config):
        return cls(*config.values())


class ForgetsTheWarmUp(Cycle):
    def get_config(self):
        return {"peak": self.peak, "steps": self.steps, "last": self.last}


class HasNoConfig(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, *arguments):
        self.made = Cycle(*arguments)

    def __call__(self, step):
        return self.made(step)


class KeepsTensors(Cycle):
    """Its settings cannot be stored."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(tf.constant(peak), tf.constant(float(steps)), warm_up, last)


class WantsATensor(Cycle):
    def __call__(self, step):
        return super().__call__(step + tf.zeros((), step.dtype))


class DividesWholeNumbers(Cycle):
    def __call__(self, step):
        return self.peak * step / self.steps


class WithWhere(Cycle):
    def __call__(self, step):
        step = ops.cast(step, "float32")
        top = self.warm_up * self.steps
        end = self.last * self.peak
        slope = (end - self.peak) / (self.steps - top)
        after = ops.maximum(self.peak + slope * (step - top), end)
        return ops.where(step < top, self.peak * step / top, after)


class WithCond(Cycle):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        up, down = self.parts(step)
        return self.peak * tf.cond(up < 1, lambda: up, lambda: down)


class WithClip(Cycle):
    def __call__(self, step):
        top = self.warm_up * self.steps
        part = ops.clip((ops.cast(step, "float32") - top) / (self.steps - top), 0, 1)
        up = ops.clip(ops.cast(step, "float32") / top, 0, 1)
        return self.peak * up * (1 - (1 - self.last) * part)


class WithInterpolation(Cycle):
    """Weights of three corners: 0, the peak, the end."""

    def __call__(self, step):
        x = ops.minimum(ops.cast(step, "float64") / self.steps, 1.0)
        left = ops.clip(x / self.warm_up, 0, 1)
        right = ops.clip((x - self.warm_up) / (1 - self.warm_up), 0, 1)
        return self.peak * (left - right) + self.last * self.peak * right


class WithPolynomialDecay(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        super().__init__(peak, steps, warm_up, last)
        top = warm_up * steps
        schedules = keras.optimizers.schedules
        self.up = schedules.PolynomialDecay(0.0, top, peak)
        self.down = schedules.PolynomialDecay(peak, steps - top, last * peak)

    def __call__(self, step):
        step = ops.cast(step, "float32")
        top = self.warm_up * self.steps
        after = self.down(ops.maximum(step - top, 0.0))
        return ops.where(step < top, self.up(step), after)


class WithOtherNames(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, a, b, c=0.25, d=0.02):
        self.config = {"a": a, "b": b, "c": c, "d": d}

    def __call__(self, step):
        a, b, c, d = self.config.values()
        n = tf.cast(tf.minimum(tf.cast(step, tf.int64), b), tf.float32)
        return a * tf.minimum(n / (c * b), (b - n) / (b - c * b) * (1 - d) + d)

    def get_config(self):
        return self.config


class WithKeywords(Cycle):
    def __init__(self, *arguments, **names):
        given = dict(zip(("peak", "steps", "warm_up", "last"), arguments, strict=False))
        for name, value in ({"warm_up": 0.25, "last": 0.02} | given | names).items():
            setattr(self, name, value)

    def get_config(self):
        return vars(self)


class WithHeights(Cycle):
    """Heights over the end, and over zero."""

    def __call__(self, step):
        left = 1 - ops.cast(step, "float32") / self.steps
        fall = ops.relu(left) / (1 - self.warm_up) * (1 - self.last) + self.last
        rise = (1 - left) / self.warm_up
        return ops.minimum(rise * self.peak, fall * self.peak)


class WithMinimumOfThree(Cycle):
    def __call__(self, step):
        step = ops.cast(step, "float32")
        top = self.warm_up * self.steps
        up = self.peak * step / top
        fall = self.peak * (1 - (1 - self.last) * (step - top) / (self.steps - top))
        return ops.minimum(up, ops.maximum(fall, self.peak * self.last))


def made_by_a_function(peak, steps, warm_up=0.25, last=0.02):
    return WithWhere(peak, steps, warm_up=warm_up, last=last)


class KeepsItInTheClass(Cycle):
    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        own = KeepsItInTheClass
        own.peak, own.steps, own.warm_up, own.last = peak, steps, warm_up, last


class ChangesInACall(Cycle):
    """Afterwards `get_config` gives something else."""

    def __call__(self, step):
        rate = super().__call__(step)
        self.called = True
        return rate

    def get_config(self):
        config = super().get_config()
        return config | {"peak": 2 * self.peak} if hasattr(self, "called") else config


WRONG = [
    ("up", "shared", KeepsItInTheClass),
    ("config", "config", ChangesInACall),
    ("from_zero", "start", ConstantRate),
    ("from_zero", "one_early", CountsFromOne),
    ("from_zero", "from_last", RisesFromLast),
    ("up", "no_warm_up", StartsAtThePeak),
    ("up", "fixed", IgnoresItsParts),
    ("down", "never_down", NeverFalls),
    ("down", "whole_way", FallsFromTheStart),
    ("down", "cosine", FallsAsACosine),
    ("down", "other", FallsAsASquare),
    ("end", "absolute_end", EndsAtARate),
    ("end", "to_zero", FallsToZero),
    ("stays", "goes_on", FallsForEver),
    ("stays", "other", EndsAtZeroLater),
    ("usual", "other", HasOtherParts),
    ("schedule", "no_schedule", PlainCycle),
    ("config", "config", ForgetsTheWarmUp),
    ("config", "config", HasNoConfig),
    ("plain", "raised", DividesWholeNumbers),
    ("config", "config", KeepsTensors),
    ("plain", "raised", WantsATensor),
]
RIGHT = [
    Cycle, WithWhere, WithCond, WithClip, WithInterpolation, WithPolynomialDecay,
    WithOtherNames, WithKeywords, WithHeights, WithMinimumOfThree, made_by_a_function,
]  # fmt: skip
