"""Sequences of words from Reuters newswires, which the decoder learns to continue."""

from collections.abc import Iterable

import numpy as np

from helpers.data.reuters import UNKNOWN


def draw(
    newswires: Iterable[list[int]], count: int, words: int, vocabulary: int, seed: int
) -> list[list[int]]:
    """Pieces of the text, from random places.

    Parameters
    ----------
    newswires : iterable of list of int
        Word numbers; they follow each other as one text.
    count : int
        Sequences in the batch.
    words : int
        In a sequence. Each gets one more, because every word but the first is predicted.
    vocabulary : int
        A word number that is not below this becomes 2, "unknown".
    seed : int

    Returns
    -------
    list of list of int
        Shaped (count, words + 1), as plain JSON.
    """
    text = np.concatenate([np.array(one, "int32") for one in newswires])
    text[text >= vocabulary] = UNKNOWN
    begins = np.random.default_rng(seed).integers(0, len(text) - words, count)
    return [text[begin : begin + words + 1].tolist() for begin in begins]
