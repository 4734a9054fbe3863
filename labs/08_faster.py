# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 08: Where does the time go?
#
# x

# %% tags=["parameters"]
scale: str = "auto"
seed: int = 0
epochs: int = 1
batch_size: int = 32
train_images: int = None

# %% tags=["setup"]
from helpers import session

sizes = {"smoke": {"train_images": 1000}, "laptop": {"train_images": 10_000},
    "gpu": {"train_images": 60_000}}
lab = session.start("08_faster", globals(), sizes, devices="none")

# %%
import math

import keras
import numpy as np
import tensorflow as tf

from helpers.checks import check


# %% name="8.1-layer-costs" points=2
# TODO 8.1: operations and bytes of a layer, forward and backward.
#: start
def layer_costs(kind, inputs, outputs, kernel, value_bytes):
    """{"forward": (operations, bytes), "backward": (operations, bytes)}."""
    values = math.prod(outputs)
    return dict.fromkeys(("forward", "backward"), (values, value_bytes * values))
#: solution
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
#: end

# %%
layer_costs = check("8.1", layer_costs)
# %% name="8.2-best-change" points=2
# TODO 8.2: the change after which a step is shortest, and how many times as fast it is.
#: start
def best_change(seconds, changes):
    """The name of the change that buys most, and by what it speeds a step up."""
    best = min(changes, key=lambda name: min(changes[name].values()))
    return best, 1 / (1e-9 + min(changes[best].values()))
#: solution
def best_change(seconds, changes):
    """The name of the change that buys most, and by what it speeds a step up."""
    before = shortest = sum(seconds.values())
    best = None
    for name, left in changes.items():
        after = sum(s * left.get(operation, 1) for operation, s in seconds.items())
        if after < shortest:
            best, shortest = name, after
    return best, before / shortest
#: end

# %%
best_change = check("8.2", best_change)
# %% name="8.3-feed" points=2
# TODO 8.3: batches that are fetched while the step before them runs.
#: start
def feed(fetch, images, batch_size):
    """Batches of the images 0, 1, 2, ... in order."""
    for first in range(0, images, batch_size):
        numbers = range(first, min(first + batch_size, images))
        yield np.concatenate([fetch(np.array([number])) for number in numbers])
#: solution
def feed(fetch, images, batch_size):
    """Batches of the images 0, 1, 2, ... in order."""
    numbers = tf.data.Dataset.range(images).batch(batch_size)
    batches = numbers.map(lambda some: tf.numpy_function(fetch, [some], tf.float32))
    return batches.prefetch(2)
#: end

# %%
feed = check("8.3", feed)
# %% name="8.4-scaled-step" points=2
# TODO 8.4: one training step with dynamic loss scaling.
#: start
def scaled_step(weights, gradients_at, learning_rate, state, growth_steps):
    """The weights and the state after one step."""
    gradients = gradients_at(weights, 1.0)
    pairs = zip(weights, gradients, strict=True)
    return [w - learning_rate * g.astype("float32") for w, g in pairs], dict(state)
#: solution
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
#: end

# %%
scaled_step = check("8.4", scaled_step)
# %% name="8.5-one-cycle" points=2
# TODO 8.5: a learning rate that rises to its peak and falls again, once.
#: start
class OneCycle(keras.optimizers.schedules.LearningRateSchedule):
    """From 0 up to `peak`, then down to `last * peak`."""

    def __init__(self, peak, steps, warm_up=0.25, last=0.02):
        self.peak, self.steps, self.warm_up, self.last = peak, steps, warm_up, last

    def __call__(self, step):
        return self.peak

    def get_config(self):
        names = ("peak", "steps", "warm_up", "last")
        return {name: getattr(self, name) for name in names}
#: solution
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
#: end

# %%
OneCycle = check("8.5", OneCycle)
