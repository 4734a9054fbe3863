"""A plain network that repeats only the hard images.

authors: Scaling Labs
target: sprint
based on: The fast recipe on a small network
predicted gain: 2.5

After the first epoch most images are classified with ease, and their gradients are small.
So each later epoch trains only on the 30% of the images that had the largest losses when
they were last seen (compare Jiang et al. 2019, arXiv:1910.00762). The network is plain: one
convolution in each stage and no shortcuts. Muon learns more from each image than SGD.
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from helpers.network.batch_norm import BatchNormalization

CHANNELS = ((16,), (32,), (64,))  # of each stage; every stage halves the image
EPOCHS = 4
LATER_PART = 0.3  # of the images, from the second epoch on: those with the largest losses
BATCH = 128
MUON_RATE = 0.1  # relative change of a kernel in one step, at the peak
SGD_RATE = 0.2  # of the other weights
MUON_MOMENTUM, SGD_MOMENTUM = 0.6, 0.9
WARM_UP = 0.25  # of all steps
WEIGHT_DECAY = 5e-4  # of the last layer
SMOOTHING = 0.1  # of the labels


def network() -> keras.Model:
    """Convolve, pool, normalise, ReLU; at the end the mean of the last few pixels."""
    x = inputs = keras.Input((28, 28, 1))
    for stage in CHANNELS:
        for number, channels in enumerate(stage, 1):
            x = layers.Conv2D(
                channels, 3, padding="same", use_bias=False, kernel_initializer="he_normal"
            )(x)
            if number == len(stage):
                x = layers.MaxPooling2D(2)(x)
            x = layers.ReLU()(BatchNormalization(momentum=0.8)(x))
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(10, use_bias=False)(x))


def orthogonal(gradient: tf.Tensor) -> tf.Tensor:
    """About the nearest orthogonal matrix: Muon's step (Jordan et al. 2024).

    Newton and Schulz's iteration pushes all singular values towards 1, so a step
    also moves along the directions in which the gradient is small.
    """
    x = tf.reshape(gradient, (-1, gradient.shape[-1]))
    tall = x.shape[0] > x.shape[1]
    x = tf.transpose(x) if tall else x
    x /= tf.norm(x) + 1e-7
    for _ in range(3):
        a = x @ tf.transpose(x)
        x = 3.4445 * x + (2.0315 * a @ a - 4.775 * a) @ x
    return tf.reshape(tf.transpose(x) if tall else x, gradient.shape)


def update(weight: tf.Variable, velocity: tf.Variable, gradient: tf.Tensor, rate) -> None:
    """One step: Muon for the kernels of inner convolutions, Nesterov's SGD for the rest."""
    if len(weight.shape) == 4 and weight.shape[2] > 1:
        velocity.assign(MUON_MOMENTUM * velocity + gradient)
        step = orthogonal(gradient + MUON_MOMENTUM * velocity)
        # Batch normalisation divides the length of a kernel out, so we can fix it.
        unit = weight * (weight.shape[-1] ** 0.5 / tf.norm(weight))
        weight.assign(unit - MUON_RATE * rate * step)
    else:
        decay = WEIGHT_DECAY if len(weight.shape) == 2 else 0.0
        velocity.assign(SGD_MOMENTUM * velocity + gradient)
        step = gradient + SGD_MOMENTUM * velocity + decay * weight
        weight.assign_sub(SGD_RATE * rate * step)


def train(x: np.ndarray, y: np.ndarray, seed: int):
    """Train on uint8 images and labels; return a function from images to labels."""
    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)
    model = network()
    weights = [variable.value for variable in model.trainable_variables]
    velocities = [tf.Variable(tf.zeros(w.shape)) for w in weights]
    mean, deviation = float(x.mean()), float(x.std())

    def logits(images, training):
        return model((tf.cast(images, "float32") - mean) / deviation, training=training)

    @tf.function
    def step(images, labels, rate):
        target = tf.one_hot(labels, 10) * (1 - SMOOTHING) + SMOOTHING / 10
        with tf.GradientTape() as tape:
            losses = tf.nn.softmax_cross_entropy_with_logits(target, logits(images, True))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, weights)
        for weight, velocity, gradient in zip(weights, velocities, gradients, strict=True):
            update(weight, velocity, gradient, rate)
        return losses

    last_losses = np.full(len(x), np.inf)  # of each image, when it was last trained on
    mirrored = rng.random(len(x)) < 0.5
    later = int(LATER_PART * len(x)) // BATCH
    batches_of_epoch = [len(x) // BATCH] + (EPOCHS - 1) * [later]
    done, steps = 0, sum(batches_of_epoch)
    for number in batches_of_epoch:
        hardest = np.argsort(-last_losses, kind="stable")[: number * BATCH]
        for i in rng.permutation(hardest).reshape(number, BATCH):
            images = np.where(mirrored[i, None, None, None], x[i, :, ::-1], x[i])
            part = done / steps
            rate = min(part / WARM_UP, (1 - part) / (1 - WARM_UP))
            losses = step(images, y[i].astype("int32"), tf.constant(rate, "float32"))
            last_losses[i] = losses.numpy()
            mirrored[i] = ~mirrored[i]
            done += 1

    @tf.function(input_signature=[tf.TensorSpec((None, 28, 28, 1), "uint8")])
    def scores(images):
        # The mirror image is a second opinion.
        return logits(images, False) + logits(images[:, :, ::-1], False)

    def predict(images: np.ndarray) -> np.ndarray:
        parts = [scores(images[i : i + 500]) for i in range(0, len(images), 500)]
        return np.argmax(np.concatenate(parts), axis=1)

    return predict
