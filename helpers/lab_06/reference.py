"""The solutions in labs/06_many_gpus_loop.py, written by `labs build`: edit there."""

import keras
import tensorflow as tf


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


# Solution 6.3: train on a strategy's replicas, from the scope to every epoch's mean loss.
def train_on(strategy, build, data, epochs):
    """Train on all replicas; return the network and every epoch's mean loss."""
    with strategy.scope():
        model, optimizer = build()
        mean_loss = keras.metrics.Mean()

    def replica_step(x, y, images):
        with tf.GradientTape() as tape:
            losses = keras.losses.categorical_crossentropy(y, model(x, training=True))
            share = tf.nn.compute_average_loss(losses, global_batch_size=images)
        gradients = tape.gradient(share, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        mean_loss.update_state(losses)

    @tf.function
    def train_step(x, y, images):
        strategy.run(replica_step, args=(x, y, images))

    epoch_losses = []
    for _ in range(epochs):
        mean_loss.reset_state()
        for x, y in strategy.experimental_distribute_dataset(data):
            images = sum(len(part) for part in strategy.experimental_local_results(y))
            train_step(x, y, images)
        epoch_losses.append(float(mean_loss.result()))
    return model, epoch_losses


# Solution 6.4: the number of the line, the line as it should be, and the wasted steps.
def find_the_bug(steps, accumulate):
    """The line with the bug, the line that repairs it, and the steps that it wastes."""
    repaired = "rate = peak_rate * (1 - batches_done / (accumulate * steps))"
    wasted = sum(step * accumulate >= steps for step in range(steps))
    return 13, repaired, wasted


REFERENCES = {
    "6.1": global_loss,
    "6.2": make_train_step,
    "6.3": train_on,
    "6.4": find_the_bug,
}
