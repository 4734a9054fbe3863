"""From measured speeds to forecasts: of this machine, of published ones, of a plan."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from helpers.lab_10.all_reduces import seconds_by_way
from helpers.notebook.estimate import wide_resnet
from helpers.run_card.documents import newest_card_with
from helpers.run_card.interval_score import interval_score as interval_score  # for lab 10

GBIT = 1e9 / 8  # bytes per second


def fit_step(seconds_by_batch: Mapping[int, float]) -> tuple[float, float]:
    """Fit lab 02's law to the seconds of steps.

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
    """Fit latency and bandwidth of a ring to the seconds of its all-reduces.

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
    """Slope and intercept of the line with the least relative errors."""
    x, y = np.array(list(points), float), np.array(list(points.values()))
    slope, start = np.polyfit(x, y, 1, w=1 / y)
    # On a busy machine more work may seem to take less time: then it costs nearly nothing.
    return max(slope, 1e-6 * y.max() / x.max()), start


def stated_factor(forecast: Sequence[float], measured: Sequence[float]) -> float:
    """The factor by which a forecast may be wrong, from those already scored.

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
    """How many times as long the slowest of several devices takes as the mean.

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
# Horovod's docs/benchmarks.rst: 128 servers of 4 Pascal GPUs each, a link of 25 Gbit/s;
# the batch is that of their command.
# Goyal et al. (2017), sections 4 and 5: 32 servers of 8 P100, 50 Gbit/s, 32 images a GPU.
PUBLISHED = [  # network, GPUs, batch of a GPU, Gbit/s, reported efficiency
    ("Inception V3", 512, 64, 25, 0.90),
    ("ResNet-101", 512, 64, 25, 0.90),
    ("VGG-16", 512, 64, 25, 0.68),
    ("ResNet-50", 256, 32, 50, 0.90),
]
# VGG-16 on the same servers, by GPUs: an older README of Horovod, and docs/benchmarks.rst.
REPORTED_VGG = {128: 0.79, 512: 0.68}
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
    """Forecast the efficiencies of the published clusters by a law.

    All GPUs of a cluster form one ring, which passes through each server's link once, so
    the ring has the bandwidth of this link.

    Parameters
    ----------
    forecast : callable
        An answer to exercise 10.2.

    Returns
    -------
    list of dict
        `name`, `reported`, `in_turn` and `overlapped`, three efficiencies.
    """
    found = []
    for network, devices, batch, gbit, reported in PUBLISHED:
        efficiencies = published_efficiencies(forecast, network, devices, batch, gbit)
        name = f"{network}, {devices} GPUs"
        found.append({"name": name, "reported": reported} | efficiencies)
    return found


def published_efficiencies(
    forecast: Callable, network: str, devices: int, batch_size: int, gbit: float
) -> dict[str, float]:
    """Efficiencies of P100s by an answer to exercise 10.2, in turn and overlapped."""
    gradient_bytes = 4e6 * MILLION_PARAMETERS[network]
    link = ASSUMED_LATENCY_SECONDS, gbit * GBIT
    speeds = forecast(devices, batch_size, *published_law(network), gradient_bytes, *link)
    return {way: float(pair[1]) for way, pair in speeds.items()}


DEFAULTS: dict[str, Any] = {
    "devices": 8,
    "all_reduce": "quickest",  # or "ring", "tree", "two levels"
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
    "machine_devices": 8,
    "machine_gbit": 2400.0,  # between devices of a machine: NVLink of an A100, each way
    # Between failures of one device: 419 unexpected interruptions in 54 days on 16,384
    # GPUs (Llama Team 2024, section 3.3.4).
    "device_days": 16_384 * 54 / 419,
    "save_seconds": 10.0,
    "restart_seconds": 600.0,
    "critical_batch": 1000.0,
    "images": 1e6,  # to the accuracy with small batches
    "price": 2.0,  # dollars for an hour of a device; clouds differ
    "watts": 700.0,  # of a device: the limit of an H100 SXM in NVIDIA's data sheet
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
    return law_in(card, wide_resnet(asked["depth"], asked["width"]).weights)


def law_in(card: dict, parameters: int) -> dict[str, float]:
    """t0 and peak of a run card's fit, and a number of parameters, as settings."""
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


def save_interval(
    save_seconds: float, restart_seconds: float, failure_seconds: float
) -> tuple[float, float]:
    """Young's interval between two saves, and the seconds lost for each second trained.

    Lab 09 explains it. Where saves take so long that Young's interval is more than the
    time between two failures, it is that time.
    """
    interval = min(math.sqrt(2 * save_seconds * failure_seconds), failure_seconds)
    lost = save_seconds / interval + (interval / 2 + restart_seconds) / failure_seconds
    return interval, lost


def all_reduces_of(settings: Mapping) -> dict[str, float]:
    """Seconds of an all-reduce of a plan's gradient, for each kind of all-reduce."""
    s = settings
    gradient_bytes = s["parameters"] * s["value_bytes"] / s["compression"]
    link = gradient_bytes, s["latency_seconds"], s["link_gbit"] * GBIT
    return seconds_by_way(
        s["devices"], *link, s["machine_devices"], s["machine_gbit"] * GBIT
    )


def plan(settings: dict, forecast: Callable) -> dict:
    """Time to accuracy on many devices, and what it costs.

    Images to the accuracy grow with the global batch as McCandlish et al. (2018) say:
    times 1 + global batch / critical batch. With accumulation only a device's last batch
    has messages beside it. Precision changes what is sent, not the speed of computing. A
    device that waits is paid for, and is taken to need as many watts as one that computes.

    Parameters
    ----------
    settings : dict
        As `DEFAULTS`.
    forecast : callable
        An answer to exercise 10.2.

    Returns
    -------
    dict
        `all_reduce`, the way in which it is done, and `all_reduce_seconds`; `global_batch`,
        `step_seconds`, `images_per_second`, `efficiency`, `steps`, `lost_seconds` for each
        second trained, `save_every_seconds`, `hours`, `device_hours`, `dollars`, `kwh`.
    """
    s = settings
    ways = all_reduces_of(s)
    asked = s["all_reduce"]
    way = min(ways, key=lambda name: ways[name]) if asked == "quickest" else asked
    # `forecast` knows a ring only. It gets the latency with which a ring of empty messages
    # would take as long as this all-reduce does.
    latency = ways[way] / max(1, 2 * (s["devices"] - 1))
    compute = s["t0_seconds"], s["peak"]
    speeds = forecast(s["devices"], s["batch_size"], *compute, 0.0, latency, GBIT)
    alone = s["t0_seconds"] + s["batch_size"] / s["peak"]
    last = s["devices"] * s["batch_size"] / speeds["overlapped"][0]
    before = (s["accumulation"] - 1) * alone
    waits = slowest(s["devices"], s["straggler_spread"]) - 1
    step_seconds = before + last + waits * s["accumulation"] * alone
    global_batch = s["devices"] * s["batch_size"] * s["accumulation"]
    steps = math.ceil(s["images"] * (1 + global_batch / s["critical_batch"]) / global_batch)
    failure_seconds = s["device_days"] * 86_400 / s["devices"]
    saving = s["save_seconds"], s["restart_seconds"], failure_seconds
    save_every_seconds, lost = save_interval(*saving)
    hours = steps * step_seconds * (1 + lost) / 3600
    device_hours = hours * s["devices"]
    return {
        "all_reduce": way,
        "all_reduce_seconds": ways[way],
        "global_batch": global_batch,
        "step_seconds": step_seconds,
        "images_per_second": global_batch / step_seconds,
        "efficiency": s["accumulation"] * alone / step_seconds,
        "steps": steps,
        "save_every_seconds": save_every_seconds,
        "lost_seconds": lost,
        "hours": hours,
        "device_hours": device_hours,
        "dollars": device_hours * s["price"],
        "kwh": device_hours * s["watts"] / 1000,
    }


def in_words(settings: dict, planned: dict) -> list[str]:
    """A plan as lines of text, for a terminal and for a screen reader."""
    ways = all_reduces_of(settings)
    others = ", ".join(
        f"{way} {1e3 * seconds:.2f} ms"
        for way, seconds in ways.items()
        if way != planned["all_reduce"]
    )
    return [
        f"{settings['devices']:g} devices at {settings['link_gbit']:.3g} Gbit/s: "
        f"{planned['images_per_second']:.1f} images/s, efficiency "
        f"{100 * planned['efficiency']:.1f}%",
        f"All-reduce by {planned['all_reduce']}: "
        f"{1e3 * planned['all_reduce_seconds']:.2f} ms ({others})",
        f"Global batch {planned['global_batch']:,}: {planned['steps']:,} steps of "
        f"{1e3 * planned['step_seconds']:.2f} ms",
        f"Save every {planned['save_every_seconds']:.0f} s: for each second trained, "
        f"{planned['lost_seconds']:.5f} s are lost",
        f"To {settings.get('goal', 'the accuracy')}: {_span(planned['hours'])}, "
        f"{planned['device_hours']:.3g} device hours",
        f"Cost: {planned['dollars']:.3g} dollars at {settings['price']:g} per device hour, "
        f"{planned['kwh']:.3g} kWh at {settings['watts']:g} W per device",
    ]


def _span(hours):
    return f"{hours:.2f} hours" if hours >= 1 else f"{60 * hours:.2f} minutes"
