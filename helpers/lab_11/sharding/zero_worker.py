"""A worker of section 3, which trains in one of four ways and counts what it holds.

``python -m helpers.lab_11.sharding.zero_worker FOLDER`` is one of the workers, as
`TF_CONFIG` says. It needs no TensorFlow.
"""

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil

from helpers.lab_11.sharding.zero import (
    Targets,
    adam,
    data_parallel_step,
    zero_2_step,
    zero_3_step,
)
from helpers.workers import own_task
from helpers.workers.channels import Channels
from helpers.workers.collectives import all_gather


def main(folder: Path) -> None:
    """Do the trainings that `sharded_training.train` asks for."""
    asked, functions, addresses, rank = own_task.read(folder)
    sharded_step = functions["sharded_step"]
    channels = Channels(addresses, rank)
    ring = rank, len(addresses), channels.send, channels.receive
    task = Targets(asked["weights"], asked["seed"], rank)
    done = {way: {"seconds": []} for way in asked["ways"]}
    # All ways in each round, so that a busy spell of the machine does not meet only one.
    for _ in range(asked["repeats"]):
        for way, found in done.items():
            all_gather(np.ones(1, "float32"), *ring)  # everybody is here, and connected
            before = psutil.Process().memory_info().rss
            training = Training(way, asked, sharded_step, task, ring)
            seconds, found["bytes_sent"] = train(training, asked["steps"], channels)
            found["resident"] = psutil.Process().memory_info().rss - before
            found["seconds"].append(seconds)
            found["held"] = training.held()
            np.save(folder / f"{way}-{rank}.npy", training.whole_weights())
            del training
    # A worker that ended early would close what its neighbour still reads from.
    all_gather(np.ones(1, "float32"), *ring)
    own_task.reply(folder, rank, done)


def train(training: "Training", steps: int, channels: Channels) -> tuple[float, int]:
    """Seconds of a step, the median; and the bytes that were sent in the last one."""
    seconds, before = [], 0
    for _ in range(steps):
        before, began = channels.bytes_sent, time.perf_counter()
        training.step()
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds)), channels.bytes_sent - before


class Training:
    """The weights and the state of a worker, and how it makes a step in a way of training.

    `asked` has `weights`, `blocks` and `seed`; `ring` has the rank, the number of workers,
    and the functions `send` and `receive`.
    """

    def __init__(
        self, way: str, asked: dict, sharded_step: Callable, task: Targets, ring: tuple
    ) -> None:
        self._way, self._sharded_step, self._gradients = way, sharded_step, 0
        self._task, self._ring, self._state = task, ring, None
        rng = np.random.default_rng(asked["seed"])
        weights = rng.standard_normal(asked["weights"], "float32")
        ends = np.linspace(0, len(weights), asked["blocks"] + 1).astype(int)
        self._blocks = [slice(a, b) for a, b in itertools.pairwise(ends)]
        self._weights = [weights]
        if self._way == "ZeRO-3":
            rank, workers, *_ = ring
            parts = [np.array_split(weights[p], workers)[rank] for p in self._blocks]
            self._weights = [part.copy() for part in parts]

    def step(self) -> None:
        """One step, in the way of this training."""

        def update(part, mean_gradient, state):
            self._gradients = mean_gradient.nbytes
            return adam(part, mean_gradient, state)

        of_blocks = self._state, self._blocks, self._task, update, self._ring
        if self._way == "ZeRO-3":
            self._weights, self._state = zero_3_step(self._weights, *of_blocks)
            return
        [weights] = self._weights
        if self._way == "ZeRO-2":
            weights, self._state = zero_2_step(weights, *of_blocks)
        else:
            gradient = self._task.gradient(slice(None), weights)
            self._gradients = gradient.nbytes
            if self._way == "ZeRO-1":
                given = weights, gradient, self._state, adam, *self._ring
                weights, self._state = self._sharded_step(*given)
            else:
                given = weights, self._state, gradient, self._sharded_step, self._ring
                weights, self._state = data_parallel_step(*given)
        self._weights = [weights]

    def held(self) -> dict[str, int]:
        """Bytes of what this worker keeps; of the gradient, until the optimizer has it."""
        arrays = [one for one in self._state if isinstance(one, np.ndarray)]
        kept = {"weights": _bytes(self._weights), "gradient": self._gradients}
        return kept | {"state": _bytes(arrays)}

    def whole_weights(self) -> np.ndarray:
        """All weights; a worker that has only its parts asks the others."""
        if self._way == "ZeRO-3":
            return np.concatenate([all_gather(one, *self._ring) for one in self._weights])
        return self._weights[0]


def _bytes(arrays):
    return sum(array.nbytes for array in arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
