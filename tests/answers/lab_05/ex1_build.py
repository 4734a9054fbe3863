"""Recorded answers to 5.1: wrong ones, and right ones in other styles."""

import math
from contextlib import ExitStack

import keras
import numpy as np
import tensorflow as tf
from keras.losses import CategoricalCrossentropy
from keras.metrics import CategoricalAccuracy

from tests.answers.lab_05.shared import but

COMPILE = {"loss": "categorical_crossentropy", "metrics": ["accuracy"]}


def building(strategy, new_model, new_optimizer, batch, **options):
    """What most answers to 5.1 have in common: right, but for the options of `compile`."""
    with strategy.scope():
        model = new_model()
        model.compile(new_optimizer(), **COMPILE | {"jit_compile": False} | options)
    return model, batch * strategy.num_replicas_in_sync


def start_build(strategy, new_model, new_optimizer, per_replica_batch):
    model = new_model()
    model.compile(new_optimizer(), loss="categorical_crossentropy")
    return model, per_replica_batch


def without_a_scope(strategy, new_model, new_optimizer, per_replica_batch):
    model = new_model()
    model.compile(new_optimizer(), **COMPILE, jit_compile=False)
    return model, per_replica_batch * strategy.num_replicas_in_sync


def model_outside(strategy, new_model, new_optimizer, per_replica_batch):
    model = new_model()
    with strategy.scope():
        optimizer = new_optimizer()
    model.compile(optimizer, **COMPILE, jit_compile=False)
    return model, per_replica_batch * strategy.num_replicas_in_sync


def network_of_its_own(strategy, new_model, new_optimizer, per_replica_batch):
    def network():
        dense = keras.layers.Dense(3, activation="softmax")
        return keras.Sequential([keras.Input((3,)), dense])

    return building(strategy, network, new_optimizer, per_replica_batch)


def optimizer_outside(strategy, new_model, new_optimizer, per_replica_batch):
    optimizer = new_optimizer()
    return building(strategy, new_model, lambda: optimizer, per_replica_batch)


def compiles_outside(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        model, optimizer = new_model(), new_optimizer()
    model.compile(optimizer, **COMPILE, jit_compile=False)
    return model, per_replica_batch * strategy.num_replicas_in_sync


def does_not_compile(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        model = new_model()
        new_optimizer()
    return model, per_replica_batch * strategy.num_replicas_in_sync


def batch_of_one_replica(strategy, new_model, new_optimizer, per_replica_batch):
    model, _ = building(strategy, new_model, new_optimizer, per_replica_batch)
    return model, per_replica_batch


def divides_the_batch(strategy, new_model, new_optimizer, per_replica_batch):
    model, _ = building(strategy, new_model, new_optimizer, per_replica_batch)
    return model, per_replica_batch // strategy.num_replicas_in_sync


def always_two(strategy, new_model, new_optimizer, per_replica_batch):
    model, _ = building(strategy, new_model, new_optimizer, per_replica_batch)
    return model, per_replica_batch * 2


def at_least_two(strategy, new_model, new_optimizer, per_replica_batch):
    model, _ = building(strategy, new_model, new_optimizer, per_replica_batch)
    return model, per_replica_batch * max(2, strategy.num_replicas_in_sync)


def asks_for_workers(strategy, new_model, new_optimizer, per_replica_batch):
    """A strategy of the lab lists its devices, even if there is one."""
    model, _ = building(strategy, new_model, new_optimizer, per_replica_batch)
    return model, per_replica_batch * len(strategy.extended.worker_devices)


def float_batch(strategy, new_model, new_optimizer, per_replica_batch):
    model, batch = building(strategy, new_model, new_optimizer, per_replica_batch)
    return model, batch / 1


def scales_the_rate(strategy, new_model, new_optimizer, per_replica_batch):
    def scaled():
        optimizer = new_optimizer()
        optimizer.learning_rate = optimizer.learning_rate * strategy.num_replicas_in_sync
        return optimizer

    return building(strategy, new_model, scaled, per_replica_batch)


def freezes(strategy, new_model, new_optimizer, per_replica_batch):
    model, batch = building(strategy, new_model, new_optimizer, per_replica_batch)
    model.trainable = False
    return model, batch


def optimizer_of_its_own(strategy, new_model, new_optimizer, per_replica_batch):
    return building(strategy, new_model, lambda: "rmsprop", per_replica_batch)


def same_rate_other_class(strategy, new_model, new_optimizer, per_replica_batch):
    def sgd():
        return keras.optimizers.SGD(float(new_optimizer().learning_rate.numpy()))

    return building(strategy, new_model, sgd, per_replica_batch)


def wraps_the_optimizer(strategy, new_model, new_optimizer, per_replica_batch):
    def wrapped():
        return keras.optimizers.LossScaleOptimizer(new_optimizer())

    return building(strategy, new_model, wrapped, per_replica_batch)


with_xla = but(building, "with_xla", jit_compile=True)
leaves_xla_to_keras = but(building, "leaves_xla_to_keras", jit_compile="auto")
no_accuracy = but(building, "no_accuracy", metrics=None)
another_metric = but(building, "another_metric", metrics=["mae"])
squared_error = but(building, "squared_error", loss="mse")
sum_of_losses = but(
    building, "sum_of_losses", loss=CategoricalCrossentropy(reduction="sum")
)
from_logits = but(building, "from_logits", loss=CategoricalCrossentropy(from_logits=True))
divided_loss = but(building, "divided_loss", loss_weights=0.5)
eager = but(building, "eager", run_eagerly=True)
two_metrics = but(building, "two_metrics", metrics=["accuracy", "mse"])
many_steps = but(building, "many_steps", steps_per_execution=8)
accuracy_by_weight = but(
    building, "accuracy_by_weight", metrics=None, weighted_metrics=["accuracy"]
)
keeps_the_loss_unscaled = but(building, "keeps_the_loss_unscaled", auto_scale_loss=False)


def clips_from_afar(strategy, new_model, new_optimizer, per_replica_batch):
    def clipping():
        optimizer = new_optimizer()
        optimizer.clipnorm = 5.0
        return optimizer

    return building(strategy, new_model, clipping, per_replica_batch)


def accuracy_by_another_name(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        metrics = [CategoricalAccuracy()]
    return building(strategy, new_model, new_optimizer, per_replica_batch, metrics=metrics)


def binary_accuracy(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        metrics = [keras.metrics.BinaryAccuracy(name="accuracy")]
    return building(strategy, new_model, new_optimizer, per_replica_batch, metrics=metrics)


def returns_the_model_only(strategy, new_model, new_optimizer, per_replica_batch):
    return building(strategy, new_model, new_optimizer, per_replica_batch)[0]


def returns_the_batch_first(strategy, new_model, new_optimizer, per_replica_batch):
    return building(strategy, new_model, new_optimizer, per_replica_batch)[::-1]


def enters_the_scope_twice(strategy, new_model, new_optimizer, per_replica_batch):
    """Compiles later."""
    with strategy.scope():
        model, optimizer = new_model(), new_optimizer()
    with strategy.scope():
        model.compile(
            optimizer=optimizer,
            loss=keras.losses.CategoricalCrossentropy(),
            metrics=[keras.metrics.CategoricalAccuracy(name="accuracy")],
            jit_compile=False,
        )
    return [model, np.int64(strategy.num_replicas_in_sync * per_replica_batch)]


def by_hand(strategy, new_model, new_optimizer, per_replica_batch):
    scope = strategy.scope()
    scope.__enter__()
    try:
        made = new_model()
        made.compile(new_optimizer(), **COMPILE, jit_compile=False)
    finally:
        scope.__exit__(None, None, None)
    return made, sum(per_replica_batch for _ in range(strategy.num_replicas_in_sync))


def all_in_the_scope(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        optimizer = new_optimizer()
        net = new_model()
        net.compile(
            loss="categorical_crossentropy",
            optimizer=optimizer,
            jit_compile=False,
            metrics=["accuracy"],
        )
        n = strategy.num_replicas_in_sync
        global_batch = int(n * per_replica_batch)
        return net, global_batch


def with_a_helper(strategy, new_model, new_optimizer, per_replica_batch):
    def compiled():
        model = new_model()
        model.compile(new_optimizer(), "categorical_crossentropy", metrics=["accuracy"],
                      jit_compile=False)  # fmt: skip
        return model

    with strategy.scope():
        model = compiled()
    return (model, np.multiply(per_replica_batch, strategy.num_replicas_in_sync))


def with_a_stack(strategy, new_model, new_optimizer, per_replica_batch):
    with ExitStack() as stack:
        stack.enter_context(strategy.scope())
        stack.enter_context(tf.name_scope("build"))
        model = new_model()
        model.compile(new_optimizer(), **COMPILE, jit_compile=False)
    return model, math.prod([per_replica_batch, strategy.num_replicas_in_sync])


def by_functions(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        model = new_model()
        model.compile(
            new_optimizer(),
            loss=keras.losses.categorical_crossentropy,
            metrics=[keras.metrics.CategoricalAccuracy("accuracy")],
            jit_compile=False,
        )
    return model, strategy.num_replicas_in_sync * per_replica_batch


def asks_tensorflow(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        inside = tf.distribute.get_strategy()
        model = new_model()
        model.compile(
            new_optimizer(), loss=CategoricalCrossentropy(), metrics=("accuracy",),
            jit_compile=False,
        )  # fmt: skip
        tf.print("replicas:", inside.num_replicas_in_sync)
    return model, inside.num_replicas_in_sync * per_replica_batch


def in_a_class(strategy, new_model, new_optimizer, per_replica_batch):
    class Builder:
        def __init__(self):
            self.replicas = strategy.num_replicas_in_sync
            with strategy.scope():
                self.model = new_model()
                self.model.compile(new_optimizer(), **COMPILE, jit_compile=False)

    builder = Builder()
    return builder.model, builder.replicas * per_replica_batch


def nested_scopes(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        with strategy.scope():
            model = new_model()
        optimizer = new_optimizer()
        with strategy.scope():
            model.compile(optimizer, **COMPILE, jit_compile=False)
    size = 0
    for _ in range(strategy.num_replicas_in_sync):
        size += per_replica_batch
    return model, size


WRONG = [
    ("model", "start", start_build),
    ("model", "model", without_a_scope),
    ("model", "model", model_outside),
    ("model", "own_model", network_of_its_own),
    ("optimizer", "optimizer", optimizer_outside),
    ("own_optimizer", "own_optimizer", optimizer_of_its_own),
    ("own_optimizer", "own_optimizer", same_rate_other_class),
    ("own_optimizer", "own_optimizer", wraps_the_optimizer),
    ("compile", "compile", compiles_outside),
    ("compile", "compiled", does_not_compile),
    ("loss", "loss", squared_error),
    ("loss", "loss", sum_of_losses),
    ("loss", "loss", from_logits),
    ("metrics", "metrics", no_accuracy),
    ("metrics", "metrics", another_metric),
    ("metrics", "metrics", binary_accuracy),
    ("metrics", "metrics", accuracy_by_another_name),
    ("jit_compile", "jit_compile", with_xla),
    ("jit_compile", "jit_compile", leaves_xla_to_keras),
    ("others", "others", eager),
    ("others", "others", many_steps),
    ("others", "others", two_metrics),
    ("as_given", "settings", scales_the_rate),
    ("as_given", "frozen", freezes),
    ("others", "others", divided_loss),
    ("others", "others", accuracy_by_weight),
    ("others", "others", keeps_the_loss_unscaled),
    ("as_given", "settings", clips_from_afar),
    ("returns_model", "raised", returns_the_model_only),
    ("returns_model", "raised", returns_the_batch_first),
    ("global_batch", "global_batch", batch_of_one_replica),
    ("global_batch", "global_batch", divides_the_batch),
    ("global_batch", "whole", float_batch),
    ("any_number", "fixed_number", always_two),
    ("any_number", "fixed_number", at_least_two),
]
RIGHT = [
    enters_the_scope_twice, by_hand, all_in_the_scope, with_a_helper, with_a_stack,
    by_functions, asks_tensorflow, in_a_class, nested_scopes, building,
    asks_for_workers,
]  # fmt: skip
