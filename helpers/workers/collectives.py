"""The ring all-reduce of lab 09, and its two halves, each by itself."""

from collections.abc import Callable

import numpy as np


def ring_all_reduce(
    array: np.ndarray, rank: int, workers: int, send: Callable, receive: Callable
) -> np.ndarray:
    """Add up the arrays of all workers, one half after the other.

    Parameters
    ----------
    array : numpy.ndarray
        One axis, equally long for all workers.
    rank, workers : int
    send, receive : callable
        As `helpers.workers.channels.Channels` has them.

    Returns
    -------
    numpy.ndarray
        A new array, the sum.
    """
    ring = rank, workers, send, receive
    return all_gather(reduce_scatter(array, *ring), *ring)


def reduce_scatter(
    array: np.ndarray, rank: int, workers: int, send: Callable, receive: Callable
) -> np.ndarray:
    """Add up the arrays of all workers, and keep one chunk of the sum.

    Parameters
    ----------
    array, rank, workers, send, receive
        As `ring_all_reduce`.

    Returns
    -------
    numpy.ndarray
        The chunk of the sum that `np.array_split` gives to this rank.
    """
    chunks = np.array_split(array, workers)
    after, before = (rank + 1) % workers, (rank - 1) % workers
    total = chunks[before].copy()
    for step in range(workers - 1):
        send(after, total)
        total = receive(before)
        total += chunks[(rank - step - 2) % workers]
    return total


def all_gather(
    chunk: np.ndarray, rank: int, workers: int, send: Callable, receive: Callable
) -> np.ndarray:
    """Join the chunks of all workers: every worker gets the whole array.

    Parameters
    ----------
    chunk : numpy.ndarray
        This worker's own.
    rank, workers : int
    send, receive : callable

    Returns
    -------
    numpy.ndarray
        The chunks in the order of the ranks.
    """
    chunks, after, before = {rank: chunk}, (rank + 1) % workers, (rank - 1) % workers
    for step in range(workers - 1):
        send(after, chunk)
        chunk = chunks[(rank - step - 1) % workers] = receive(before)
    return np.concatenate([chunks[one] for one in range(workers)])
