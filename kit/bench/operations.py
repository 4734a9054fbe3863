"""How many operations a network's convolutions take in a training step."""

import math
from collections import Counter

import keras


def convolutions_of(network: keras.Model) -> Counter[tuple]:
    """How often each convolution is in a network.

    Returns
    -------
    Counter
        By the shapes of one input (height, width, channels) and of the kernel, and
        whether a training step needs the gradient of the input: of images it does not.
    """
    return Counter(
        (layer.input.shape[1:], tuple(layer.kernel.shape), layer.input is not network.input)
        for layer in network.layers
        if isinstance(layer, keras.layers.Conv2D)
    )


def operations_per_image(network: keras.Model) -> int:
    """Multiplications and additions of the convolutions in a training step."""
    operations = 0
    for (shape, kernel, inner), count in convolutions_of(network).items():
        passes = 2 + inner  # forward, for the kernel's gradient, and for the input's
        operations += count * passes * 2 * shape[0] * shape[1] * math.prod(kernel)
    return operations
