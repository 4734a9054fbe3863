"""The input pipeline: uint8 batches from the host, augmentation on the device."""

from typing import TYPE_CHECKING

import keras
import numpy as np
from keras import layers, ops

if TYPE_CHECKING:
    import tensorflow as tf


def batches(
    images: np.ndarray,
    labels: np.ndarray,
    batch_size: int,
    seed: int | None = None,
    repeat: bool = False,
    drop_remainder: bool = False,
) -> "tf.data.Dataset":
    """Serve whole batches of images, in a new random order in every epoch.

    It shuffles indices and gathers the images of a whole batch: for the host, moving
    whole batches of bytes costs a fraction of moving single float images.

    Parameters
    ----------
    images : uint8 array, shape (n, height, width, channels)
    labels : integer array, shape (n,)
    batch_size : int
        The last batch is smaller unless `drop_remainder`.
    seed : int, optional
        Shuffle with this seed; None keeps the order, for validation.
    repeat : bool
        Start again after the last image, without end.
    drop_remainder : bool
        Leave out the last batch if it is smaller.

    Returns
    -------
    tf.data.Dataset
        Of pairs: uint8 (batch, height, width, channels) and float32 one-hot
        labels (batch, 10).
    """
    # Imported here: everything else in this module runs on any Keras backend.
    import tensorflow as tf

    n = len(images)
    all_images = tf.constant(images)
    one_hot = tf.constant(np.eye(10, dtype="float32")[labels])
    indices = tf.data.Dataset.range(n)
    if seed is not None:
        indices = indices.shuffle(n, seed=seed)
    if repeat:
        indices = indices.repeat()
    # TensorFlow 2.21 tunes buffers in a thread that sleeps twice as long each time;
    # an epoch that ends during its sleep waits for it, for seconds.
    options = tf.data.Options()
    options.autotune.enabled = False
    return (
        indices.batch(batch_size, drop_remainder=drop_remainder)
        .map(lambda i: (tf.gather(all_images, i), tf.gather(one_hot, i)))
        .prefetch(2)
        .with_options(options)
    )


class RandomFlipShift(layers.Layer):
    """Flip images left to right and shift them by random, fractional numbers of pixels.

    The transform of Keras' old ``ImageDataGenerator``: each image separately,
    shifts uniform and not rounded to whole pixels, bilinear interpolation, and
    the nearest edge pixel where the shifted image ends. A shift along one axis
    is a matrix with two entries a row, so a batch is shifted by two batched
    matrix products.

    Parameters
    ----------
    shift : float
        Largest shift, as a fraction of the height and of the width.
    flip : bool
        Whether half the images, drawn at random, are flipped.
    seed : int, optional

    Notes
    -----
    Call: images (batch, height, width, channels) of any number type, gives
    float32 of the same shape. Without ``training=True`` nothing moves.
    """

    def __init__(
        self, shift: float = 0.2, flip: bool = True, seed: int | None = None, **kwargs
    ) -> None:
        super().__init__(dtype="float32", **kwargs)
        self.shift, self.flip = shift, flip
        self.random = keras.random.SeedGenerator(seed)

    def call(self, images: keras.KerasTensor, training: bool = False) -> keras.KerasTensor:
        images = ops.cast(images, "float32")
        if not training:
            return images
        batch, height, width, _ = ops.shape(images)
        draws = keras.random.uniform((3, batch), -1, 1, seed=self.random)
        flip = draws[2] > 0 if self.flip else ops.zeros((batch,), "bool")
        return shift_and_flip(
            images, draws[0] * self.shift * height, draws[1] * self.shift * width, flip
        )


def shift_and_flip(
    images: keras.KerasTensor,
    down: keras.KerasTensor,
    right: keras.KerasTensor,
    flip: keras.KerasTensor,
) -> keras.KerasTensor:
    """Sample each image at positions moved by `down` rows and `right` columns.

    Parameters
    ----------
    images : float32 (batch, height, width, channels)
    down, right : float32 (batch,)
        In pixels; where the sample falls between pixels it is interpolated.
    flip : bool (batch,)
        Flip left to right, after the shift.

    Returns
    -------
    float32 (batch, height, width, channels)
    """
    _, height, width, _ = images.shape
    rows = _interpolation(height, down, ops.zeros_like(flip))
    columns = _interpolation(width, right, flip)
    if images.shape[3] == 1:  # half the time of the general product
        x = ops.matmul(rows, images[..., 0])
        return ops.matmul(x, ops.transpose(columns, (0, 2, 1)))[..., None]
    return ops.einsum("bij,bjkc,blk->bilc", rows, images, columns)


def _interpolation(size, shift, flip):
    """Matrices (batch, size, size) whose row i samples an axis at i + shift."""
    pixel = ops.arange(size, dtype="float32")
    start = ops.where(flip[:, None], size - 1 - pixel, pixel)
    position = ops.clip(start + shift[:, None], 0, size - 1)
    return ops.relu(1 - ops.abs(position[:, :, None] - pixel))


def with_preprocessing(
    network: keras.Model,
    x_train: np.ndarray,
    shift: float = 0.2,
    flip: bool = True,
    seed: int | None = None,
) -> keras.Model:
    """Put augmentation and feature-wise scaling in front of a network.

    Parameters
    ----------
    network : keras.Model
        Takes centred and scaled images.
    x_train : uint8 array (n, height, width, channels)
        The images whose mean and standard deviation are used.
    shift, flip, seed
        As in `RandomFlipShift`; without shift and flip there is no such layer.

    Returns
    -------
    keras.Model
        Takes uint8 images, so only a quarter of the bytes go to the device.
    """
    # Per channel over all images and pixels, as ImageDataGenerator does it.
    mean = float(x_train.mean(dtype="float64"))
    scale = float(x_train.std(dtype="float64"))
    inputs = keras.Input(x_train.shape[1:], dtype="uint8")
    x = RandomFlipShift(shift, flip, seed)(inputs) if shift or flip else inputs
    x = layers.Rescaling(1 / scale, -mean / scale, dtype="float32")(x)
    return keras.Model(inputs, network(x), name=network.name)
