"""A worker that sends gradients in buckets while it computes.

``python -m helpers.lab_10.workers.buckets FOLDER`` is one of the workers, as `TF_CONFIG`
says. To compute is to sleep here, so that the workers do not take each other's cores.
"""

import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from helpers.workers import own_task
from helpers.workers.channels import Channels
from helpers.workers.collectives import ring_all_reduce


def main(folder: Path) -> None:
    """Do the steps that `bucket_speeds.measure` asks for."""
    asked, _, addresses, rank = own_task.read(folder)
    channels = Channels(addresses, rank, **asked["link"])

    def all_reduce(array):
        return ring_all_reduce(array, rank, len(addresses), channels.send, channels.receive)

    all_reduce(np.ones(len(addresses), "float32"))  # everybody is connected
    seconds = [[] for _ in asked["bucket_bytes"]]
    # All sizes in each round, so that a busy spell of the machine does not meet only one.
    for _ in range(asked["repeats"]):
        for took, bucket_bytes in zip(seconds, asked["bucket_bytes"], strict=True):
            packed = pack(asked["gradient_bytes"], asked["ready_at"], bucket_bytes)
            all_reduce(np.ones(len(addresses), "float32"))  # everybody is here
            took.append(step_seconds(packed, all_reduce))
    # A worker that ended early would close what its neighbour still reads from.
    all_reduce(np.ones(len(addresses), "float32"))
    own_task.reply(folder, rank, seconds)


def pack(
    gradient_bytes: Sequence[int], ready_at: Sequence[float], bucket_bytes: float
) -> list[tuple[float, int]]:
    """Buckets of at least this many bytes, as pairs: when one is full, and its bytes."""
    buckets, held = [], 0
    for size, ready in zip(gradient_bytes, ready_at, strict=True):
        held += size
        if held >= bucket_bytes:
            buckets.append((ready, held))
            held = 0
    if held:
        buckets.append((ready_at[-1], held))
    return buckets


def step_seconds(packed: Sequence[tuple[float, int]], all_reduce: Callable) -> float:
    """Seconds from the start of backward until the last bucket has been added up."""
    full = queue.SimpleQueue()

    def send_all():
        for _ in packed:
            all_reduce(full.get())

    arrays = [np.ones(size // 4, "float32") for _, size in packed]
    sender = threading.Thread(target=send_all)
    began = time.perf_counter()
    sender.start()
    for (ready, _), array in zip(packed, arrays, strict=True):
        time.sleep(max(0.0, began + ready - time.perf_counter()))
        full.put(array)
    sender.join()
    return time.perf_counter() - began


if __name__ == "__main__":
    main(Path(sys.argv[1]))
