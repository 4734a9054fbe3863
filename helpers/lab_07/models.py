"""The small network of lab 07."""

import keras
from keras import layers

from helpers.network.models import require_image, require_whole


def small_cnn(
    input_shape: tuple[int, int, int] = (28, 28, 1), classes: int = 10
) -> keras.Model:
    """Build the small network of lab 07, not compiled.

    Two 5x5 convolutions with 10 and 20 channels, without padding; after each of
    them 2x2 max pooling, ReLU and batch normalisation, in this order; then a dense
    layer of 50 with ReLU, and one value for each class.

    Parameters
    ----------
    input_shape : tuple of int
        Height, width and channels of an image, both sides at least 16 pixels.
    classes : int
        Size of the output.

    Returns
    -------
    keras.Model
        From float images (batch, height, width, channels) to logits (batch,
        classes), float32: there is no softmax.

    Raises
    ------
    ValueError
        If an argument breaks its rule; the message states the rule.

    Notes
    -----
    The network of PyTorch/XLA's MNIST example, with Keras' initial weights.
    """
    require_image(input_shape, 16)
    require_whole("classes", classes, 2)
    inputs = keras.Input(input_shape)
    x = conv_pool_relu_bn(inputs, 10)
    x = conv_pool_relu_bn(x, 20)
    x = layers.Flatten()(x)
    x = layers.Dense(50, activation="relu")(x)
    outputs = layers.Dense(classes, dtype="float32")(x)
    return keras.Model(inputs, outputs, name="small_cnn")


def conv_pool_relu_bn(x: keras.KerasTensor, channels: int) -> keras.KerasTensor:
    """A 5x5 convolution, 2x2 max pooling, ReLU and batch normalisation."""
    x = layers.Conv2D(channels, 5)(x)
    x = layers.MaxPooling2D(2)(x)
    x = layers.ReLU()(x)
    # Keras' .99 would average over more steps than an epoch has here.
    return layers.BatchNormalization(momentum=0.9)(x)
