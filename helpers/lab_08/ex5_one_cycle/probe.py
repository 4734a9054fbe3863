"""Exercise 8.5: drives an answer, expects nothing."""

import contextlib
import json
from collections.abc import Callable

import keras
import tensorflow as tf


def probe(answer: type, question: dict, wait: Callable) -> dict:
    """The rates at plain numbers, and in a graph, before and after it was stored."""
    seen = []
    # All of them first: none may hold what belongs to another one.
    schedules = [answer(*case["arguments"]) for case in question["cases"]]
    before = [_config(made) for made in schedules]
    for made, case, config in zip(schedules, question["cases"], before, strict=True):
        schedule = isinstance(made, keras.optimizers.schedules.LearningRateSchedule)
        rates = _rates(made, case["at"])
        plain = [float(made(step)) for step in case["plain"]]
        one = {"schedule": schedule, "rates": rates, "plain": plain, "stored": None}
        # Before it was asked for a rate as afterwards.
        if config is not None and config == _config(made):
            with contextlib.suppress(NotImplementedError, TypeError, ValueError):
                one["stored"] = _rates(type(made).from_config(config), case["at"])
        seen.append(one)
    return {"cases": seen}


def _config(schedule):
    """What stores it; None if there is nothing, or not all of it can be stored."""
    with contextlib.suppress(NotImplementedError, TypeError, ValueError, AttributeError):
        return json.loads(json.dumps(schedule.get_config(), allow_nan=False))


def _rates(schedule, at):
    """As in a training step, which TensorFlow compiles: the step is a tensor."""

    @tf.function(input_signature=[tf.TensorSpec((), tf.int64)])
    def rate(step):
        return tf.cast(schedule(step), "float32")

    return [float(rate(tf.constant(step, tf.int64))) for step in at]
