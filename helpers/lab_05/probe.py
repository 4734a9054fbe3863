"""Probes of lab 05: many GPUs with fit."""

import keras
import numpy as np
import tensorflow as tf

from helpers.checks.probing.replicas import simulated_replicas


def build(answer, question, wait):
    """Let the answer build a tiny model over two replicas, and train one step."""
    strategy = simulated_replicas()
    built_in = {"model": [], "optimizer": []}

    def new_model():
        built_in["model"].append(tf.distribute.get_strategy() is strategy)
        return keras.Sequential(
            [keras.Input((3,)), keras.layers.Dense(10, activation="softmax")]
        )

    def new_optimizer():
        built_in["optimizer"].append(tf.distribute.get_strategy() is strategy)
        return keras.optimizers.SGD(question["learning_rate"])

    model, global_batch = answer(
        strategy, new_model, new_optimizer, question["per_replica_batch"]
    )
    seen = {
        "built_in_scope": built_in,
        "global_batch": float(global_batch),
        "copies": len(getattr(model.weights[0].value, "values", [0])),
        "compiled": bool(model.compiled),
        "jit_compile": bool(model.compiled and model.jit_compile),
    }
    if not seen["compiled"] or not all(built_in["optimizer"]):
        return seen
    x = np.ones((4, 3), "float32")
    history = model.fit(x, np.eye(10)[[0, 1, 2, 3]], batch_size=4, verbose=0)
    rate = float(np.array(model.optimizer.learning_rate))
    return seen | {"logs": sorted(history.history), "learning_rate": rate}


def schedule(answer, question, wait):
    """Ask the answer's schedule for the rate at some steps, eagerly and in a graph."""
    rate = answer(question["base_rate"], question["factor"], question["warmup_steps"])
    # Without autograph, as Keras traces its training step.
    in_graph = tf.function(lambda step: tf.convert_to_tensor(rate(step)), autograph=False)
    eager, graph, error = [], [], None
    for step in question["steps"]:
        eager.append(float(rate(step)))
        try:
            graph.append(float(in_graph(tf.constant(step, tf.int64))))
        except Exception as problem:
            error = (
                f"{type(problem).__name__}: {str(problem).strip().splitlines()[0][:150]}"
            )
            break
    return {
        "eager": eager,
        "graph": graph,
        "graph_error": error,
        "is_schedule": isinstance(rate, keras.optimizers.schedules.LearningRateSchedule),
    }


def train_from(answer, question, wait):
    """Let the answer train a tiny model over two replicas; report its weights."""
    strategy = simulated_replicas()
    built_in = []
    start = [np.array(question[name], "float32") for name in ("kernel", "bias")]
    # The answer may not change what it was given.
    given = [weights.copy() for weights in start]

    def new_model():
        built_in.append(tf.distribute.get_strategy() is strategy)
        outputs = keras.layers.Dense(len(question["bias"]), activation="softmax")
        model = keras.Sequential([keras.Input((len(question["kernel"]),)), outputs])
        model.compile(
            keras.optimizers.SGD(question["learning_rate"]),
            loss="sparse_categorical_crossentropy",
            jit_compile=False,
        )
        return model

    weights = answer(
        given,
        strategy,
        new_model,
        np.array(question["images"], "float32"),
        np.array(question["labels"]),
        question["global_batch"],
    )
    kernel, bias = (np.array(w, "float64") for w in weights)
    return {"built_in_scope": built_in, "kernel": kernel.tolist(), "bias": bias.tolist()}


PROBES = {"5.1": build, "5.2": schedule, "5.3": train_from}
