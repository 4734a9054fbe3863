"""The network of lab 04, for texts."""

import keras
from keras import layers

from helpers.network.models import require_whole


def text_cnn(vocabulary: int = 30_982, classes: int = 46, words: int = 300) -> keras.Model:
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
    require_whole("vocabulary", vocabulary, 1)
    require_whole("classes", classes, 2)
    require_whole("words", words, 12)  # which leave one position to the last layer
    inputs = keras.Input((words,), dtype="int32")
    x = look_at_neighbours(inputs, vocabulary)
    # float32 whatever the dtype policy: a softmax in bfloat16 loses accuracy.
    outputs = layers.Dense(classes, activation="softmax", dtype="float32")(x)
    return keras.Model(inputs, outputs, name="text_cnn")


def look_at_neighbours(x: keras.KerasTensor, vocabulary: int) -> keras.KerasTensor:
    """Seven numbers a word, then five and three neighbours at a time, pooled."""
    x = layers.Embedding(vocabulary, 7)(x)
    x = layers.Conv1D(64, 5, activation="relu")(x)
    x = layers.MaxPool1D(2)(x)
    x = layers.Conv1D(32, 3, activation="relu")(x)
    x = layers.MaxPool1D(2)(x)
    return layers.Flatten()(x)
