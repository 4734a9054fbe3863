"""Profile training steps: what each operation took, here or as recorded elsewhere."""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

from helpers.errors import LabError

# What `labs bench profile` wrote, for where there is no profiler.
RECORDED = Path(__file__).with_name("recorded_profiles.json")
MKL = re.compile("^_(Mkl(Native)?)?")  # the same operation, by another library
# Where an operation stands and what it is called: from this its kind of layer. TensorFlow
# joins a convolution with the addition behind it, under the addition's name.
LAYERS = {
    "convolution": r"/conv2d(_\d+)*/|Conv2D",
    "batch normalisation": r"/batch_normalization(_\d+)*/|FusedBatchNorm",
    "ReLU": r"/re_lu(_\d+)*/",
    "dropout": r"/dropout(_\d+)*/",
    "augmentation": r"/(random_flip_shift|rescaling)(_\d+)*/",
}


class NoProfileError(LabError):
    """There is nothing with which to record or to read a profile."""


def profile_networks(
    step_of: dict[str, Callable], recorded: Path = RECORDED
) -> tuple[dict[str, dict], str | None]:
    """Profile a training step of each network; recorded profiles where that fails.

    Parameters
    ----------
    step_of : dict of str to callable
        For each network's name: runs one step and waits for its end. It has run before.
    recorded : Path
        A file that `labs bench profile` wrote, with the same names.

    Returns
    -------
    profiles : dict of str to dict
        For each name `layers` and `operations`, as `summarize` gives them.
    source : str or None
        None: they were measured now. Else where, when and on what they were recorded, and
        why they are not of this machine.
    """
    try:
        profiles = {name: summarize(profile_steps(of)) for name, of in step_of.items()}
    except NoProfileError as error:
        stored = json.loads(recorded.read_text(encoding="utf-8"))
        source = (
            f"RECORDED PROFILES, not of this machine: {stored['device']['name']}, "
            f"{stored['date']}, TensorFlow {stored['versions']['tensorflow']}, "
            f"{stored['network']}.\nWhy: {error}"
        )
        return {name: stored["profiles"][name] for name in step_of}, source
    return profiles, None


def profile_steps(step: Callable, steps: int = 5) -> dict[tuple[str, str], float]:
    """Seconds of each operation in one training step.

    Parameters
    ----------
    step : callable
        As in `profile_networks`.
    steps : int
        How many are recorded; the result is their mean.

    Returns
    -------
    dict of tuple to float
        By place and operation, such as ``("wrn/conv2d/convolution", "Conv2D")``, without
        what other operations took that it ran. On a CPU operations run side by side, so
        the sum may be more than the step took.

    Raises
    ------
    NoProfileError
        If xprof is missing, TensorFlow has no profiler for this device, or another
        profile is being recorded.
    """
    try:
        from xprof.convert.raw_to_tool_data import xspace_to_tool_data
    except ImportError as error:
        raise NoProfileError(f"the package xprof cannot be used ({error}).") from error
    with tempfile.TemporaryDirectory() as folder:
        _ask_profiler(tf.profiler.experimental.start, folder)
        try:
            for _ in range(steps):
                step()
        finally:
            _ask_profiler(tf.profiler.experimental.stop)
        traces = sorted(str(path) for path in Path(folder).rglob("*.xplane.pb"))
        if not traces:
            raise NoProfileError("TensorFlow's profiler wrote no trace of this device.")
        tables, _ = xspace_to_tool_data(traces, "framework_op_stats", {})
    seconds = _seconds_by_event(json.loads(tables)[0])
    if not seconds:
        raise NoProfileError("the trace of TensorFlow's profiler has no operations.")
    return {key: took / steps for key, took in seconds.items()}


def _ask_profiler(call, *arguments):
    try:
        call(*arguments)
    except tf.errors.OpError as error:
        raise NoProfileError(f"TensorFlow's profiler: {error.message}") from error


def _seconds_by_event(table):
    """Seconds by place and operation: those of a GPU where there is one, else the CPU's."""
    names = [column["id"] for column in table["cols"]]
    rows = [
        dict(zip(names, (cell["v"] for cell in row["c"]), strict=True))
        for row in table["rows"]
    ]
    rows = [row for row in rows if row["type"] != "IDLE"]
    on_device = [row for row in rows if row["host_or_device"] == "Device"]
    found = Counter()
    for row in on_device or rows:
        key = row["operation"], MKL.sub("", row["type"])
        found[key] += row["total_self_time"] / 1e6
    return found


def summarize(profile: dict) -> dict[str, dict[str, float]]:
    """Add a profile up by the kind of layer and by operation.

    Parameters
    ----------
    profile : dict
        As `profile_steps` gives it.

    Returns
    -------
    dict of str to dict
        Seconds of a step, the largest first. `layers`: each of `LAYERS`, and "other":
        pooling, the loss, gradients' sums, the update. `operations`: by their names.
    """
    by_layer = Counter(dict.fromkeys([*LAYERS, "other"], 0.0))
    by_operation = Counter()
    for (place, operation), seconds in profile.items():
        where = f"/{place}/{operation}"
        kinds = (kind for kind, name in LAYERS.items() if re.search(name, where))
        by_layer[next(kinds, "other")] += seconds
        by_operation[operation] += seconds
    return {
        "layers": dict(by_layer.most_common()),
        "operations": dict(by_operation.most_common()),
    }
