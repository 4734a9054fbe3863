"""Common parts of the benches of training: clocks, the machine's record, and resuming."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from callbacks.live.progress import progress
from helpers.machine.computer import cpu_features
from helpers.machine.devices import describe_device
from helpers.plain_json import as_json, write_json
from helpers.run_card.documents import versions
from kit.bench import DOCS, UNFINISHED


def rate(function: Callable[[], int]) -> dict[str, float]:
    """Images per second of a function that returns how many images it handled.

    Returns
    -------
    dict
        Per second of wall time, `wall`, and of the process' CPU time, `cpu`.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    images = function()
    return {
        "wall": images / (time.perf_counter() - wall),
        "cpu": images / (time.process_time() - cpu),
    }


def machine() -> dict:
    """The device, the processor's features that matter, and the versions."""
    return {
        "device": describe_device(),
        "cpu_features": cpu_features(),
        "versions": versions(),
    }


def resumable(
    name: str,
    settings: dict,
    jobs: Mapping[str, Callable[[], dict]],
    folder: Path = UNFINISHED,
) -> dict[str, dict]:
    """Do named jobs one after the other; what is done is kept if this is interrupted.

    Parameters
    ----------
    name : str
        Of the bench, and so of the file that keeps what is done.
    settings : dict
        Plain JSON. What was done with other settings, on another machine or with other
        versions is done again.
    jobs : dict of str to callable
        Without arguments; each returns plain JSON, a dict.
    folder : Path
        Where that file is.

    Returns
    -------
    dict of str to dict
        What each job returned, and the `load_average` of the machine after it.
    """
    path = folder / f"{name}.json"
    now = machine()
    now["versions"].pop("git_revision")
    state = {"settings": json.loads(as_json(settings | now)), "done": {}}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = {}
    if stored.get("settings") == state["settings"]:
        state = stored
    bar = progress(jobs.items())
    for job, do in bar:
        bar.set_description(job)
        if job not in state["done"]:
            # How busy a shared machine was: then CPU time is the figure to trust.
            state["done"][job] = do() | {"load_average": round(os.getloadavg()[0], 2)}
            write_json(path, state)
    return {job: state["done"][job] for job in jobs}


def store(name: str, result: dict, folder: Path = DOCS) -> Path:
    """Write a bench's result as `name`.json; returns its path."""
    path = folder / f"{name}.json"
    write_json(path, result)
    return path
