"""Write the time lines of a pipeline for Perfetto, which opens Chrome's trace format."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from helpers.files import REPOSITORY
from helpers.lab_11.pipelines.pipeline_schedule import Box
from helpers.plain_json import write_json

NAMES = {"F": "forward", "B": "backward"}


def trace(boxes_by_order: Mapping[str, Sequence[Box]]) -> dict:
    """A trace with a process for each order and a thread for each of its stages.

    Parameters
    ----------
    boxes_by_order : dict of str to list of Box
        By the name of an order, when each stage did what, in seconds.

    Returns
    -------
    dict
        Plain JSON. Its times are in microseconds.
    """
    events = []
    for process, (name, boxes) in enumerate(boxes_by_order.items()):
        events.append(_label("process_name", process, 0, name))
        for stage in sorted({box.stage for box in boxes}):
            events.append(_label("thread_name", process, stage, f"stage {stage}"))
        events += [
            {
                "ph": "X", "name": f"{box.kind} {box.micro_batch}", "cat": NAMES[box.kind],
                "pid": process, "tid": box.stage, "ts": round(1e6 * box.begin, 1),
                "dur": round(1e6 * (box.end - box.begin), 1),
                "args": {"micro_batch": box.micro_batch},
            }
            for box in boxes
        ]  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _label(what, process, thread, name):
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def write(path: Path, boxes_by_order: Mapping[str, Sequence[Box]]) -> Path:
    """Write a trace to a file.

    Returns
    -------
    Path
        Where it is, relative to the course if it is inside.
    """
    write_json(path, trace(boxes_by_order))
    inside = path.is_relative_to(REPOSITORY)
    return path.relative_to(REPOSITORY) if inside else path
