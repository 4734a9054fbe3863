"""Exercise 8.5: drives an answer, expects nothing."""

import contextlib
import json
from collections.abc import Callable

import keras
import tensorflow as tf


def probe(answer: type, question: dict, wait: Callable) -> dict:
    """The rates at plain numbers, and in a graph, before and after it was stored."""
    seen = []
    for case in question["cases"]:
        made = answer(*case["arguments"])
        schedule = isinstance(made, keras.optimizers.schedules.LearningRateSchedule)
        rates = _rates(made, case["at"])
        plain = [float(made(step)) for step in case["plain"]]
        one = {"schedule": schedule, "rates": rates, "plain": plain, "stored": None}
        # There may be none, or not all of it can be stored.
        with contextlib.suppress(NotImplementedError, TypeError, ValueError):
            config = json.loads(json.dumps(made.get_config(), allow_nan=False))
            one["stored"] = _rates(type(made).from_config(config), case["at"])
        seen.append(one)
    return {"cases": seen}


def _rates(schedule, at):
    """As in a training step, which TensorFlow compiles: the step is a tensor."""

    @tf.function(input_signature=[tf.TensorSpec((), tf.int64)])
    def rate(step):
        return tf.cast(schedule(step), "float32")

    return [float(rate(tf.constant(step, tf.int64))) for step in at]
