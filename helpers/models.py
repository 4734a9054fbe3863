"""The model factory: networks that the labs train."""

import keras
from keras import layers

# The widths that keras.applications knows.
MOBILENET_ALPHAS = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)


def wide_resnet(
    depth=16,
    width=10,
    input_shape=(28, 28, 1),
    classes=10,
    dropout=0.01,
    stem_pool=1,
):
    """Build a wide residual network, WRN-depth-width, not compiled.

    Three stages of ``(depth - 4) / 6`` blocks each. This variant halves the
    image by max pooling between the stages, where the paper uses strides.

    Parameters
    ----------
    depth : int
        Convolutions, those of the shortcuts included: ``6n + 4``, as 10, 16, 22.
    width : int
        Channels of the stages are 16, 32 and 64 times this.
    input_shape : tuple of int
        Height, width and channels of an image, both sides at least 4 pixels.
    classes : int
        Size of the softmax output.
    dropout : float
        Rate inside each block, in [0, 1).
    stem_pool : int
        Max pooling after the first convolution, which costs no parameter: 2
        leaves a quarter of the work. 1, as in the paper, pools nothing.

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
    _require(
        isinstance(depth, int) and depth >= 10 and (depth - 4) % 6 == 0,
        f"depth must be 6n+4 (10, 16, 22, ...), not {depth!r}",
    )
    _require(
        isinstance(width, int) and width >= 1,
        f"width must be a whole number from 1 up, not {width!r}",
    )
    _require(
        isinstance(classes, int) and classes >= 2,
        f"classes must be a whole number from 2 up, not {classes!r}",
    )
    _require(
        len(input_shape) == 3 and min(input_shape[:2]) >= 4,
        "input_shape must be (height, width, channels) with sides of at least 4, "
        f"not {input_shape!r}",
    )
    _require(0 <= dropout < 1, f"dropout must lie in [0, 1), not {dropout!r}")

    _require(
        min(input_shape[:2]) >= 4 * stem_pool >= 4,
        f"stem_pool must be 1 or more and leave 4 pixels a side, not {stem_pool!r}",
    )

    inputs = keras.Input(input_shape)
    x = conv_bn_relu(inputs, 16)
    if stem_pool > 1:
        x = layers.MaxPooling2D(stem_pool)(x)
    x = three_stages(x, depth, width, dropout)
    x = layers.GlobalAveragePooling2D()(x)
    # float32 whatever the dtype policy: a softmax in bfloat16 loses accuracy.
    outputs = layers.Dense(classes, activation="softmax", dtype="float32")(x)
    return keras.Model(inputs, outputs, name=f"wrn_{depth}_{width}")


def three_stages(x, depth, width, dropout):
    """Residual blocks with 16, 32 and 64 times `width` channels, pooled between."""
    for stage, channels in enumerate((16 * width, 32 * width, 64 * width)):
        if stage:
            x = layers.MaxPooling2D(2)(x)
        # The channels change here: a 1x1 convolution makes the shortcut fit.
        shortcut = layers.Conv2D(channels, 1, padding="same")(x)
        for _ in range((depth - 4) // 6):
            x = shortcut = residual_block(x, shortcut, channels, dropout)
    return x


def residual_block(x, shortcut, channels, dropout):
    """Two convolutions whose result is added to the shortcut around them."""
    x = conv_bn_relu(x, channels)
    x = layers.Dropout(dropout)(x)
    x = conv_bn_relu(x, channels)
    return layers.Add()([x, shortcut])


def conv_bn_relu(x, channels):
    """A 3x3 convolution, batch normalisation and ReLU."""
    x = layers.Conv2D(channels, 3, padding="same")(x)
    # Keras' .99 averages over hundreds of steps: after a short epoch with a large
    # batch, validation would still see the statistics of the start.
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


def text_cnn(vocabulary=30_982, classes=46, words=300):
    """Build a small convolutional network for texts, not compiled.

    A word becomes 7 numbers that are learned; two convolutions look at five and
    at three neighbours, each followed by max pooling.

    Parameters
    ----------
    vocabulary : int
        Word numbers are below this.
    classes : int
        Size of the softmax output.
    words : int
        Length of every text, padded or cut; at least 12.

    Returns
    -------
    keras.Model
        From word numbers (batch, words) to class probabilities (batch,
        classes), float32.

    Raises
    ------
    ValueError
        If an argument breaks its rule; the message states the rule.

    References
    ----------
    Kim, "Convolutional Neural Networks for Sentence Classification", EMNLP 2014.
    """
    for name, value, low in (
        ("vocabulary", vocabulary, 1),
        ("classes", classes, 2),
        ("words", words, 12),  # which leave one position to the last layer
    ):
        _require(
            isinstance(value, int) and value >= low,
            f"{name} must be a whole number from {low} up, not {value!r}",
        )
    inputs = keras.Input((words,), dtype="int32")
    x = look_at_neighbours(inputs, vocabulary)
    # float32 whatever the dtype policy: a softmax in bfloat16 loses accuracy.
    outputs = layers.Dense(classes, activation="softmax", dtype="float32")(x)
    return keras.Model(inputs, outputs, name="text_cnn")


def look_at_neighbours(x, vocabulary):
    """Seven numbers a word, then five and three neighbours at a time, pooled."""
    x = layers.Embedding(vocabulary, 7)(x)
    x = layers.Conv1D(64, 5, activation="relu")(x)
    x = layers.MaxPool1D(2)(x)
    x = layers.Conv1D(32, 3, activation="relu")(x)
    x = layers.MaxPool1D(2)(x)
    return layers.Flatten()(x)


def small_cnn(input_shape=(28, 28, 1), classes=10):
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
    _require(
        len(input_shape) == 3 and min(input_shape[:2]) >= 16,
        "input_shape must be (height, width, channels) with sides of at least 16, "
        f"not {input_shape!r}",
    )
    _require(
        isinstance(classes, int) and classes >= 2,
        f"classes must be a whole number from 2 up, not {classes!r}",
    )
    inputs = keras.Input(input_shape)
    x = conv_pool_relu_bn(inputs, 10)
    x = conv_pool_relu_bn(x, 20)
    x = layers.Flatten()(x)
    x = layers.Dense(50, activation="relu")(x)
    outputs = layers.Dense(classes, dtype="float32")(x)
    return keras.Model(inputs, outputs, name="small_cnn")


def conv_pool_relu_bn(x, channels):
    """A 5x5 convolution, 2x2 max pooling, ReLU and batch normalisation."""
    x = layers.Conv2D(channels, 5)(x)
    x = layers.MaxPooling2D(2)(x)
    x = layers.ReLU()(x)
    # Keras' .99 would average over more steps than an epoch has here.
    return layers.BatchNormalization(momentum=0.9)(x)


def mobilenet_v2(image_size, classes=10, alpha=1.0):
    """Build MobileNetV2 with random weights for grey images, not compiled.

    The first layers enlarge the image and repeat it to three channels; the last
    ones pool, and classify with one hidden layer.

    Parameters
    ----------
    image_size : int
        Height and width that images are resized to. The network halves them five
        times and pools twice two of what remains: 33 pixels and up, 64 to use all.
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
    _require(
        isinstance(image_size, int) and image_size >= 33,
        f"image_size must be a whole number from 33 up, not {image_size!r}",
    )
    _require(
        isinstance(classes, int) and classes >= 2,
        f"classes must be a whole number from 2 up, not {classes!r}",
    )
    _require(
        alpha in MOBILENET_ALPHAS,
        f"alpha must be one of {', '.join(map(str, MOBILENET_ALPHAS))}, not {alpha!r}",
    )
    shape = (image_size, image_size, 3)
    network = keras.applications.MobileNetV2(
        shape, alpha=alpha, include_top=False, weights=None
    )
    for layer in network.layers:
        if isinstance(layer, layers.BatchNormalization):
            # Keras' .999 here averages over thousands of steps: a short training
            # would be validated with the statistics of the start.
            layer.momentum = 0.9

    inputs = keras.Input((None, None, 1))
    outputs = enlarge_and_classify(inputs, network, image_size, classes)
    return keras.Model(inputs, outputs, name=f"mobilenet_v2_{alpha:g}_{image_size}")


def enlarge_and_classify(x, network, image_size, classes):
    """What stands before and behind a network for colour images, for grey ones."""
    x = layers.Rescaling(1 / 127.5, -1.0)(x)
    x = layers.Resizing(image_size, image_size)(x)
    x = network(layers.Concatenate()([x, x, x]))
    x = layers.AveragePooling2D(2)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(512, activation="relu")(x)
    # float32 whatever the dtype policy: a softmax in bfloat16 loses accuracy.
    return layers.Dense(classes, activation="softmax", dtype="float32")(x)


def _require(condition, rule):
    if not condition:
        raise ValueError(rule)
