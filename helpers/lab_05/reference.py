"""The solutions in labs/05_many_gpus_fit.py, written by `labs build`: edit there."""

import keras


# Solution 5.1: build and compile for all replicas; return the model and the global batch.
def build(strategy, new_model, new_optimizer, per_replica_batch):
    """Build and compile for all replicas; give the model and the global batch."""
    with strategy.scope():
        model = new_model()
        model.compile(
            new_optimizer(),
            loss="categorical_crossentropy",
            metrics=["accuracy"],
            jit_compile=False,
        )
    return model, per_replica_batch * strategy.num_replicas_in_sync


# Solution 5.2: the learning rate at each step.
class LinearWarmup(keras.optimizers.schedules.LearningRateSchedule):
    """Go from `base_rate` to `factor` times it in `warmup_steps` steps, then stay there."""

    def __init__(self, base_rate, factor, warmup_steps):
        super().__init__()
        self.base_rate, self.factor = base_rate, factor
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        part = keras.ops.cast(step, "float32") / self.warmup_steps
        part = keras.ops.minimum(part, 1.0)
        return self.base_rate * (1 + part * (self.factor - 1))


# Solution 5.3: train one epoch from given weights, in order; return the weights.
def train_from(start, strategy, new_model, images, labels, global_batch):
    """Train one epoch from the weights `start`, in order; give the new weights."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0)
    return model.get_weights()


REFERENCES = {
    "5.1": build,
    "5.2": LinearWarmup,
    "5.3": train_from,
}
