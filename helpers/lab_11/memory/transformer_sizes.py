"""Count by hand the parameters of a transformer, and the bytes of its activations."""

from typing import NamedTuple

VALUE_BYTES = 4  # of float32


class Sizes(NamedTuple):
    """A decoder as in `helpers.lab_11.memory.transformer`, and its batch."""

    blocks: int
    width: int
    heads: int
    words: int  # in a sequence
    vocabulary: int
    batch_size: int  # sequences in a step

    @property
    def decoder(self) -> dict[str, int]:
        """The arguments of `helpers.lab_11.memory.transformer.decoder`."""
        return {k: v for k, v in self._asdict().items() if k != "batch_size"}

    @property
    def tokens(self) -> int:
        """Words in a step."""
        return self.batch_size * self.words


def parameters(sizes: Sizes) -> int:
    """All parameters of the decoder."""
    dense = 12 * sizes.blocks * sizes.width**2 + sizes.width * sizes.vocabulary
    norms = (4 * sizes.blocks + 2) * sizes.width
    embeddings = (sizes.vocabulary + sizes.words) * sizes.width
    return dense + norms + embeddings


def block_bytes(sizes: Sizes) -> list[tuple[int, int]]:
    """Bytes of (input, inside) for each block, and for the layers that follow them.

    A block's inside consists of what its gradients are computed from, once each: the
    outputs of both norms, queries, keys and values, the shares of the attention, the values
    that they mix, the sum in the middle of the block, and the layer of four times the
    width before and after its ReLU. After the blocks come the output of the last norm and
    a probability for each word of the vocabulary.
    """
    array = sizes.tokens * sizes.width * VALUE_BYTES
    shares = sizes.tokens * sizes.heads * sizes.words * VALUE_BYTES
    probabilities = sizes.tokens * sizes.vocabulary * VALUE_BYTES
    blocks = [(array, 15 * array + shares)] * sizes.blocks
    return [*blocks, (array, array + probabilities)]


class Llama(NamedTuple):
    """Llama 3 70B, as table 3 of its paper (arXiv 2407.21783) describes it."""

    blocks: int = 80
    width: int = 8192
    wide: int = 28_672  # the layer inside of a block
    heads: int = 64
    shared_heads: int = 8  # for keys and values
    vocabulary: int = 128_256
    words: int = 8192


def llama_parameters(llama: Llama) -> int:
    """All parameters: each block has four matrices for the attention, and three others."""
    shared = llama.width * llama.shared_heads // llama.heads
    attention = 2 * llama.width**2 + 2 * llama.width * shared
    block = attention + 3 * llama.width * llama.wide + 2 * llama.width
    return llama.blocks * block + 2 * llama.vocabulary * llama.width + llama.width


def llama_block_bytes(llama: Llama) -> list[tuple[int, int]]:
    """Bytes of (input, inside) of each block for one sequence, with 2 bytes a value.

    Counted as in `block_bytes`, but the shares of the attention are never stored, as in
    FlashAttention (arXiv 2205.14135).
    """
    shared = llama.width * llama.shared_heads // llama.heads
    inside = 5 * llama.width + 2 * shared + 3 * llama.wide
    return [(2 * llama.words * llama.width, 2 * llama.words * inside)] * llama.blocks
