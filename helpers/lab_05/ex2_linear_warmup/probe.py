"""Exercise 5.2: drives an answer, expects nothing."""

from collections.abc import Callable

import keras
import tensorflow as tf


def probe(answer: type, question: dict, wait: Callable) -> dict:
    """Ask several schedules for the rate at some steps, eagerly and in a graph."""
    schedules = [
        answer(case["base_rate"], case["factor"], case["warmup_steps"])
        for case in question["cases"]
    ]
    is_schedule = [
        isinstance(one, keras.optimizers.schedules.LearningRateSchedule)
        for one in schedules
    ]
    if not all(is_schedule):
        return {"is_schedule": False}
    eager, graph, error = [], [], None
    for rate, case in zip(schedules, question["cases"], strict=True):
        eager.append([float(rate(step)) for step in case["steps"]])
    for rate, case in zip(schedules, question["cases"], strict=True):
        try:
            graph.append(_in_graph(rate, case["steps"]))
        except Exception as problem:
            lines = str(problem).strip().splitlines() or ["no message"]
            error = f"{type(problem).__name__}: {lines[0][:150]}"
            break
    return {"is_schedule": True, "eager": eager, "graph": graph, "graph_error": error}


def _in_graph(rate, steps):
    # Without autograph, as Keras traces its training step.
    traced = tf.function(lambda step: tf.convert_to_tensor(rate(step)), autograph=False)
    return [float(traced(tf.constant(step, tf.int64))) for step in steps]
