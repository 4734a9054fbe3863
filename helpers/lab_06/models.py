"""The network of lab 06: MobileNetV2 for grey images."""

import keras
from keras import layers

from helpers.network.models import require, require_whole

# The widths that keras.applications knows.
MOBILENET_ALPHAS = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)


def mobilenet_v2(image_size: int, classes: int = 10, alpha: float = 1.0) -> keras.Model:
    """Build MobileNetV2 with random weights for grey images, not compiled.

    The first layers enlarge the image and repeat it to three channels; the last
    ones pool, and classify with one hidden layer.

    Parameters
    ----------
    image_size : int
        Height and width that images are resized to. The network halves them five
        times, then pools two by two: at least 33 pixels, 64 to use all of them.
    classes : int
        Size of the softmax output.
    alpha : float
        Multiplies the channels of all layers: 0.35, 0.5, 0.75, 1.0, 1.3 or 1.4.

    Returns
    -------
    keras.Model
        From grey images (batch, height, width, 1), numbers from 0 to 255, to class
        probabilities (batch, classes), float32.

    Raises
    ------
    ValueError
        If an argument breaks its rule; the message states the rule.

    References
    ----------
    Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018.
    """
    require_whole("image_size", image_size, 33)
    require_whole("classes", classes, 2)
    require(
        alpha in MOBILENET_ALPHAS,
        f"alpha must be one of {', '.join(map(str, MOBILENET_ALPHAS))}, not {alpha!r}",
    )
    shape = (image_size, image_size, 3)
    network = keras.applications.MobileNetV2(
        shape, alpha=alpha, include_top=False, weights=None
    )
    for layer in network.layers:
        if isinstance(layer, layers.BatchNormalization):
            # Keras sets 0.999, which averages over thousands of steps, so that a short
            # training would be validated with the statistics of its start.
            layer.momentum = 0.9

    inputs = keras.Input((None, None, 1))
    outputs = enlarge_and_classify(inputs, network, image_size, classes)
    return keras.Model(inputs, outputs, name=f"mobilenet_v2_{alpha:g}_{image_size}")


def enlarge_and_classify(
    x: keras.KerasTensor, network: keras.Model, image_size: int, classes: int
) -> keras.KerasTensor:
    """The layers around a network for colour images, so that it takes grey ones."""
    x = layers.Rescaling(1 / 127.5, -1.0)(x)
    x = layers.Resizing(image_size, image_size)(x)
    x = network(layers.Concatenate()([x, x, x]))
    x = layers.AveragePooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(512, activation="relu")(x)
    # float32 whatever the dtype policy: a softmax in bfloat16 loses accuracy.
    return layers.Dense(classes, activation="softmax", dtype="float32")(x)
