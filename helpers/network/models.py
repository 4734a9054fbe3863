"""The model factory: networks that the labs train."""

from collections.abc import Callable

import keras
from keras import layers

from helpers.network.batch_norm import BatchNormalization


def conv_bn_relu(x: keras.KerasTensor, channels: int) -> keras.KerasTensor:
    """A 3x3 convolution, batch normalisation and ReLU."""
    x = layers.Conv2D(channels, 3, padding="same")(x)
    # Keras' layer, computed by one kernel: see helpers/network/batch_norm.py. Its .99
    # averages over hundreds of steps: after a short epoch with a large batch, validation
    # would still see the statistics of the start.
    x = BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


def original_conv_bn_relu(x: keras.KerasTensor, channels: int) -> keras.KerasTensor:
    """The same with Keras' own layer, to compare with."""
    x = layers.Conv2D(channels, 3, padding="same")(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


def lean_conv_bn_relu(x: keras.KerasTensor, channels: int) -> keras.KerasTensor:
    """The same without a bias, which batch normalisation would take out again."""
    x = layers.Conv2D(
        channels, 3, padding="same", use_bias=False, kernel_initializer="he_normal"
    )(x)
    x = BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


def wide_resnet(
    depth: int = 16,
    width: int = 10,
    input_shape: tuple[int, int, int] = (28, 28, 1),
    classes: int = 10,
    dropout: float = 0.01,
    stem_pool: int = 1,
    unit: Callable = conv_bn_relu,
) -> keras.Model:
    """Build a wide residual network, WRN-depth-width, not compiled.

    Three stages of ``(depth - 4) / 6`` blocks each. This variant halves the
    image by max pooling between the stages, where the paper uses strides, and its
    blocks end in ReLU before the addition, where the paper's begin with ReLU.

    Parameters
    ----------
    depth : int
        Convolutions, including those of the shortcuts: ``6n + 4``, as 10, 16, 22.
    width : int
        Channels of the stages are 16, 32 and 64 times this.
    input_shape : tuple of int
        Height, width and channels of an image, both sides at least 4 pixels.
    classes : int
        Size of the softmax output.
    dropout : float
        Rate inside each block, in [0, 1).
    stem_pool : int
        Max pooling after the first convolution, which adds no parameters: 2
        leaves a quarter of the work. 1, as in the paper, pools nothing.
    unit : callable
        Takes a tensor and a number of channels, gives a tensor: a 3x3 convolution,
        batch normalisation and ReLU. `conv_bn_relu` or one of its variants here.

    Returns
    -------
    keras.Model
        From float images (batch, height, width, channels) to class
        probabilities (batch, classes), float32.

    Raises
    ------
    ValueError
        If an argument breaks its rule; the message states the rule.

    References
    ----------
    Zagoruyko & Komodakis, "Wide Residual Networks", BMVC 2016.
    """
    require(
        isinstance(depth, int) and depth >= 10 and (depth - 4) % 6 == 0,
        f"depth must be 6n + 4 (10, 16, 22, ...), not {depth!r}",
    )
    require_whole("width", width, 1)
    require_whole("classes", classes, 2)
    require_image(input_shape, 4)
    require(0 <= dropout < 1, f"dropout must lie in [0, 1), not {dropout!r}")

    require(
        min(input_shape[:2]) >= 4 * stem_pool >= 4,
        f"stem_pool must be 1 or more and leave 4 pixels a side, not {stem_pool!r}",
    )

    inputs = keras.Input(input_shape)
    x = unit(inputs, 16)
    if stem_pool > 1:
        x = layers.MaxPooling2D(stem_pool)(x)
    x = three_stages(x, depth, width, dropout, unit)
    x = layers.GlobalAveragePooling2D()(x)
    # float32 whatever the dtype policy: a softmax in bfloat16 loses accuracy.
    outputs = layers.Dense(classes, activation="softmax", dtype="float32")(x)
    return keras.Model(inputs, outputs, name=f"wrn_{depth}_{width}")


def plain_network(unit: Callable = lean_conv_bn_relu) -> keras.Model:
    """Three convolutions, each after a pooling: small, so that it trains in seconds.

    Parameters
    ----------
    unit : callable
        As in `wide_resnet`.

    Returns
    -------
    keras.Model
        Of the same form as `wide_resnet`, for 28 x 28 grey images of ten classes.
    """
    inputs = x = keras.Input((28, 28, 1))
    for channels in (16, 32, 64):
        x = unit(layers.MaxPooling2D(2)(x), channels)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(10, activation="softmax", dtype="float32")(x)
    return keras.Model(inputs, outputs, name="plain")


def three_stages(
    x: keras.KerasTensor, depth: int, width: int, dropout: float, unit: Callable
) -> keras.KerasTensor:
    """Residual blocks with 16, 32 and 64 times `width` channels, pooled between."""
    for stage, channels in enumerate((16 * width, 32 * width, 64 * width)):
        if stage:
            x = layers.MaxPooling2D(2)(x)
        # The channels change here: a 1x1 convolution makes the shortcut fit.
        shortcut = layers.Conv2D(channels, 1, padding="same")(x)
        for _ in range((depth - 4) // 6):
            x = shortcut = residual_block(x, shortcut, channels, dropout, unit)
    return x


def residual_block(
    x: keras.KerasTensor,
    shortcut: keras.KerasTensor,
    channels: int,
    dropout: float,
    unit: Callable,
) -> keras.KerasTensor:
    """Two units, as `conv_bn_relu`, whose result is added to the shortcut around them."""
    x = unit(x, channels)
    x = layers.Dropout(dropout)(x)
    x = unit(x, channels)
    return layers.Add()([x, shortcut])


def require(condition: bool, rule: str) -> None:
    if not condition:
        raise ValueError(rule)


def require_image(input_shape: tuple[int, ...], least: int) -> None:
    is_right = len(input_shape) == 3 and min(input_shape[:2]) >= least
    rule = f"(height, width, channels) with sides of at least {least}"
    require(is_right, f"input_shape must be {rule}, not {input_shape!r}")


def require_whole(name: str, value: object, low: int) -> None:
    is_right = isinstance(value, int) and value >= low
    require(is_right, f"{name} must be a whole number from {low} up, not {value!r}")
