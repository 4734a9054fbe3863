"""A worker's side of `helpers.workers.processes.ask`: what it was asked, and its reply.

It needs no TensorFlow, so that many workers start in a second.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from helpers.plain_json import write_json
from helpers.workers import own_functions


class Task(NamedTuple):
    """What a worker is to do, and its place among the others."""

    asked: Any  # plain JSON
    functions: dict[str, Callable]
    addresses: list[str]
    rank: int


def read(folder: Path) -> Task:
    """This process's task, which `processes.ask` left in a folder."""
    cluster = json.loads(os.environ["TF_CONFIG"])
    return Task(
        asked=json.loads((folder / "asked.json").read_text("utf-8")),
        functions=own_functions.read(folder),
        addresses=cluster["cluster"]["worker"],
        rank=cluster["task"]["index"],
    )


def reply(folder: Path, rank: int, said: Any) -> None:
    """Leave what `processes.ask` returns of this worker: plain JSON."""
    write_json(folder / f"said-{rank}.json", said)
