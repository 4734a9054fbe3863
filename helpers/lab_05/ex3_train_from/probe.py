"""Exercise 5.3: drives an answer, expects nothing."""

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.arguments import call
from helpers.checks.probing.printed import Printed
from helpers.lab_05.probing import all_of, strategies


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Let the answer train a tiny model over each strategy; report its weights."""
    cases, changed = [], ""
    for strategy, case in zip(strategies(question), question["cases"], strict=True):
        seen, changed = _train_from(answer, strategy, case)
        cases.append(seen)
        if changed:
            break
    return {"cases": cases, "changed": changed}


def _train_from(answer, strategy, case):
    made, optimizers, in_scope = [], [], []
    start = [np.array(weights, "float32") for weights in case["start"]]

    def new_model():
        in_scope.append(tf.distribute.get_strategy() is strategy)
        dense = keras.layers.Dense(3, activation="softmax")
        model = CountsFits([keras.Input((3,)), CountsRows(), dense])
        model.add_fit = lambda: fits.append(1)
        optimizers.append(keras.optimizers.SGD(case["learning_rate"], case["momentum"]))
        model.compile(
            optimizers[-1],
            loss="sparse_categorical_crossentropy",
            jit_compile=False,
            run_eagerly=True,  # saves the time to trace it
        )
        made.append((model, model.loss))
        return model

    given, fits = list(start), []
    with Printed() as printed:
        weights, changed = call(
            lambda images, labels, *_: answer(
                given, strategy, new_model, images, labels, case["global_batch"]
            ),
            images=np.array(case["x"], "float32"),
            labels=np.array(case["y"]),
            **{f"start[{i}]": weights for i, weights in enumerate(start)},
        )
    if [id(w) for w in given] != [id(w) for w in start]:
        changed = "`start`"
    return {
        "in_scope": all_of(in_scope),
        "own_compile": all(
            model.optimizer is optimizer and model.loss is loss
            for (model, loss), optimizer in zip(made, optimizers, strict=True)
        ),
        "arrays": all(isinstance(w, np.ndarray) for w in weights),
        "weights": [np.asarray(w, "float64").tolist() for w in weights],
        "fits": len(fits),
        "printed": printed.lines()[:20],
    }, changed


class CountsFits(keras.Sequential):
    """Tells somebody each time that `fit` is called."""

    def fit(self, *arguments: object, **more: object) -> keras.callbacks.History:
        self.add_fit()
        return super().fit(*arguments, **more)


class CountsRows(keras.layers.Layer):
    """Has running averages that move in training: how many rows, and their first column."""

    def build(self, shape: tuple) -> None:
        self.rows = self.add_weight(
            shape=(2,), initializer="zeros", trainable=False, aggregation="mean"
        )

    def call(self, x: keras.KerasTensor, training: bool = False) -> keras.KerasTensor:
        if training:
            rows = keras.ops.cast(keras.ops.shape(x)[0], "float32")
            seen = keras.ops.stack([rows, keras.ops.sum(x[:, 0])])
            self.rows.assign(0.5 * self.rows + seen)
        return x
