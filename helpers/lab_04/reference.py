"""The solutions in labs/04_custom_training_loop.py, written by `labs build`: edit there."""

import time
from datetime import datetime

import keras
import tensorflow as tf


# Solution 4.1: train on one batch, and update two metrics.
@tf.function
def train_step(model, optimizer, metrics, x, y):
    """Train on one batch, and update the metrics `loss` and `accuracy`."""
    with tf.GradientTape() as tape:
        probabilities = model(x, training=True)
        losses = keras.losses.sparse_categorical_crossentropy(y, probabilities)
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    # All losses instead of their mean, so that every newswire counts the same.
    metrics["loss"].update_state(losses)
    metrics["accuracy"].update_state(y, probabilities)


# Solution 4.2: measure one batch, and update two metrics.
@tf.function
def valid_step(model, metrics, x, y):
    """Validate on one batch: update `valid_loss` and `valid_accuracy`."""
    probabilities = model(x, training=False)
    losses = keras.losses.sparse_categorical_crossentropy(y, probabilities)
    metrics["valid_loss"].update_state(losses)
    metrics["valid_accuracy"].update_state(y, probabilities)


# Solution 4.3: train, validate and print, epoch by epoch.
def train_model(train_step, valid_step, metrics, train, valid, epochs):
    """Train and validate, print three lines an epoch, return every epoch's metrics."""
    history = {name: [] for name in metrics}
    for epoch in range(1, epochs + 1):
        print(f"{'=' * 40} {datetime.now().astimezone():%H:%M:%S%z}")
        for metric in metrics.values():
            metric.reset_state()
        newswires, began = 0, time.perf_counter()
        for x, y in train:
            train_step(x, y)
            newswires += len(y)
        # A device may still be busy: reading a result waits until it has finished.
        float(metrics["loss"].result())
        seconds = time.perf_counter() - began
        for x, y in valid:
            valid_step(x, y)
        for name, metric in metrics.items():
            history[name].append(float(metric.result()))
        loss, accuracy, valid_loss, valid_accuracy = (
            history[name][-1] for name in ("loss", "accuracy", "valid_loss", "valid_accuracy")
        )
        print(
            f"Epoch={epoch}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, "
            f"Valid Loss:{valid_loss:.3f}, Valid Accuracy:{valid_accuracy:.3f}"
        )
        print(f"Newswires/sec: {newswires / seconds:.2f}")
    return history


REFERENCES = {
    "4.1": train_step,
    "4.2": valid_step,
    "4.3": train_model,
}
