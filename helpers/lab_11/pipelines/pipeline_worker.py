"""One stage of a pipeline: ``python -m helpers.lab_11.pipelines.pipeline_worker FOLDER``.

`TF_CONFIG` says which. To compute is to sleep here, so that the stages do not take each
other's cores, but the order is the reader's own and the messages are real.
"""

import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.lab_11.pipelines.pipeline_schedule import Work
from helpers.workers import own_task
from helpers.workers.channels import Channels

LIMIT_SECONDS = 30  # for one message: an order that deadlocks ends with a line


class Stage(NamedTuple):
    """Does what its list says, and tells its neighbours."""

    channels: Channels
    rank: int
    stages: int
    values: int  # of the float32 array that travels for each micro-batch
    seconds: dict[str, float]  # of a forward, "F", and of a backward, "B"

    def run(self, work: Work) -> dict:
        """Do all items; their `boxes`, and the `peak` of micro-batches that were held.

        A box has its kind, micro-batch, begin and end in seconds, by a clock that all
        processes of a machine share.
        """
        self.meet()
        held, arrived, boxes, peak = {}, {"F": {}, "B": {}}, [], 0
        for kind, i in work:
            neighbour = self.rank - 1 if kind == "F" else self.rank + 1
            # It came from the neighbour, or begins here: with an input, or with a loss.
            array = self.take(neighbour, arrived[kind], i)
            began = time.perf_counter()
            if kind == "F":
                held[i] = array
                peak = max(peak, len(held))
            time.sleep(self.seconds[kind])
            if kind == "B":
                del held[i]
            ended = time.perf_counter()
            boxes.append([kind, i, began, ended])
            self.give(2 * self.rank - neighbour, i)  # to the neighbour on the other side
        return {"boxes": boxes, "peak": peak}

    def take(self, neighbour: int, arrived: dict, i: int) -> np.ndarray:
        """The array of a micro-batch, whatever order the neighbour sends them in."""
        if not 0 <= neighbour < self.stages:
            return np.full(self.values, i, "float32")
        while i not in arrived:
            array = self.channels.receive(neighbour)
            arrived[int(array[0])] = array
        return arrived.pop(i)

    def give(self, neighbour: int, i: int) -> None:
        """Send the array of a micro-batch, unless there is nobody to send it to."""
        if 0 <= neighbour < self.stages:
            self.channels.send(neighbour, np.full(self.values, i, "float32"))

    def meet(self) -> None:
        """Wait until all stages are here: a message to the last one and back again."""
        before, after = self.rank - 1, self.rank + 1
        if before >= 0:
            self.channels.receive(before)
        self.give(after, 0)
        if after < self.stages:
            self.channels.receive(after)
        self.give(before, 0)


def main(folder: Path) -> None:
    """Do the runs that `pipeline.measure` asks for."""
    asked, orders, addresses, rank = own_task.read(folder)
    stages = len(addresses)
    channels = Channels(addresses, rank, LIMIT_SECONDS)
    stage = Stage(channels, rank, stages, asked["values"], asked["seconds"])
    plan = [orders[name](rank, stages, m) for name, m in asked["runs"]]
    # All runs in each round, so that a busy spell of the machine does not meet only one.
    told = [[stage.run(work) for work in plan] for _ in range(asked["repeats"])]
    stage.meet()  # a stage that ended early would close what its neighbour still reads
    own_task.reply(folder, rank, told)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
