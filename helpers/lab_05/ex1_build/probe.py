"""Exercise 5.1: drives an answer, expects nothing."""

import inspect
from collections.abc import Callable, Iterable

import keras
import numpy as np
import tensorflow as tf

from helpers.lab_05.probing import all_of, strategies


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Let the answer build a tiny model over each strategy, and train it for two steps."""
    cases = []
    for strategy, case in zip(strategies(question), question["cases"], strict=True):
        model, seen = _build(answer, strategy, question, case)
        cases.append(seen)
        # What is made in the wrong place, and XLA, end in errors that do not help.
        sound = seen["own_optimizer"] and all(seen["in_scope"].values())
        if sound and not (seen["jit_compile"] and case["replicas"] > 1):
            seen |= _train(model, question["batches"])
    return {"cases": cases}


def _train(model, batches):
    model.run_eagerly = True  # saves the time to trace it
    # Every replica takes the whole batch: so the mean over them is the batch's, too.
    logs, _ = (
        model.train_on_batch(
            np.array(batch["x"], "float32"), np.eye(3)[batch["y"]], return_dict=True
        )
        for batch in batches
    )
    return {"logs": logs, "weights": [weights.tolist() for weights in model.get_weights()]}


def _build(answer, strategy, question, case):
    """What the answer built, and what was made where."""
    made = {"model": [], "optimizer": []}
    in_scope = {"model": [], "optimizer": []}

    def keep(kind, new):
        made[kind].append(new)
        in_scope[kind].append(tf.distribute.get_strategy() is strategy)
        return new

    def new_model():
        dense = keras.layers.Dense(3, activation="softmax")
        # Behind another layer Keras does not recognise the softmax, and corrects no loss.
        same = keras.layers.Rescaling(1.0)
        model = TellsItsOptions([keras.Input((3,)), dense, same])
        model.set_weights([np.array(weights) for weights in question["weights"]])
        return keep("model", model)

    def new_optimizer():
        settings = question["learning_rate"], question["momentum"]
        optimizer = keras.optimizers.SGD(*settings)
        given.append((optimizer, optimizer.get_config()))
        return keep("optimizer", optimizer)

    given = []
    model, batch = answer(strategy, new_model, new_optimizer, case["per_replica_batch"])
    compiled = bool(model.compiled)
    return model, {
        "in_scope": {kind: all_of(places) for kind, places in in_scope.items()},
        "own_model": any(model is one for one in made["model"]),
        "own_optimizer": compiled
        and any(model.optimizer is one for one in made["optimizer"]),
        "global_batch": float(batch),
        "whole_number": hasattr(batch, "__index__"),
        "compiled": compiled,
        "copies": copies(model.weights),
        "copies_of_metrics": copies(v for one in model.metrics for v in one.variables),
        "jit_compile": compiled and bool(model.jit_compile),
        "leaves_jit": getattr(model, "leaves_jit", False),
        "options": getattr(model, "options", ""),
        "settings_kept": all(one.get_config() == settings for one, settings in given),
    }


class TellsItsOptions(keras.Sequential):
    """Keeps the names of the arguments of `compile` that are not as Keras has them.

    And whether it is left to Keras to use XLA, which it does not do on a CPU.
    """

    options, leaves_jit = "", False

    def compile(self, *arguments: object, **more: object) -> None:
        usual = inspect.signature(keras.Model.compile)
        given = usual.bind(self, *arguments, **more).arguments
        changed = [n for n, v in given.items() if v and v != usual.parameters[n].default]
        if given.get("auto_scale_loss") is False:
            changed.append("auto_scale_loss")
        self.options = ", ".join(changed)
        self.leaves_jit = given.get("jit_compile", "auto") == "auto"
        super().compile(*arguments, **more)


def copies(variables: Iterable[keras.Variable]) -> int:
    """On how many replicas the variables are that are on the fewest; 0: none are there."""
    return min((len(getattr(v.value, "values", [0])) for v in variables), default=0)
