"""The original lab's way to train, which the kit is compared with."""

import keras
import numpy as np
from keras.src.legacy.preprocessing.image import ImageDataGenerator, NumpyArrayIterator

from helpers.network.models import original_conv_bn_relu, wide_resnet

BATCH = 32
# Of 40 epochs; the learning rate is divided by 10 after each of these.
DROP_EPOCHS = (15, 25, 35)


def original_generator(x: np.ndarray) -> ImageDataGenerator:
    """ImageDataGenerator with the original lab's settings, fitted to the images."""
    generator = ImageDataGenerator(
        featurewise_center=True,
        featurewise_std_normalization=True,
        horizontal_flip=True,
        width_shift_range=0.2,
        height_shift_range=0.2,
    )
    generator.fit(x.astype("float32"))
    return generator


def original_flow(
    x: np.ndarray, y: np.ndarray, seed: int | None = None
) -> NumpyArrayIterator:
    """The generator's batches, forever."""
    images, labels = x.astype("float32"), keras.utils.to_categorical(y, 10)
    return original_generator(x).flow(images, labels, batch_size=BATCH, seed=seed)


def original_model(depth: int, width: int, steps_per_epoch: int) -> keras.Model:
    """WRN-`depth`-`width` with Keras' batch normalisation and dropout, compiled; float32.

    The network takes images that are centred and scaled already.
    """
    network = wide_resnet(depth, width, unit=original_conv_bn_relu)
    rate = keras.optimizers.schedules.PiecewiseConstantDecay(
        [epoch * steps_per_epoch for epoch in DROP_EPOCHS], [1e-2, 1e-3, 1e-4, 1e-5]
    )
    network.compile(
        keras.optimizers.SGD(rate, weight_decay=5e-6),
        "categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=False,
    )
    return network
