"""Probes of lab 05: many GPUs with fit."""

import inspect

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.arguments import call
from helpers.checks.probing.printed import Printed
from helpers.checks.probing.replicas import simulated_replicas


def strategies(question):
    """The strategy of each case; one replica is what there is without a strategy."""
    # All first: what TensorFlow computes before that fixes its devices.
    return [
        simulated_replicas(case["replicas"])
        if case["replicas"] > 1
        else tf.distribute.get_strategy()
        for case in question["cases"]
    ]


def build(answer, question, wait):
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
        # Behind another layer Keras does not recognise the softmax, and mend a loss.
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
        "in_scope": {kind: _all_of(places) for kind, places in in_scope.items()},
        "own_model": any(model is one for one in made["model"]),
        "own_optimizer": compiled
        and any(model.optimizer is one for one in made["optimizer"]),
        "global_batch": float(batch),
        "whole_number": hasattr(batch, "__index__"),
        "compiled": compiled,
        "copies": copies(model.weights),
        "copies_of_metrics": copies(v for one in model.metrics for v in one.variables),
        "jit_compile": compiled and bool(model.jit_compile),
        "options": getattr(model, "options", ""),
        "settings_kept": all(one.get_config() == settings for one, settings in given),
    }


class TellsItsOptions(keras.Sequential):
    """Keeps the names of the arguments of `compile` that are not as Keras has them."""

    options = ""

    def compile(self, *arguments, **more):
        usual = inspect.signature(keras.Model.compile)
        given = usual.bind(self, *arguments, **more).arguments
        changed = [n for n, v in given.items() if v and v != usual.parameters[n].default]
        if given.get("auto_scale_loss") is False:
            changed.append("auto_scale_loss")
        self.options = ", ".join(changed)
        super().compile(*arguments, **more)


def _all_of(facts):
    """Whether all of them hold, however many; None if there is none."""
    return all(facts) if facts else None


def copies(variables):
    """On how many replicas the variables are that are on the fewest; 0: none are there."""
    return min((len(getattr(v.value, "values", [0])) for v in variables), default=0)


def schedule(answer, question, wait):
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


def train_from(answer, question, wait):
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
        "in_scope": _all_of(in_scope),
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

    def fit(self, *arguments, **more):
        self.add_fit()
        return super().fit(*arguments, **more)


class CountsRows(keras.layers.Layer):
    """Has running averages that move in training: how many rows, and their first column."""

    def build(self, shape):
        self.rows = self.add_weight(
            shape=(2,), initializer="zeros", trainable=False, aggregation="mean"
        )

    def call(self, x, training=False):
        if training:
            rows = keras.ops.cast(keras.ops.shape(x)[0], "float32")
            seen = keras.ops.stack([rows, keras.ops.sum(x[:, 0])])
            self.rows.assign(0.5 * self.rows + seen)
        return x


PROBES = {"5.1": build, "5.2": schedule, "5.3": train_from}
