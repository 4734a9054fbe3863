"""What answers to several exercises of lab 04 have in common."""

import keras
import tensorflow as tf

crossentropy = keras.losses.sparse_categorical_crossentropy


def gradients_of(model, x, y, training=True, reduce=tf.reduce_mean):
    """What most of the wrong steps have right."""
    with tf.GradientTape() as tape:
        probabilities = model(x, training=training)
        losses = crossentropy(y, probabilities)
        loss = reduce(losses)
    return tape.gradient(loss, model.trainable_variables), losses, probabilities


def count(metrics, losses, y, probabilities, prefix=""):
    metrics[f"{prefix}loss"].update_state(losses)
    metrics[f"{prefix}accuracy"].update_state(y, probabilities)
