"""A worker that runs a ring all-reduce: ``python ring.py FOLDER``, with ``TF_CONFIG``.

It has no TensorFlow, so that many of them start in a second.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from helpers.workers import own_task
from helpers.workers.channels import Channels


def main(folder: Path) -> None:
    """Do the rounds that `processes.run_ring` asks for."""
    rounds, functions, addresses, rank = own_task.read(folder)
    ring_all_reduce = functions["ring_all_reduce"]
    channels = Channels(addresses, rank)

    def all_reduce(array):
        return ring_all_reduce(array, rank, len(addresses), channels.send, channels.receive)

    done = [do_round(all_reduce, channels, rank, one) for one in rounds]
    # A worker that ended early would close what its neighbour still reads from.
    all_reduce(np.ones(len(addresses), "float32"))
    own_task.reply(folder, rank, done)


def do_round(all_reduce: Callable, channels: Channels, rank: int, one: dict) -> dict:
    """Compute, which here is to sleep, and all-reduce, some times.

    Parameters
    ----------
    all_reduce : callable
    channels : Channels
    rank : int
    one : dict
        `values`, the length of the array, and `waits`: for each step the seconds that
        every worker sleeps before.

    Returns
    -------
    dict
        `seconds` of each step; `bytes_sent` in the first; `sum`, of the last array.
    """
    array = result = np.full(one["values"], rank + 1, "float32")
    all_reduce(array[:1])  # everybody is here
    seconds, bytes_sent = [], None
    for waits in one["waits"]:
        before, began = channels.bytes_sent, time.perf_counter()
        if waits[rank]:
            time.sleep(waits[rank])
        result = all_reduce(array)
        seconds.append(time.perf_counter() - began)
        bytes_sent = bytes_sent or channels.bytes_sent - before
    return {
        "seconds": seconds,
        "bytes_sent": bytes_sent,
        "lowest_and_highest": [float(result.min()), float(result.max())],
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
