"""Recorded answers to 7.2: wrong ones, and right ones in other styles."""

import functools

import keras
import numpy as np
import tensorflow as tf
from keras.optimizers import SGD, schedules


# --- 7.2 ------------------------------------------------------------------
def unscaled(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate, momentum)


def root_scaled(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas**0.5, momentum)


def always_eight(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * 8, momentum)


def no_momentum(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas)


def usual_momentum(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas, momentum=0.5)


def capped_rate(base_learning_rate, momentum, replicas):
    return SGD(min(base_learning_rate * replicas, 0.5), momentum)


def sixteen_at_most(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * min(replicas, 16), momentum)


def with_nesterov(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate * replicas, momentum, nesterov=True)


def with_adam(base_learning_rate, momentum, replicas):
    return keras.optimizers.Adam(base_learning_rate * replicas)


def gives_a_name(base_learning_rate, momentum, replicas):
    return "sgd"


def from_a_dict(base_learning_rate, momentum, replicas):
    rate = replicas * base_learning_rate
    return keras.optimizers.deserialize(
        {"class_name": "SGD", "config": {"learning_rate": rate, "momentum": momentum}}
    )


def own_optimizer(base_learning_rate, momentum, replicas):
    """Momentum as PyTorch writes it, in an optimizer of its own."""

    class Sgd(keras.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.sums = [self.add_variable_from_reference(v, "sum") for v in variables]

        def update_step(self, gradient, variable, learning_rate):
            sums = self.sums[self._get_variable_index(variable)]
            sums.assign(momentum * sums + gradient)
            variable.assign_sub(learning_rate * sums)

    rate = base_learning_rate * replicas
    return Sgd(keras.optimizers.schedules.ExponentialDecay(rate, 1, 1.0))


def start_7_2(base_learning_rate, momentum, replicas):
    return keras.optimizers.SGD(base_learning_rate)


def divided(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate / replicas, momentum)


def no_room_below_two(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * max(replicas, 2), momentum)


def warms_the_rate_up(base_learning_rate, momentum, replicas):
    class Warmup(schedules.LearningRateSchedule):
        def __call__(self, step):
            share = tf.minimum(1.0, (tf.cast(step, tf.float32) + 1) / 5)
            return base_learning_rate * replicas * share

    return SGD(Warmup(), momentum)


def with_a_schedule(base_learning_rate, momentum, replicas):
    rate = schedules.ExponentialDecay(base_learning_rate * replicas, 10_000, 0.96, True)
    return SGD(rate, momentum)


def with_cosine(base_learning_rate, momentum, replicas):
    return SGD(schedules.CosineDecay(base_learning_rate * replicas, 1000), momentum)


def in_pieces(base_learning_rate, momentum, replicas):
    rate = base_learning_rate * replicas
    return SGD(
        schedules.PiecewiseConstantDecay([3000, 6000], [rate, rate / 10, rate / 100]),
        momentum,
    )


def drops_the_rate_very_late(base_learning_rate, momentum, replicas):
    rate = base_learning_rate * replicas
    return SGD(schedules.PiecewiseConstantDecay([200_000], [rate, rate / 10]), momentum)


def with_weight_decay(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, weight_decay=1e-4)


def with_a_little_decay(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, weight_decay=1e-6)


def clips_the_norm(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, clipnorm=1.0)


def clips_the_value(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, clipvalue=5.0)


def clips_all_together(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, global_clipnorm=10.0)


def clips_huge_ones(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, clipnorm=1e4)


def averages(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, use_ema=True)


def accumulates(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, gradient_accumulation_steps=2)


def dampened(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas * (1 - momentum), momentum)


def swapped(base_learning_rate, momentum, replicas):
    return SGD(momentum * replicas, base_learning_rate)


def scaled_momentum(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, 1 - (1 - momentum) / replicas)


def one_digit_of_momentum(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, round(momentum, 1))


def rest_of_momentum(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, 1 - momentum)


def squared(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas**2, momentum)


def scales_the_loss(base_learning_rate, momentum, replicas):
    return SGD(base_learning_rate * replicas, momentum, loss_scale_factor=128.0)


def with_rmsprop(base_learning_rate, momentum, replicas):
    return keras.optimizers.RMSprop(base_learning_rate * replicas, momentum=momentum)


def by_names(base_learning_rate, momentum, replicas):
    return SGD(
        momentum=momentum,
        learning_rate=replicas * base_learning_rate,
        nesterov=False,
        weight_decay=None,
        clipnorm=None,
    )


def in_tf(base_learning_rate, momentum, replicas):
    rate = tf.constant(base_learning_rate) * tf.cast(replicas, tf.float32)
    return tf.keras.optimizers.SGD(learning_rate=float(rate), momentum=momentum)


def assigns_the_rate(base_learning_rate, momentum, replicas):
    optimizer = SGD(momentum=momentum)
    optimizer.learning_rate = base_learning_rate * replicas
    return optimizer


def with_a_sum(base_learning_rate, momentum, replicas):
    return SGD(sum(base_learning_rate for _ in range(replicas)), momentum)


def by_callable(base_learning_rate, momentum, replicas):
    return SGD(lambda: base_learning_rate * replicas, momentum)


def with_numpy(base_learning_rate, momentum, replicas):
    return SGD(np.multiply(base_learning_rate, replicas), momentum, name="sgd8")


def from_config(base_learning_rate, momentum, replicas):
    config = SGD().get_config()
    config |= {"learning_rate": base_learning_rate * replicas, "momentum": momentum}
    return SGD.from_config(config)


by_lambda = functools.partial(lambda kind, base, m, n: kind(base * n, m), SGD)
by_lambda.__name__ = "by_lambda"


class ScaledSgd(SGD):
    def __init__(self, base_learning_rate, momentum, replicas):
        super().__init__(base_learning_rate * replicas, momentum=momentum)


WRONG = [
    ("rule", "start", start_7_2),
    ("rule", "scale", unscaled),
    ("rule", "divided", divided),
    ("rule", "root", root_scaled),
    ("rule", "fixed", always_eight),
    ("rule", "rate", squared),
    ("rule", "rate", no_room_below_two),
    ("rule", "rate", capped_rate),
    ("rule", "rate", sixteen_at_most),
    ("rule", "rate", warms_the_rate_up),
    ("rule", "rate", scales_the_loss),
    ("constant", "schedule", with_a_schedule),
    ("constant", "schedule", with_cosine),
    ("constant", "schedule", in_pieces),
    ("constant", "schedule", drops_the_rate_very_late),
    ("momentum", "momentum", no_momentum),
    ("momentum", "momentum", usual_momentum),
    ("momentum", "momentum", rest_of_momentum),
    ("momentum", "momentum", one_digit_of_momentum),
    ("momentum", "momentum", scaled_momentum),
    ("momentum", "dampened", dampened),
    ("momentum", "swapped", swapped),
    ("momentum", "other", with_adam),
    ("momentum", "other", with_rmsprop),
    ("momentum", "raised", gives_a_name),
    ("nesterov", "nesterov", with_nesterov),
    ("decay", "decay", with_weight_decay),
    ("decay", "decay", with_a_little_decay),
    ("clipping", "clipping", clips_the_norm),
    ("clipping", "clipping", clips_the_value),
    ("clipping", "clipping", clips_all_together),
    ("clipping", "clipping", clips_huge_ones),
    ("else", "average", averages),
    ("else", "no_step", accumulates),
]
RIGHT = [
    from_a_dict, own_optimizer, by_names, in_tf, assigns_the_rate, with_a_sum,
    by_callable, with_numpy, from_config, by_lambda, ScaledSgd,
]  # fmt: skip
