"""What the stages of a pipeline do, and when."""

from collections.abc import Sequence
from typing import NamedTuple

Work = list[tuple[str, int]]  # of one stage: ("F", i) and ("B", i) in its order


class Box(NamedTuple):
    """A forward or backward of one micro-batch on one stage, with its begin and end."""

    stage: int
    kind: str  # "F" or "B"
    micro_batch: int
    begin: float
    end: float


def gpipe(stage: int, stages: int, micro_batches: int) -> Work:
    """GPipe's order, the same on each stage: all forwards, then all backwards."""
    return [(kind, i) for kind in "FB" for i in range(micro_batches)]


def simulate(
    work: Sequence[Work],
    forward_seconds: float = 1.0,
    backward_seconds: float = 2.0,
    message_seconds: float = 0.0,
) -> list[Box]:
    """When each stage does what, if it does the next item as soon as it can.

    Parameters
    ----------
    work : list of list of tuple
        For each stage, what it does, in its order.
    forward_seconds, backward_seconds : float
    message_seconds : float
        From the end of a box until the next stage has its result.

    Returns
    -------
    list of Box
        Stage by stage, each in its order. In a deadlock, boxes are missing.
    """
    seconds = {"F": forward_seconds, "B": backward_seconds}
    boxes, left = {}, [list(items) for items in work]
    free, moved = [0.0] * len(left), True
    while moved:
        moved = False
        for stage, items in enumerate(left):
            while items:
                kind, i = items[0]
                neighbour = stage - 1 if kind == "F" else stage + 1
                before = boxes.get((neighbour, kind, i))
                if before is None and 0 <= neighbour < len(left):
                    break
                if before is None and kind == "B" and (stage, "F", i) not in boxes:
                    break  # the last stage begins with the loss of its own forward
                begin = max(free[stage], before.end + message_seconds if before else 0.0)
                free[stage] = begin + seconds[kind]
                boxes[stage, kind, i] = Box(stage, kind, i, begin, free[stage])
                items.pop(0)
                moved = True
    return sorted(boxes.values(), key=lambda box: (box.stage, box.begin))


def formula(stages: int, micro_batches: int) -> float:
    """The share of the time in which stages are idle."""
    return (stages - 1) / (micro_batches + stages - 1)


def idle_share(boxes: Sequence[Box]) -> float:
    """The share of the time in which stages are idle, from the first box to the last."""
    stages = len({box.stage for box in boxes})
    took = max(box.end for box in boxes) - min(box.begin for box in boxes)
    return 1 - sum(box.end - box.begin for box in boxes) / (stages * took)


def peak_held(work: Work) -> int:
    """How many micro-batches a stage holds at most, if this is its order."""
    held = peak = 0
    for kind, _ in work:
        held += 1 if kind == "F" else -1
        peak = max(peak, held)
    return peak
