"""What answers to several exercises of lab 09 have in common."""

import threading

import numpy as np


# 9.1
def ring(
    array, rank, workers, send, receive, split=np.array_split, into=1, scale=1, rounds=None
):
    """The ring, with what a mistake changes as an argument."""
    chunks = [chunk.copy() for chunk in split(array, workers)]
    after, before = (rank + into) % workers, (rank - into) % workers
    for step in range(workers - 1):
        send(after, chunks[(rank - step * into) % workers])
        chunks[(rank - (step + 1) * into) % workers] += receive(before)
    for chunk in chunks:
        chunk *= scale
    for step in range(workers - 1 if rounds is None else rounds):
        send(after, chunks[(rank + into - step * into) % workers])
        chunks[(rank - step * into) % workers][:] = receive(before)
    return np.concatenate(chunks)


def holds_a_lock():
    lock = threading.Lock()

    def answer(*given):
        with lock:
            return None

    return answer
