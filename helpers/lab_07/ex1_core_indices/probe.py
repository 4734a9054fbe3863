"""Exercise 7.1: drives an answer, expects nothing."""

from collections.abc import Callable

import numpy as np


def probe(answer: Callable, question: dict, wait: Callable) -> dict:
    """Ask for the images of each core, in an order that no core can rely on."""
    return {
        "cases": [
            [
                _plain(answer(core, *sizes, epoch, seed))
                for core, epoch, seed in case["calls"]
            ]
            for case in question["cases"]
            for sizes in [[case[name] for name in ("replicas", "images", "batch_size")]]
        ]
    }


def _plain(returned):
    try:
        array = np.asarray(returned)
    except ValueError:  # rows of different lengths
        return {"shape": None, "indices": None}
    whole = array.dtype.kind in "iu" and array.ndim == 2
    return {"shape": list(array.shape), "indices": array.tolist() if whole else None}
