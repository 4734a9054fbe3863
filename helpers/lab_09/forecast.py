"""From measured speeds to forecasts: of this machine, of published ones, of a plan."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist

import numpy as np

from helpers.notebook.estimate import wide_resnet
from helpers.run_card.records import newest_card_with

GBIT = 1e9 / 8  # bytes per second


def fit_step(seconds_by_batch: Mapping[int, float]) -> tuple[float, float]:
    """Lab 02's law from the seconds of steps.

    Parameters
    ----------
    seconds_by_batch : dict of int to float
        Of at least two batch sizes.

    Returns
    -------
    t0_seconds, peak : float
        The fixed cost of a step, and images per second beyond it.
    """
    slope, start = _line(seconds_by_batch)
    return max(start, 0.0), 1 / slope


def fit_link(seconds_by_bytes: Mapping[int, float], workers: int) -> tuple[float, float]:
    """Latency and bandwidth of a ring from the seconds of its all-reduces.

    A ring of n sends 2 (n - 1) messages, one after the other, each with an n-th part.

    Parameters
    ----------
    seconds_by_bytes : dict of int to float
        Of at least two sizes.
    workers : int

    Returns
    -------
    latency_seconds, bytes_per_second : float
    """
    slope, start = _line(seconds_by_bytes)
    messages = 2 * (workers - 1)
    return max(start, 0.0) / messages, messages / workers / slope


def _line(points):
    """Slope and start of the line with the least relative errors."""
    x, y = np.array(list(points), float), np.array(list(points.values()))
    slope, start = np.polyfit(x, y, 1, w=1 / y)
    # On a busy machine more work may seem to take less time: then it costs nearly nothing.
    return max(slope, 1e-6 * y.max() / x.max()), start


def stated_factor(forecast: Sequence[float], measured: Sequence[float]) -> float:
    """By which factor a forecast may be wrong, from those that can already be scored.

    The largest factor so far, squared: what comes is outside of what was measured.

    Parameters
    ----------
    forecast, measured : list of float
        Of the same length.

    Returns
    -------
    float
        At least 1.1.
    """
    factors = [max(f / m, m / f) for f, m in zip(forecast, measured, strict=True)]
    return max(1.1, max(factors) ** 2)


def slowest(devices: int, spread: float) -> float:
    """How many times as long as the mean the slowest of some devices takes.

    Parameters
    ----------
    devices : int
    spread : float
        The standard deviation of a device's time, as a fraction of its mean. The times
        are taken to be normal; the largest of n is that of Blom (1958).
    """
    return 1 + spread * NormalDist().inv_cdf((devices - 0.375) / (devices + 0.25))


# On a P100 with TensorFlow 1: images/s of one GPU by batch size, "Training synthetic data"
# in the tables of TensorFlow's benchmarks of May 2017 (tensorflow/docs,
# site/en/r1/guide/performance/benchmarks.md).
P100_SPEEDS = {
    "Inception V3": {32: 128, 64: 142},
    "ResNet-50": {32: 195, 64: 219},
    "ResNet-152": {32: 82.7, 64: 91.8},
    "VGG-16": {32: 144, 64: 154},
}
# He et al. (2016), table 1: billions of operations of an image.
RESNET_OPERATIONS = {50: 3.8, 101: 7.6, 152: 11.3}
# Keras Applications' table of models.
MILLION_PARAMETERS = {
    "Inception V3": 23.9,
    "ResNet-50": 25.6,
    "ResNet-101": 44.7,
    "VGG-16": 138.4,
}
# Sergeev and Del Balso (2018), and Horovod's docs/benchmarks.rst for the 512 GPUs: 128
# servers of 4 Pascal GPUs each, a link of 25 Gbit/s; the batch is that of their command.
# Goyal et al. (2017), sections 4 and 5: 32 servers of 8 P100, 50 Gbit/s, 32 images a GPU.
PUBLISHED = [  # network, GPUs, batch of a GPU, Gbit/s, reported efficiency
    ("Inception V3", 512, 64, 25, 0.90),
    ("ResNet-101", 512, 64, 25, 0.90),
    ("VGG-16", 512, 64, 25, 0.68),
    ("ResNet-50", 256, 32, 50, 0.90),
]
ASSUMED_LATENCY_SECONDS = 10e-6  # of a message: no source names it


def published_law(network: str) -> tuple[float, float]:
    """t0 and peak of one P100, from the two batch sizes of the table.

    The table has no ResNet-101: between ResNet-50 and ResNet-152 the seconds of a step are
    taken to grow with the operations. This is an assumption.
    """
    if network == "ResNet-101":
        few, many = (_step_seconds(P100_SPEEDS[f"ResNet-{n}"]) for n in (50, 152))
        operations = RESNET_OPERATIONS
        part = (operations[101] - operations[50]) / (operations[152] - operations[50])
        return fit_step({b: few[b] + part * (many[b] - few[b]) for b in few})
    return fit_step(_step_seconds(P100_SPEEDS[network]))


def _step_seconds(speeds):
    return {batch: batch / speed for batch, speed in speeds.items()}


def published_forecasts(forecast: Callable) -> list[dict]:
    """What a law says of the published clusters.

    Servers are the devices of one ring, which passes through each server's link once: so
    the link's bandwidth is that of the ring.

    Parameters
    ----------
    forecast : callable
        An answer to exercise 9.5.

    Returns
    -------
    list of dict
        `name`, `reported`, `in_turn` and `overlapped`, three efficiencies.
    """
    found = []
    for network, devices, batch, gbit, reported in PUBLISHED:
        gradient_bytes = 4e6 * MILLION_PARAMETERS[network]
        link = ASSUMED_LATENCY_SECONDS, gbit * GBIT
        said = forecast(devices, batch, *published_law(network), gradient_bytes, *link)
        efficiencies = {way: float(pair[1]) for way, pair in said.items()}
        name = f"{network}, {devices} GPUs"
        found.append({"name": name, "reported": reported} | efficiencies)
    return found


DEFAULTS = {
    "devices": 8,
    "batch_size": 64,  # of one device
    "accumulation": 1,  # batches of a device before it sends
    "parameters": 25e6,
    "value_bytes": 4,  # of a gradient's number: 2 in bfloat16
    "compression": 1.0,  # bytes before, divided by bytes sent
    "link_gbit": 25.0,
    "latency_seconds": ASSUMED_LATENCY_SECONDS,
    "t0_seconds": 0.02,
    "peak": 250.0,
    "straggler_spread": 0.05,
    "machine_days": 264.0,  # between failures: the text of section 3 has the source
    "save_seconds": 10.0,
    "restart_seconds": 600.0,
    "critical_batch": 1000.0,
    "images": 1e6,  # to the accuracy with small batches
}


def law_of_lab_02() -> dict[str, float]:
    """t0, peak and parameters of the newest run of lab 02 with a fit.

    Returns
    -------
    dict
        Settings of a plan; empty without such a run.
    """
    card = newest_card_with("02_throughput", "fit")
    if not card:
        return {}
    asked = card["parameters"]
    if "depth" not in asked or "width" not in asked:
        return {}
    return _law(card, wide_resnet(asked["depth"], asked["width"]).weights)


def law_of_lab_09() -> dict[str, float]:
    """As `law_of_lab_02`, of lab 09's workers and their network."""
    card = newest_card_with("09_many_machines", "fit")
    parameters = card and card["measurements"]["fit"].get("parameters")
    return _law(card, parameters) if parameters else {}


def _law(card, parameters):
    fit = card["measurements"]["fit"]
    return {
        "t0_seconds": fit["t0_seconds"],
        "peak": fit["peak_images_per_second"],
        "parameters": parameters,
    }


def critical_batch_of_lab_03() -> dict[str, float]:
    """The bend of the newest run of lab 03 that has one, as a setting of a plan."""
    card = newest_card_with("03_time_to_accuracy", "bend")
    if not card:
        return {}
    bends = sorted(card["measurements"]["bend"])
    return {"critical_batch": bends[len(bends) // 2]}


def plan(settings: dict, forecast: Callable, save_interval: Callable) -> dict[str, float]:
    """Time to accuracy on many devices, and what it costs.

    Images to the accuracy grow with the global batch as McCandlish et al. (2018) say:
    times 1 + global batch / critical batch. With accumulation only a device's last batch
    has messages beside it. Precision changes what is sent, not the speed of computing.

    Parameters
    ----------
    settings : dict
        As `DEFAULTS`.
    forecast, save_interval : callable
        Answers to exercises 9.5 and 9.4.

    Returns
    -------
    dict
        `global_batch`, `step_seconds`, `images_per_second`, `efficiency`, `steps`,
        `lost_seconds` for each second trained, `save_every_seconds`, `hours`,
        `device_hours`.
    """
    s = settings
    gradient_bytes = s["parameters"] * s["value_bytes"] / s["compression"]
    said = forecast(
        s["devices"], s["batch_size"], s["t0_seconds"], s["peak"], gradient_bytes,
        s["latency_seconds"], s["link_gbit"] * GBIT,
    )  # fmt: skip
    alone = s["t0_seconds"] + s["batch_size"] / s["peak"]
    last = s["devices"] * s["batch_size"] / said["overlapped"][0]
    before = (s["accumulation"] - 1) * alone
    waits = slowest(s["devices"], s["straggler_spread"]) - 1
    step_seconds = before + last + waits * s["accumulation"] * alone
    global_batch = s["devices"] * s["batch_size"] * s["accumulation"]
    steps = math.ceil(s["images"] * (1 + global_batch / s["critical_batch"]) / global_batch)
    failing = s["save_seconds"], s["restart_seconds"], s["machine_days"], s["devices"]
    _, save_every_seconds, lost = save_interval(*failing)
    hours = steps * step_seconds * (1 + lost) / 3600
    return {
        "global_batch": global_batch,
        "step_seconds": step_seconds,
        "images_per_second": global_batch / step_seconds,
        "efficiency": s["accumulation"] * alone / step_seconds,
        "steps": steps,
        "save_every_seconds": save_every_seconds,
        "lost_seconds": lost,
        "hours": hours,
        "device_hours": hours * s["devices"],
    }


def in_words(settings: dict, planned: dict) -> list[str]:
    """A plan in lines, for a terminal and for a screen reader."""
    return [
        f"{settings['devices']:g} devices at {settings['link_gbit']:.3g} Gbit/s: "
        f"{planned['images_per_second']:.1f} images/s, efficiency "
        f"{100 * planned['efficiency']:.1f}%",
        f"Global batch {planned['global_batch']:,}: {planned['steps']:,} steps of "
        f"{1e3 * planned['step_seconds']:.2f} ms",
        f"Save every {planned['save_every_seconds']:.0f} s: for each second trained, "
        f"{planned['lost_seconds']:.5f} s are lost",
        f"To the accuracy: {_span(planned['hours'])}, "
        f"{planned['device_hours']:.3g} device hours",
    ]


def _span(hours):
    return f"{hours:.2f} hours" if hours >= 1 else f"{60 * hours:.2f} minutes"
