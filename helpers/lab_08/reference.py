"""The solutions in labs/08_faster.py, written by `labs build`: edit there."""

import math

import keras
import numpy as np
import tensorflow as tf


# Solution 8.1: operations and bytes of a layer, forward and backward.
def layer_costs(kind, inputs, outputs, kernel, value_bytes):
    """{"forward": (operations, bytes), "backward": (operations, bytes)}."""
    x, y = math.prod(inputs), math.prod(outputs)
    if kind == "conv":
        operations = 2 * math.prod(kernel) * math.prod(outputs[:3])
        values = x + math.prod(kernel) + y
        counts = operations, values, 2 * operations, 2 * values
    elif kind == "norm":
        counts = 5 * x, 3 * x, 10 * x, 5 * x
    else:
        counts = x, 2 * x, x, 3 * x
    return {
        "forward": (counts[0], value_bytes * counts[1]),
        "backward": (counts[2], value_bytes * counts[3]),
    }


# Solution 8.2: the change after which a step is shortest, and how many times as fast it is.
def best_change(seconds, changes):
    """The name of the best change, and how many times as fast a step is with it."""
    before = shortest = sum(seconds.values())
    best = None
    for name, left in changes.items():
        after = sum(s * left.get(operation, 1) for operation, s in seconds.items())
        if after < shortest:
            best, shortest = name, after
    return best, before / shortest


# Solution 8.3: batches that are fetched while the step before them runs.
def feed(fetch, images, batch_size):
    """Batches of the images 0, 1, 2, ... in order."""
    numbers = tf.data.Dataset.range(images).batch(batch_size)
    batches = numbers.map(lambda some: tf.numpy_function(fetch, [some], tf.float32))
    return batches.prefetch(2)


# Solution 8.4: one training step with dynamic loss scaling.
def scaled_step(weights, gradients_at, learning_rate, state, growth_steps):
    """The weights and the state after one step."""
    scale = state["scale"]
    gradients = [g.astype("float32") / scale for g in gradients_at(weights, scale)]
    if not all(np.isfinite(g).all() for g in gradients):
        return weights, {"scale": scale / 2, "good_steps": 0}
    pairs = zip(weights, gradients, strict=True)
    moved = [w - learning_rate * g for w, g in pairs]
    good_steps = state["good_steps"] + 1
    if good_steps == growth_steps:
        return moved, {"scale": 2 * scale, "good_steps": 0}
    return moved, {"scale": scale, "good_steps": good_steps}


# Solution 8.5: a learning rate that rises to its peak and falls again, once.
class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    """From 0 up to `peak`, then down to `last * peak`."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        self.peak, self.steps, self.warm_up, self.last = peak, steps, warm_up, last

    def __call__(self, step):
        part = keras.ops.minimum(keras.ops.cast(step, "float32") / self.steps, 1.0)
        fallen = (part - self.warm_up) / (1 - self.warm_up)
        down = 1 - (1 - self.last) * fallen
        return self.peak * keras.ops.minimum(part / self.warm_up, down)

    def get_config(self):
        names = ("peak", "steps", "warm_up", "last")
        return {name: getattr(self, name) for name in names}


REFERENCES = {
    "8.1": layer_costs,
    "8.2": best_change,
    "8.3": feed,
    "8.4": scaled_step,
    "8.5": OneCycle,
}
