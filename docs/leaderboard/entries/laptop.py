"""Fashion-MNIST to .93: the sprint's optimizer on a plain, wider network, with flips.

authors: Scaling Labs
target: laptop
based on: the sprint

After pooling, each stage has two convolutions. At 28 x 28 pixels there is only one,
because there a convolution moves four times as many bytes. The images are flipped in
every other epoch, and predicting adds the scores of an image and its mirror image.
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from helpers.network.batch_norm import BatchNormalization

EPOCHS = 3
BATCH = 128
CHANNELS = ((32,), (64, 64), (128, 128))  # of each stage; every stage halves the image
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


def batches(x: np.ndarray, y: np.ndarray, seed: int):
    """Yield shuffled batches; from one epoch to the next each image is flipped over."""
    rng = np.random.default_rng(seed)
    flipped = rng.random(len(x)) < 0.5
    while True:
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            i = order[start : start + BATCH]
            mirrored = flipped[i, None, None, None]
            yield np.where(mirrored, x[i, :, ::-1], x[i]), y[i].astype("int32")
        flipped = ~flipped


def train(x: np.ndarray, y: np.ndarray, seed: int):
    """Train on uint8 images and labels; return a function from images to labels."""
    keras.utils.set_random_seed(seed)
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

    steps = int(EPOCHS * (len(x) // BATCH))
    for done, (images, labels) in zip(range(steps), batches(x, y, seed), strict=False):
        part = done / steps
        rate = min(part / WARM_UP, (1 - part) / (1 - WARM_UP))
        step(tf.constant(images), tf.constant(labels), tf.constant(rate, "float32"))

    @tf.function(input_signature=[tf.TensorSpec((None, 28, 28, 1), "uint8")])
    def scores(images):
        # The mirror image is a second opinion.
        return logits(images, False) + logits(images[:, :, ::-1], False)

    def predict(images: np.ndarray) -> np.ndarray:
        parts = [scores(images[i : i + 500]) for i in range(0, len(images), 500)]
        return np.argmax(np.concatenate(parts), axis=1)

    return predict
