"""Exercise 7.2: drives an answer, expects nothing."""

from collections.abc import Callable

import keras
import numpy as np


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Make all optimizers, then train a linear model with each; report every step."""
    names = "base_learning_rate", "momentum", "replicas"
    cases = question["cases"]
    optimizers = [answer(*[case[name] for name in names]) for case in cases]
    return {"cases": list(map(_train_linear, optimizers, cases))}


def _train_linear(optimizer, case):
    weights = [keras.Variable(values, dtype="float32") for values in case["weights"]]
    optimizer.build(weights)
    after = []
    for batch, iteration in zip(case["batches"], case["iterations"], strict=True):
        if iteration is not None and hasattr(optimizer.iterations, "assign"):
            optimizer.iterations.assign(iteration)  # as after many steps
        x, y = np.array(batch["x"]), np.array(batch["y"])[:, None]
        kernel, bias = map(keras.ops.convert_to_numpy, weights)
        # The mean squared error's gradient.
        slopes = 2 * (x @ kernel + bias - y) / len(y)
        gradients = [x.T @ slopes, slopes.sum(axis=0)]
        optimizer.apply(
            [keras.ops.convert_to_tensor(g, "float32") for g in gradients], weights
        )
        after.append(_flat(weights))
    optimizer.finalize_variable_values(weights)  # as at the end of `fit`
    return [*after, _flat(weights)]


def _flat(weights):
    return [float(v) for w in weights for v in keras.ops.convert_to_numpy(w).ravel()]
