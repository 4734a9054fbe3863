"""Answers to lab 05: wrong ones with the sentence they break and their hint, right ones."""

import copy
import functools
import math
from contextlib import ExitStack

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from keras.losses import CategoricalCrossentropy
from keras.metrics import CategoricalAccuracy
from keras.optimizers.schedules import LearningRateSchedule, PolynomialDecay


def but(answer, name, **options):
    """An answer with other options, under a name of its own."""
    changed = functools.partial(answer, **options)
    changed.__name__ = name
    return changed


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
    """The strategy of one device has no list of them."""
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
    """Compiles later, with the default for XLA, which is off over replicas."""
    with strategy.scope():
        model, optimizer = new_model(), new_optimizer()
    with strategy.scope():
        model.compile(
            optimizer=optimizer,
            loss=keras.losses.CategoricalCrossentropy(),
            metrics=[keras.metrics.CategoricalAccuracy(name="accuracy")],
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


class Warmup(LearningRateSchedule):
    """What most answers to 5.2 have in common: nearly right."""

    def __init__(self, base_rate, factor, warmup_steps):
        self.base_rate, self.factor, self.n = base_rate, factor, warmup_steps

    def part(self, step):
        return ops.minimum(ops.cast(step, "float32") / self.n, 1.0)

    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * (self.factor - 1))


class StartSchedule(Warmup):
    def __call__(self, step):
        return keras.ops.convert_to_tensor(self.base_rate * self.factor)


class StartsAtZero(Warmup):
    def __call__(self, step):
        return self.base_rate * self.factor * self.part(step)


class CountsFromOne(Warmup):
    def __call__(self, step):
        return super().__call__(step + 1)


class EndsOneEarly(Warmup):
    """As a list of so many rates has it: the last of them at the last step."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__(base_rate, factor, max(1, warmup_steps - 1))


class NeverEnds(Warmup):
    def part(self, step):
        return ops.cast(step, "float32") / self.n


class FallsBack(Warmup):
    def part(self, step):
        part = ops.cast(step, "float32") / self.n
        return ops.where(part <= 1, part, 0.0)


class StopsBelowThePeak(Warmup):
    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * (self.factor - 1) / 2)


class AddsTheFactor(Warmup):
    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * self.factor)


class TakesTheFactorForTheRate(Warmup):
    def __call__(self, step):
        return self.base_rate + self.part(step) * (self.factor - self.base_rate)


class WholeFactor(Warmup):
    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__(base_rate, int(factor), warmup_steps)


class WholeParts(Warmup):
    def part(self, step):
        return ops.minimum(ops.cast(step, "float32") // self.n, 1.0)


class Exponential(Warmup):
    def __call__(self, step):
        return self.base_rate * self.factor ** self.part(step)


class Smooth(Warmup):
    def part(self, step):
        return (1 - ops.cos(math.pi * super().part(step))) / 2


class SquareRoot(Warmup):
    def part(self, step):
        return ops.sqrt(super().part(step))


class WaitsForTheSecondStep(Warmup):
    def part(self, step):
        return super().part(ops.maximum(ops.cast(step, "float32") - 1, 0))


class CountsItsCalls(Warmup):
    def __call__(self, step):
        self.calls = getattr(self, "calls", -1) + 1
        return super().__call__(self.calls)


class KeepsThemInTheClass(Warmup):
    def __init__(self, base_rate, factor, warmup_steps):
        Warmup.now = base_rate, factor, warmup_steps

    def __call__(self, step):
        return Warmup(*self.now)(step)


class UsesIf(Warmup):
    def __call__(self, step):
        if step < self.n:
            return self.base_rate * (1 + step / self.n * (self.factor - 1))
        return self.base_rate * self.factor


class UsesMin(Warmup):
    def part(self, step):
        return min(float(step) / self.n, 1.0)


class UsesNumPy(Warmup):
    def part(self, step):
        return np.minimum(np.float32(step) / self.n, 1.0)


class InterpolatesWithNumPy(Warmup):
    def __call__(self, step):
        step = step.numpy() if hasattr(step, "numpy") else step
        return np.interp(step, [0, self.n], [self.base_rate, self.base_rate * self.factor])


class DividesWholeNumbers(Warmup):
    """A tensor of whole numbers and a float do not go together."""

    def __call__(self, step):
        return self.base_rate + tf.minimum(step, self.n) * (
            self.base_rate * (self.factor - 1) / self.n
        )


class WorksForPythonOnly(Warmup):
    """In a graph the rate is that of the end."""

    def part(self, step):
        return min(step / self.n, 1.0) if isinstance(step, int) else 1.0


class PlainClass:
    def __init__(self, base_rate, factor, warmup_steps):
        self.inner = Warmup(base_rate, factor, warmup_steps)

    def __call__(self, step):
        return self.inner(step)


def plain_function(base_rate, factor, warmup_steps):
    return lambda step: Warmup(base_rate, factor, warmup_steps)(step)


class ForgetsStep(Warmup):
    def __call__(self):
        return self.base_rate


class HalfPrecision(Warmup):
    def __call__(self, step):
        part = keras.ops.minimum(keras.ops.cast(step, "float16") / self.n, 1.0)
        return self.base_rate * (1 + keras.ops.cast(part, "float32") * (self.factor - 1))


class RoundsTheRate(Warmup):
    def __call__(self, step):
        return keras.ops.round(super().__call__(step), 4)


class ByPiece(LearningRateSchedule):
    """With `where` in place of the minimum."""

    def __init__(self, base_rate, factor, warmup_steps):
        self.low, self.high, self.n = base_rate, base_rate * factor, warmup_steps

    def __call__(self, step):
        step = keras.ops.cast(step, "float32")
        line = self.low + (self.high - self.low) * step / self.n
        return keras.ops.where(step < self.n, line, self.high)

    def get_config(self):
        return {}


class OnTopOfPolynomialDecay(PolynomialDecay):
    """Keras has a line from one rate to another: decay upwards."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__(base_rate, warmup_steps, base_rate * factor, power=1.0)


class WithTensorFlow(LearningRateSchedule):
    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__()
        self.base = tf.constant(base_rate, tf.float32)
        self.top, self.steps = self.base * factor, tf.cast(warmup_steps, tf.float32)

    def __call__(self, step):
        way = tf.clip_by_value(tf.cast(step, tf.float32) / self.steps, 0.0, 1.0)
        return (1.0 - way) * self.base + way * self.top


class WithCond(Warmup):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        rise = (self.factor - 1) * self.base_rate / self.n
        return tf.cond(
            step >= self.n,
            lambda: tf.constant(self.factor * self.base_rate, tf.float32),
            lambda: self.base_rate + rise * step,
        )


class WithAutograph(Warmup):
    @tf.function
    def __call__(self, step):
        rate = tf.constant(self.base_rate * self.factor, tf.float32)
        if tf.cast(step, tf.float32) < self.n:
            part = tf.cast(step, tf.float32) / tf.cast(self.n, tf.float32)
            rate = self.base_rate * (1 + part * (self.factor - 1))
        return rate


class LimitsTheRate(Warmup):
    def __call__(self, step):
        slope = self.base_rate * (self.factor - 1) / self.n
        line = self.base_rate + slope * ops.cast(step, "float32")
        return ops.minimum(line, self.base_rate * self.factor)


class LimitsTheStep(Warmup):
    def __call__(self, step):
        step = ops.cast(ops.minimum(step, self.n), "float32")
        return self.base_rate * ((self.n - step) + step * self.factor) / self.n


class Interpolates(Warmup):
    def __call__(self, step):
        # A table of all rates of the warm-up.
        table = np.linspace(self.base_rate, self.base_rate * self.factor, self.n + 1)
        return ops.take(ops.convert_to_tensor(table), ops.minimum(step, self.n))


class Decorated(Warmup):
    def __call__(self, step):
        return self.rate(tf.cast(step, "float32"))

    @tf.function(autograph=False)
    def rate(self, step):
        part = tf.where(step > self.n, tf.ones_like(step), step / self.n)
        return tf.add(self.base_rate, part * self.base_rate * (self.factor - 1))


def made_by_a_function(base_rate, factor, warmup_steps):
    class Made(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            left = ops.relu(1 - ops.cast(step, "float32") / warmup_steps)
            return base_rate * (factor - left * (factor - 1))

    return Made()


def from_pieces(base_rate, factor, warmup_steps):
    rise = PolynomialDecay(base_rate, warmup_steps, factor * base_rate)

    class Wrapped(LearningRateSchedule):
        __call__ = staticmethod(lambda step: rise(step))

    return Wrapped()


def training(start, strategy, new_model, images, labels, batch, **options):
    """What most answers to 5.3 have in common: right, but for the options of `fit`."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    model.fit(images, labels, batch, **{"verbose": 0, "shuffle": False} | options)
    return model.get_weights()


shuffles = but(training, "shuffles", shuffle=True)
trains_longer = but(training, "trains_longer", epochs=3)
weighs_classes = but(training, "weighs_classes", class_weight={0: 1.0, 1: 2.0, 2: 3.0})
shows_the_bar = but(training, "shows_the_bar", verbose=1)


def start_train(start, strategy, new_model, images, labels, global_batch):
    model = new_model()
    model.fit(images, labels, batch_size=global_batch, verbose=0)
    return model.get_weights()


def starts_anywhere(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.fit(images, labels, batch_size=global_batch, verbose=0, shuffle=False)
    return model.get_weights()


def trains_twice(start, strategy, new_model, images, labels, global_batch):
    """The second training begins where the first has ended."""
    start = training(start, strategy, new_model, images, labels, global_batch)
    return training(start, strategy, new_model, images, labels, global_batch)


def sets_them_afterwards(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    model.set_weights(start)
    return model.get_weights()


def does_not_train(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    return model.get_weights()


def reads_them_before(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    weights = model.get_weights()
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return weights


def sets_trained_weights_only(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        for i, variable in enumerate(model.weights):
            if variable.trainable:
                variable.assign(start[i])
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def sets_layers_with_a_kernel(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.layers[-1].set_weights(start[-2:])
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def takes_the_batch_of_one(start, strategy, new_model, images, labels, global_batch):
    batch = global_batch // strategy.num_replicas_in_sync
    return training(start, strategy, new_model, images, labels, batch)


def multiplies_the_batch(start, strategy, new_model, images, labels, global_batch):
    batch = global_batch * strategy.num_replicas_in_sync
    return training(start, strategy, new_model, images, labels, batch)


def forgets_the_batch(start, strategy, new_model, images, labels, global_batch):
    return training(start, strategy, new_model, images, labels, None)


def forgets_the_strategy(start, strategy, new_model, images, labels, global_batch):
    model = new_model()
    model.set_weights(start)
    model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def compiles_again(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False)
    model.set_weights(start)
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def changes_the_loss(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        loss = keras.losses.SparseCategoricalCrossentropy(reduction="sum")
        model.compile(model.optimizer, loss, jit_compile=False)
    model.set_weights(start)
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def drops_the_last(start, strategy, new_model, images, labels, global_batch):
    n = len(images) // global_batch * global_batch
    return training(start, strategy, new_model, images[:n], labels[:n], global_batch)


def in_reverse(start, strategy, new_model, images, labels, global_batch):
    return training(start, strategy, new_model, images[::-1], labels[::-1], global_batch)


def batch_by_batch(start, strategy, new_model, images, labels, global_batch):
    """A batch on its own that does not divide ends in an error."""
    with strategy.scope():
        model = new_model()
        model.set_weights(start)
    for i in range(0, len(images), global_batch):
        part = slice(i, i + global_batch)
        model.fit(images[part], labels[part], batch_size=global_batch, verbose=0)
    return model.get_weights()


def fits_twice(start, strategy, new_model, images, labels, global_batch):
    """Half of the batches each time: the same steps."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    for part in slice(2 * global_batch), slice(2 * global_batch, None):
        model.fit(images[part], labels[part], global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def trains_on_batches(start, strategy, new_model, images, labels, global_batch):
    """Every replica gets the whole batch."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    for i in range(0, len(images), global_batch):
        part = slice(i, i + global_batch)
        model.train_on_batch(images[part], labels[part])
    return model.get_weights()


def returns_nothing(start, strategy, new_model, images, labels, global_batch):
    training(start, strategy, new_model, images, labels, global_batch)


def trained_ones_first(start, strategy, new_model, images, labels, global_batch):
    weights = training(start, strategy, new_model, images, labels, global_batch)
    return [*weights[1:], weights[0]]


def returns_variables(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.weights


def returns_lists(start, strategy, new_model, images, labels, global_batch):
    weights = training(start, strategy, new_model, images, labels, global_batch)
    return [array.tolist() for array in weights]


def scales_a_copy(start, strategy, new_model, images, labels, global_batch):
    return training(start, strategy, new_model, images / 255, labels, global_batch)


def changes_the_rate(start, strategy, new_model, images, labels, global_batch):
    def with_another_rate():
        model = new_model()
        model.optimizer.learning_rate = 0.01
        return model

    return training(start, strategy, with_another_rate, images, labels, global_batch)


def writes_into_start(start, strategy, new_model, images, labels, global_batch):
    weights = training(start, strategy, new_model, images, labels, global_batch)
    for old, new in zip(start, weights, strict=True):
        old[...] = new
    return start


def puts_into_the_list(start, strategy, new_model, images, labels, global_batch):
    start[:] = training(start, strategy, new_model, images, labels, global_batch)
    return start


def scales_the_images(start, strategy, new_model, images, labels, global_batch):
    images -= images.mean()
    return training(start, strategy, new_model, images, labels, global_batch)


def with_a_dataset(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        model.set_weights(start)
    pairs = tf.data.Dataset.from_tensor_slices((images, labels))
    model.fit(pairs.batch(global_batch), epochs=1, verbose=0)
    return tuple(model.get_weights())


def all_in_scope(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        model.set_weights(start)
        model.fit(
            x=images, y=labels, batch_size=global_batch, epochs=1, verbose=0, shuffle=False
        )
        return model.get_weights()


def assigns_each(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        net = new_model()
        for variable, value in zip(net.weights, start, strict=True):
            variable.assign(value)
    net.fit(images, labels, global_batch, 1, 0, shuffle=False)
    return [keras.ops.convert_to_numpy(weight) for weight in net.weights]


def with_copies(start, strategy, new_model, images, labels, global_batch):
    start, images, labels = copy.deepcopy((start, images, labels))
    scope = strategy.scope()
    with scope:
        model = new_model()
    model.set_weights(start)
    history = model.fit(
        np.asarray(images), np.asarray(labels), global_batch, verbose=0, shuffle=False
    )
    assert len(history.epoch) == 1
    return [np.copy(w) for w in model.get_weights()]


def with_tensors(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(list(start))
    x, y = tf.convert_to_tensor(images), tf.convert_to_tensor(labels)
    model.fit(x, y, batch_size=global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def layer_by_layer(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    rest = list(start)
    for layer in model.layers:
        n = len(layer.weights)
        layer.set_weights(rest[:n])
        rest = rest[n:]
    model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0)
    return [array for layer in model.layers for array in layer.get_weights()]


def with_options(start, strategy, new_model, images, labels, global_batch):
    options = {"batch_size": global_batch, "shuffle": False, "verbose": 0}
    with strategy.scope():
        model = new_model()
        assert model.compiled
    model.set_weights(start)
    model.fit(images, labels, **options)
    print("trained", len(images), "images")
    return model.get_weights()


def with_steps(start, strategy, new_model, images, labels, global_batch):
    """Counts the steps itself, the last one too."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(global_batch)
    steps = math.ceil(len(images) / global_batch)
    model.fit(data, steps_per_epoch=steps, verbose=0)
    return model.get_weights()


def by_callback(start, strategy, new_model, images, labels, global_batch):
    class Starts(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.model.set_weights(start)

        def on_train_end(self, logs=None):
            self.after = self.model.get_weights()

    with strategy.scope():
        model = new_model()
    starts = Starts()
    model.fit(images, labels, batch_size=global_batch, shuffle=False, callbacks=[starts],
              verbose=0)  # fmt: skip
    return starts.after


WRONG = {
    "5.1": [
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
        ("any_number", "global_batch", always_two),
        ("any_number", "global_batch", at_least_two),
        ("any_number", "raised", asks_for_workers),
    ],
    "5.2": [
        ("start", "start", StartSchedule),
        ("start", "from_zero", StartsAtZero),
        ("start", "one_off", CountsFromOne),
        ("line", "jump", WholeParts),
        ("line", "curve", Exponential),
        ("line", "coarse", HalfPrecision),
        ("line", "coarse", RoundsTheRate),
        ("line", "other", Smooth),
        ("line", "other", SquareRoot),
        ("line", "other", WaitsForTheSecondStep),
        ("line", "other", CountsItsCalls),
        ("line", "other", KeepsThemInTheClass),
        ("peak", "peak", AddsTheFactor),
        ("peak", "added", TakesTheFactorForTheRate),
        ("peak", "other", StopsBelowThePeak),
        ("peak", "other", WholeFactor),
        ("peak", "other", EndsOneEarly),
        ("after", "after", NeverEnds),
        ("after", "back", FallsBack),
        ("graph", "graph", UsesMin),
        ("graph", "graph", UsesIf),
        ("graph", "graph", UsesNumPy),
        ("graph", "graph", InterpolatesWithNumPy),
        ("graph", "graph", WorksForPythonOnly),
        ("graph", "raised", DividesWholeNumbers),
        ("schedule", "schedule", PlainClass),
        ("schedule", "schedule", plain_function),
        ("schedule", "raised", ForgetsStep),
    ],
    "5.3": [
        ("start", "start", start_train),
        ("start", "from", starts_anywhere),
        ("start", "averages", sets_trained_weights_only),
        ("start", "averages", sets_layers_with_a_kernel),
        ("scope", "scope", forgets_the_strategy),
        ("compiled", "compiled", compiles_again),
        ("compiled", "compiled", changes_the_loss),
        ("compiled", "settings", changes_the_rate),
        ("compiled", "settings", weighs_classes),
        ("epoch", "epochs", trains_longer),
        ("epoch", "from", trains_twice),
        ("epoch", "untrained", does_not_train),
        ("returns", "untrained", reads_them_before),
        ("returns", "untrained", sets_them_afterwards),
        ("returns", "raised", returns_nothing),
        ("returns", "shapes", trained_ones_first),
        ("returns", "arrays", returns_variables),
        ("returns", "arrays", returns_lists),
        ("batch", "batch", takes_the_batch_of_one),
        ("batch", "batch", multiplies_the_batch),
        ("batch", "raised", forgets_the_batch),
        ("fit", "shares", trains_on_batches),
        ("fit", "raised", batch_by_batch),
        ("fit", "fits", fits_twice),
        ("order", "shuffle", shuffles),
        ("order", "shuffle", in_reverse),
        ("order", "shuffle", scales_a_copy),
        ("last", "last", drops_the_last),
        ("silent", "silent", shows_the_bar),
        ("unchanged", "changed", writes_into_start),
        ("unchanged", "changed", puts_into_the_list),
        ("unchanged", "changed", scales_the_images),
    ],
}
RIGHT = {
    "5.1": [
        enters_the_scope_twice, by_hand, all_in_the_scope, with_a_helper, with_a_stack,
        by_functions, asks_tensorflow, in_a_class, nested_scopes, building,
    ],
    "5.2": [
        ByPiece, OnTopOfPolynomialDecay, WithTensorFlow, WithCond, WithAutograph,
        LimitsTheRate, LimitsTheStep, Interpolates, Decorated, made_by_a_function,
        from_pieces,
    ],
    "5.3": [
        with_a_dataset, all_in_scope, assigns_each, with_copies, with_tensors,
        layer_by_layer, with_options, with_steps, by_callback, training,
    ],
}  # fmt: skip
# Changes that `labs mutants` makes and that leave the answer right, each with the reason.
RIGHT_MUTANTS = {
    "5.1": {
        "5: model.compile(new_optimizer(), loss='categorical_crossentropy', "
        "metrics=['accuracy'], jit_compile=False) → model.compile(new_optimizer(), "
        "loss='categorical_crossentropy', metrics=['accuracy'])": (
            "Keras leaves XLA off by itself over several replicas"
        ),
        "6: return (model, per_replica_batch * strategy.num_replicas_in_sync) → "
        "return (model, strategy.num_replicas_in_sync * per_replica_batch)": (
            "the order of factors is free"
        ),
    },
    "5.2": {
        "5: super().__init__() → pass": "Keras does not need it for a schedule",
        "5: super().__init__(); self.base_rate, self.factor = (base_rate, factor) → "
        "self.base_rate, self.factor = (base_rate, factor); super().__init__()": (
            "the order is free"
        ),
        "6: self.base_rate, self.factor = (base_rate, factor); "
        "self.warmup_steps = warmup_steps → self.warmup_steps = warmup_steps; "
        "self.base_rate, self.factor = (base_rate, factor)": "the order is free",
        "11: part = keras.ops.minimum(part, 1.0) → part = keras.ops.minimum(1.0, part)": (
            "the order is free"
        ),
        "12: return self.base_rate * (1 + part * (self.factor - 1)) → "
        "return (1 + part * (self.factor - 1)) * self.base_rate": "the order is free",
        "12: return self.base_rate * (1 + part * (self.factor - 1)) → "
        "return self.base_rate * (part * (self.factor - 1) + 1)": "the order is free",
        "12: return self.base_rate * (1 + part * (self.factor - 1)) → "
        "return self.base_rate * (1 + (self.factor - 1) * part)": "the order is free",
    },
    "5.3": {
        "6: model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0) → "
        "model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=-1)": (
            "Keras prints nothing then, too"
        ),
    },
}
