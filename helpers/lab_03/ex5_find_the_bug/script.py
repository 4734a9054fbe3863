"""A race of batch sizes with one bug, which exercise 3.5 asks for."""

from collections.abc import Callable, Sequence
from typing import Any


def race(
    new_run: Callable[[int], Any], batch_sizes: Sequence[int], target: float,
    clock: Callable[[], float],
) -> dict[int, float | None]:  # fmt: skip
    """For each batch size, the seconds of training until the first look at the target.

    A run trains for a while, looks at the validation accuracy, and trains on, until it
    has reached the target or has no looks left: then its time is None. The clock counts
    training only.
    """
    seconds = {}
    for batch_size in batch_sizes:
        run = new_run(batch_size)
        spent, reached = 0.0, False
        began = clock()
        while run.looks_left() and not reached:
            run.train()
            trained = clock()
            spent += trained - began
            accuracy = run.validate()
            reached = round(accuracy, 6) >= target
            began = trained
        seconds[batch_size] = spent if reached else None
    return seconds
