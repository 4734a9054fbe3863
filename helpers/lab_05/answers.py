"""Answers to lab 05 that must fail, each with its hint, and odd ones that must pass."""

import keras
import numpy as np

COMPILE = {"loss": "categorical_crossentropy", "metrics": ["accuracy"]}


def without_a_scope(strategy, new_model, new_optimizer, per_replica_batch):
    model = new_model()
    model.compile(new_optimizer(), **COMPILE, jit_compile=False)
    return model, per_replica_batch * strategy.num_replicas_in_sync


def optimizer_outside(strategy, new_model, new_optimizer, per_replica_batch):
    optimizer = new_optimizer()
    with strategy.scope():
        model = new_model()
        model.compile(optimizer, **COMPILE, jit_compile=False)
    return model, per_replica_batch * strategy.num_replicas_in_sync


def batch_of_one_replica(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        model = new_model()
        model.compile(new_optimizer(), **COMPILE, jit_compile=False)
    return model, per_replica_batch


def divides_the_batch(strategy, new_model, new_optimizer, per_replica_batch):
    model, _ = batch_of_one_replica(strategy, new_model, new_optimizer, per_replica_batch)
    return model, per_replica_batch // strategy.num_replicas_in_sync


def does_not_compile(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        model = new_model()
    return model, per_replica_batch * strategy.num_replicas_in_sync


def forgets_the_metrics(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        model = new_model()
        model.compile(new_optimizer(), loss="categorical_crossentropy", jit_compile=False)
    return model, per_replica_batch * strategy.num_replicas_in_sync


def takes_an_optimizer_of_its_own(strategy, new_model, new_optimizer, per_replica_batch):
    with strategy.scope():
        model = new_model()
        model.compile("adam", **COMPILE, jit_compile=False)
    return model, per_replica_batch * strategy.num_replicas_in_sync


def returns_the_model_only(strategy, new_model, new_optimizer, per_replica_batch):
    return without_a_scope(strategy, new_model, new_optimizer, per_replica_batch)[0]


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


def compiles_outside(strategy, new_model, new_optimizer, per_replica_batch):
    scope = strategy.scope()
    scope.__enter__()
    made = new_model(), new_optimizer()
    scope.__exit__(None, None, None)
    made[0].compile(made[1], **COMPILE, jit_compile=False)
    return made[0], sum(per_replica_batch for _ in range(strategy.num_replicas_in_sync))


class Warmup(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, base_rate, factor, warmup_steps):
        self.base_rate, self.factor, self.n = base_rate, factor, warmup_steps

    def part(self, step):
        return keras.ops.minimum(keras.ops.cast(step, "float32") / self.n, 1.0)


class StartsAtZero(Warmup):
    def __call__(self, step):
        return self.base_rate * self.factor * self.part(step)


class NeverEnds(Warmup):
    def __call__(self, step):
        part = keras.ops.cast(step, "float32") / self.n
        return self.base_rate * (1 + part * (self.factor - 1))


class StopsBelowThePeak(Warmup):
    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * (self.factor - 1) / 2)


class WarmsUpToFactorPlusOne(Warmup):
    def __call__(self, step):
        return self.base_rate * (1 + self.part(step) * self.factor)


class UsesIf(Warmup):
    def __call__(self, step):
        if step < self.n:
            return self.base_rate * (1 + step / self.n * (self.factor - 1))
        return self.base_rate * self.factor


class UsesMin(Warmup):
    def __call__(self, step):
        part = min(float(step) / self.n, 1.0)
        return self.base_rate * (1 + part * (self.factor - 1))


class JumpsAtOnce(Warmup):
    def __call__(self, step):
        return self.base_rate * self.factor + 0 * self.part(step)


class PlainFunction:
    def __init__(self, base_rate, factor, warmup_steps):
        self.inner = ByPiece(base_rate, factor, warmup_steps)

    def __call__(self, step):
        return self.inner(step)


class ByPiece(keras.optimizers.schedules.LearningRateSchedule):
    """With `where` in place of the minimum."""

    def __init__(self, base_rate, factor, warmup_steps):
        self.low, self.high, self.n = base_rate, base_rate * factor, warmup_steps

    def __call__(self, step):
        step = keras.ops.cast(step, "float32")
        line = self.low + (self.high - self.low) * step / self.n
        return keras.ops.where(step < self.n, line, self.high)

    def get_config(self):
        return {}


class OnTopOfPolynomialDecay(keras.optimizers.schedules.PolynomialDecay):
    """Keras has a line from one rate to another: decay upwards."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__(base_rate, warmup_steps, base_rate * factor, power=1.0)


def _train(start, strategy, new_model, images, labels, batch, **options):
    with strategy.scope():
        model = new_model()
    if start is not None:
        model.set_weights(start)
    model.fit(images, labels, batch, verbose=0, **options)
    return model.get_weights()


def shuffles(start, strategy, new_model, images, labels, global_batch):
    return _train(start, strategy, new_model, images, labels, global_batch)


def starts_anywhere(start, strategy, new_model, images, labels, global_batch):
    keras.utils.set_random_seed(1)
    return _train(None, strategy, new_model, images, labels, global_batch, shuffle=False)


def takes_the_batch_of_one(start, strategy, new_model, images, labels, global_batch):
    batch = global_batch // strategy.num_replicas_in_sync
    return _train(start, strategy, new_model, images, labels, batch, shuffle=False)


def trains_longer(start, strategy, new_model, images, labels, global_batch):
    return _train(
        start, strategy, new_model, images, labels, global_batch, shuffle=False, epochs=3
    )


def does_not_train(start, strategy, new_model, images, labels, global_batch):
    return start


def forgets_the_strategy(start, strategy, new_model, images, labels, global_batch):
    model = new_model()
    model.set_weights(start)
    model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def returns_the_model(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        return new_model()


def batch_by_batch(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        for variable, value in zip(model.weights, start, strict=True):
            variable.assign(value)
    for i in range(0, len(images), global_batch):
        part = slice(i, i + global_batch)
        model.fit(images[part], labels[part], batch_size=global_batch, verbose=0)
    return [keras.ops.convert_to_numpy(weight) for weight in model.weights]


def with_a_dataset(start, strategy, new_model, images, labels, global_batch):
    import tensorflow as tf

    with strategy.scope():
        model = new_model()
        model.set_weights(start)
    pairs = tf.data.Dataset.from_tensor_slices((images, labels))
    model.fit(pairs.batch(global_batch, drop_remainder=True), epochs=1, verbose=0)
    return tuple(model.get_weights())


WRONG = {
    "5.1": [
        ("model", without_a_scope),
        ("optimizer", optimizer_outside),
        ("global_batch", batch_of_one_replica),
        ("global_batch", divides_the_batch),
        ("compiled", does_not_compile),
        ("metrics", forgets_the_metrics),
        ("metrics", takes_an_optimizer_of_its_own),
        ("raised", returns_the_model_only),
    ],
    "5.2": [
        ("start", StartsAtZero),
        ("start", JumpsAtOnce),
        ("after", NeverEnds),
        ("early", StopsBelowThePeak),
        ("early", WarmsUpToFactorPlusOne),
        ("graph", UsesMin),
        ("graph", UsesIf),
        ("schedule", PlainFunction),
    ],
    "5.3": [
        ("shuffle", shuffles),
        ("start", starts_anywhere),
        ("batch", takes_the_batch_of_one),
        ("epochs", trains_longer),
        ("epochs", does_not_train),
        ("scope", forgets_the_strategy),
        ("raised", returns_the_model),
    ],
}
UNUSUAL = {
    "5.1": [enters_the_scope_twice, compiles_outside],
    "5.2": [ByPiece, OnTopOfPolynomialDecay],
    "5.3": [batch_by_batch, with_a_dataset],
}
