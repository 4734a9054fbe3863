"""The solutions in labs/06_many_gpus_loop.py, written by `labs build`: edit there."""

import time

import keras
import tensorflow as tf

from callbacks import progress


# Solution 6.1: this replica's share of the mean loss over the global batch.
def global_loss(losses, global_batch):
    """This replica's share of the mean loss over the global batch."""
    return tf.reduce_sum(losses) / global_batch


# Solution 6.2: a step that all replicas do together; it returns the mean loss.
def make_train_step(strategy, model, optimizer, metrics, global_loss, global_batch):
    """A function of a distributed batch that trains on it and returns its mean loss."""

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            probabilities = model(x, training=True)
            losses = keras.losses.categorical_crossentropy(y, probabilities)
            share = global_loss(losses, global_batch)
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        metrics["loss"].update_state(losses)
        metrics["accuracy"].update_state(y, probabilities)
        return share

    @tf.function
    def train_step(x, y):
        shares = strategy.run(replica_step, args=(x, y))
        return strategy.reduce("SUM", shares, axis=None)

    return train_step


# Solution 6.3: train with a bar, validate and print, epoch by epoch.
def train_model(train_step, valid_step, metrics, train, valid, epochs, steps):
    """Train and validate, print a line an epoch, return every epoch's figures."""
    history = {name: [] for name in (*metrics, "train_seconds")}
    for epoch in range(1, epochs + 1):
        for metric in metrics.values():
            metric.reset_state()
        began = time.perf_counter()
        bar = progress(train, total=steps, desc=f"Epoch {epoch}")
        for step, (x, y) in enumerate(bar, start=1):
            train_step(x, y)
            # Reading a metric waits for the devices: not after every step.
            if step % 10 == 0 or step == steps:
                names = ("loss", "accuracy")
                bar.set_postfix({name: float(metrics[name].result()) for name in names})
        history["train_seconds"].append(time.perf_counter() - began)
        for x, y in valid:
            valid_step(x, y)
        for name, metric in metrics.items():
            history[name].append(float(metric.result()))
        print(f"Epoch {epoch}: " + ", ".join(f"{n} {history[n][-1]:.3f}" for n in metrics))
    return history


REFERENCES = {
    "6.1": global_loss,
    "6.2": make_train_step,
    "6.3": train_model,
}
