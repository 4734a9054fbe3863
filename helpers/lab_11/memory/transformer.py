"""The network of lab 11: a small decoder-only transformer.

It imports Keras alone, so that it runs in the notebook and in processes of their own, with
TensorFlow or JAX.
"""

import keras
from keras import layers, ops

DENSE = ("query", "key", "value", "output", "up", "down")  # of a block, in this order
UP = 4  # the layer inside of a block is this many times as wide as its input
NEVER = -1e9  # the score of a word that comes later: its share of the attention is 0


def decoder(
    blocks: int, width: int, heads: int, words: int, vocabulary: int
) -> keras.Model:
    """Build a decoder-only transformer that predicts each word from the words before it.

    Parameters
    ----------
    blocks : int
        How many blocks there are.
    width : int
        Values for each word, between the blocks; a multiple of `heads`.
    heads : int
        Of the attention.
    words : int
        In a sequence.
    vocabulary : int
        Word numbers are below this.

    Returns
    -------
    keras.Model
        From word numbers (batch, words) to logits (batch, words, vocabulary), float32, not
        compiled. The logits at a place depend only on the words up to this place.

    Raises
    ------
    ValueError
        If `width` is no multiple of `heads`.

    Notes
    -----
    The layers are called ``words``, ``places``, ``block_0``, ``block_1`` and so on,
    ``norm``, and ``logits``. So the paths of the weights are

    - ``words/embeddings`` (vocabulary, width) and ``places/embeddings`` (words, width);
    - in each block ``block_0/norm_1/gamma`` and ``beta`` (width,), and ``norm_2``;
    - ``block_0/query/kernel``, ``key``, ``value`` and ``output`` (width, width);
    - ``block_0/up/kernel`` (width, 4 width) and ``block_0/down/kernel`` (4 width, width);
    - ``norm/gamma`` and ``norm/beta`` (width,), and ``logits/kernel`` (width, vocabulary).

    No dense layer has a bias. Columns of ``query``, ``key`` and ``value`` are ordered by
    head, as are the rows of ``output``.
    """
    numbers = keras.Input((words,), dtype="int32")
    x = layers.Embedding(vocabulary, width, name="words")(numbers)
    x = Places(name="places")(x)
    for i in range(blocks):
        x = Block(heads, name=f"block_{i}")(x)
    x = layers.LayerNormalization(epsilon=1e-5, name="norm")(x)
    last = layers.Dense(vocabulary, use_bias=False, dtype="float32", name="logits")
    return keras.Model(numbers, last(x), name="decoder")


class Places(layers.Layer):
    """Add to each word's values a vector for its place, which is learnt."""

    def build(self, input_shape: tuple) -> None:
        self.embeddings = self.add_weight(
            shape=input_shape[1:], initializer="uniform", name="embeddings"
        )

    def call(self, x: keras.KerasTensor) -> keras.KerasTensor:
        """The sum, shaped (batch, words, width)."""
        return x + self.embeddings


class Block(layers.Layer):
    """Attention to the words before, and two dense layers, each added to its own input.

    Parameters
    ----------
    heads : int
        Of the attention.
    """

    def __init__(self, heads: int, **others):
        super().__init__(**others)
        self.heads = heads
        self.norm_1 = layers.LayerNormalization(epsilon=1e-5, name="norm_1")
        self.norm_2 = layers.LayerNormalization(epsilon=1e-5, name="norm_2")

    def build(self, input_shape: tuple) -> None:
        width = input_shape[-1]
        if width % self.heads:
            raise ValueError(
                f"width must be a multiple of heads ({self.heads}), but is {width}."
            )
        self.norm_1.build(input_shape)
        self.norm_2.build(input_shape)
        self.dense = {}
        for name in DENSE:
            inputs = UP * width if name == "down" else width
            outputs = UP * width if name == "up" else width
            layer = layers.Dense(
                outputs, use_bias=False, dtype=self.dtype_policy, name=name
            )
            layer.build((*input_shape[:-1], inputs))
            self.dense[name] = layer

    def call(self, x: keras.KerasTensor) -> keras.KerasTensor:
        """The block's output, shaped like its input (batch, words, width)."""
        x = x + self.attention(self.norm_1(x))
        return x + self.dense["down"](ops.relu(self.dense["up"](self.norm_2(x))))

    def attention(self, x: keras.KerasTensor) -> keras.KerasTensor:
        """For each word, the values of the words up to it, weighted by their scores."""
        words, width = x.shape[1:]
        each = width // self.heads

        def by_head(values):
            values = ops.reshape(values, (-1, words, self.heads, each))
            return ops.transpose(values, (0, 2, 1, 3))

        query, key, value = (
            by_head(self.dense[name](x)) for name in ("query", "key", "value")
        )
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / each**0.5
        places = ops.arange(words)
        later = places[None, :] > places[:, None]
        scores = ops.where(later, ops.cast(NEVER, scores.dtype), scores)
        mixed = ops.matmul(ops.softmax(scores), value)
        mixed = ops.reshape(ops.transpose(mixed, (0, 2, 1, 3)), (-1, words, width))
        return self.dense["output"](mixed)
