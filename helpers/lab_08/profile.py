"""Record a profile of training steps, and read what each operation took."""

import re
import tempfile
from collections import Counter
from pathlib import Path

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2

# TensorFlow's executor names an event "where/it/stands:Operation".
EVENT = re.compile(r"(?P<place>[\w./-]+):(?P<operation>_?[A-Z]\w*)")
MKL = re.compile("^_Mkl(Native)?")  # the same operation, by another library
# Operations that only run others, whose time would count twice.
RUNNERS = re.compile(r".*(PartitionedCall|If|While|Iterator.*|_Recv|_Send|_Arg|_Retval)")


def profile_steps(step, steps=5):
    """Seconds of each operation in one training step.

    Parameters
    ----------
    step : callable
        Runs one step and waits for its end. It has run before.
    steps : int
        How many are recorded; the result is their mean.

    Returns
    -------
    dict of tuple to float
        By place and operation, such as ``("wrn/conv2d/convolution", "Conv2D")``. On
        a CPU operations run side by side, so the sum may be more than the step took.
    """
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        try:
            for _ in range(steps):
                step()
        finally:
            tf.profiler.experimental.stop()
        spaces = [read(path) for path in Path(folder).rglob("*.xplane.pb")]
    found = Counter()
    for space in spaces:
        for key, seconds in seconds_by_event(space).items():
            found[key] += seconds / steps
    return dict(found)


def read(path):
    """The content of a profile, TensorFlow's XSpace."""
    space = xplane_pb2.XSpace()
    space.ParseFromString(Path(path).read_bytes())
    return space


def seconds_by_event(space):
    """Seconds by place and operation: those of a GPU where there is one, else the CPU's."""
    planes = [p for p in space.planes if p.name.startswith("/device:GPU")]
    on_gpu = bool(planes)
    found = Counter()
    for plane in planes or space.planes:
        for line in plane.lines:
            for event in line.events:
                name = _tensorflow_name(plane, event) if on_gpu else ""
                name = name or plane.event_metadata[event.metadata_id].name
                match = EVENT.fullmatch(name)
                if match and not RUNNERS.fullmatch(match["operation"]):
                    key = match["place"], MKL.sub("", match["operation"])
                    found[key] += event.duration_ps / 1e12
    return found


def _tensorflow_name(plane, event):
    """A kernel of a GPU says in a statistic which operation started it."""
    for stat in event.stats:
        if plane.stat_metadata[stat.metadata_id].name == "tf_op":
            return stat.str_value or plane.stat_metadata[stat.ref_value].name
    return ""


# Names of layers, as they stand in an operation's place.
LAYERS = {
    "convolution": r"/conv2d(_\d+)*/",
    "batch normalisation": r"/batch_normalization(_\d+)*/",
    "ReLU": r"/re_lu(_\d+)*/",
    "dropout": r"/dropout(_\d+)*/",
    "augmentation": r"/(random_flip_shift|rescaling)(_\d+)*/",
}


def seconds_by_layer(profile):
    """Seconds of a step by the kind of layer, the largest first.

    Parameters
    ----------
    profile : dict
        As `profile_steps` gives it.

    Returns
    -------
    dict of str to float
        Each of `LAYERS`, and "other": pooling, the loss, gradients' sums, the update.
    """
    found = Counter(dict.fromkeys([*LAYERS, "other"], 0.0))
    for (place, _), seconds in profile.items():
        kinds = (kind for kind, name in LAYERS.items() if re.search(name, f"/{place}/"))
        found[next(kinds, "other")] += seconds
    return dict(found.most_common())


def seconds_by_operation(profile):
    """Seconds of a step by operation, the largest first."""
    found = Counter()
    for (_, operation), seconds in profile.items():
        found[operation] += seconds
    return dict(found.most_common())
