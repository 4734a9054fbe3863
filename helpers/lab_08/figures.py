"""The figures of lab 08: faster on one device."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, MARKERS, ORANGE, RED

COLOURS = {"conv": BLUE, "norm": ORANGE, "relu": GREEN}
NAMES = {"conv": "convolution", "norm": "batch norm", "relu": "ReLU"}


def roofline(points: Sequence[dict], peak: float, bytes_per_second: float) -> plt.Figure:
    """Operations per second of layers by their intensity, under the roof.

    Parameters
    ----------
    points : list of dict
        `kind` (conv, norm, relu), `stage`, `intensity` in operations per byte, and
        `operations_per_second` as measured.
    peak : float
        Operations per second of a large matrix product.
    bytes_per_second : float

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    ridge = peak / bytes_per_second
    ends = [min(p["intensity"] for p in points) / 2, 4 * ridge]
    ends[1] = max(ends[1], 2 * max(p["intensity"] for p in points))
    x = np.array([ends[0], ridge, ends[1]])
    roof = np.minimum(peak, x * bytes_per_second) / 1e9
    axes.plot(x, roof, color=GREY, label="the roof")
    for kind, marker in zip(NAMES, MARKERS, strict=False):
        mine = [p for p in points if p["kind"] == kind]
        axes.plot(
            [p["intensity"] for p in mine],
            [p["operations_per_second"] / 1e9 for p in mine],
            marker, color=COLOURS[kind], label=NAMES[kind],
        )  # fmt: skip
        for p in mine:
            where = p["intensity"], p["operations_per_second"] / 1e9
            axes.annotate(f" {p['stage']}", where, fontsize=8)
    axes.axvline(ridge, color=GREY, linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="operations per byte", ylabel="billion operations per second")
    axes.legend(fontsize=8, loc="lower right")
    return figure


def predicted_and_measured(
    names: Sequence[str], predicted_ms: Sequence[float], measured_ms: Sequence[float]
) -> plt.Figure:
    """Milliseconds of each layer, by the roofline and as measured.

    Parameters
    ----------
    names : list of str
    predicted_ms, measured_ms : list of float
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    places = np.arange(len(names))
    axes.bar(places - 0.2, predicted_ms, 0.4, color=GREY, label="by the roofline")
    axes.bar(places + 0.2, measured_ms, 0.4, color=BLUE, hatch="//", label="measured")
    axes.set_xticks(places, names, rotation=40, ha="right", fontsize=8)
    axes.set(ylabel="forward and backward [ms]", yscale="log")
    axes.legend(fontsize=8)
    return figure


def profile_bars(profiles: Mapping[str, Mapping[str, float]]) -> plt.Figure:
    """Milliseconds of a step by the kind of layer, for one profile or several.

    Parameters
    ----------
    profiles : dict of str to dict
        For each profile's name, seconds by kind of layer.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    kinds = list(next(iter(profiles.values())))
    places, height = np.arange(len(kinds)), 0.8 / len(profiles)
    styles = zip((BLUE, ORANGE), ("", "//"), strict=True)
    for i, ((name, profile), (colour, hatch)) in enumerate(
        zip(profiles.items(), styles, strict=False)
    ):
        ms = [1000 * profile.get(kind, 0) for kind in kinds]
        at = places + (i - (len(profiles) - 1) / 2) * height
        axes.barh(at, ms, height, color=colour, hatch=hatch, label=name)
    axes.set_yticks(places, kinds)
    axes.invert_yaxis()
    axes.set(xlabel="operations of a step, added up [ms]")
    axes.legend(fontsize=8)
    return figure


def overlap(seconds: Mapping[str, float]) -> plt.Figure:
    """Milliseconds of a step with a slow source.

    Parameters
    ----------
    seconds : dict of str to float
        By what was measured or worked out.
    """
    figure, axes = plt.subplots(figsize=(7.5, 2.8))
    names = list(seconds)
    colours = [BLUE if "measured" in name else GREY for name in names]
    ms = [1000 * s for s in seconds.values()]
    axes.barh(names, ms, color=colours)
    axes.invert_yaxis()
    axes.set(xlabel="time of a step [ms]")
    return figure


def loss_scale(scales: Sequence[float]) -> plt.Figure:
    """The scale after each step, and which steps were left out.

    Parameters
    ----------
    scales : list of float
    """
    figure, axes = plt.subplots(figsize=(7.5, 3))
    steps = np.arange(1, len(scales) + 1)
    axes.step(steps, scales, where="post", color=BLUE, label="scale")
    skipped = [i for i in range(1, len(scales)) if scales[i] < scales[i - 1]]
    axes.plot(
        [steps[i] for i in skipped], [scales[i] for i in skipped],
        "X", color=RED, label="a step left out",
    )  # fmt: skip
    axes.set_yscale("log", base=2)
    axes.set(xlabel="step", ylabel="loss scale")
    axes.legend(fontsize=8)
    return figure


def schedule(rates: Sequence[float], constant: float) -> plt.Figure:
    """Learning rate by step.

    Parameters
    ----------
    rates : list of float
    constant : float
        The rate of the recipe that is replaced.
    """
    figure, axes = plt.subplots(figsize=(7.5, 2.8))
    axes.plot(range(len(rates)), rates, color=BLUE, label="one cycle")
    axes.axhline(constant, color=GREY, linestyle="--", label="the original")
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.legend(fontsize=8)
    return figure


def race(runs: Mapping[str, Sequence[Sequence[float]]], target: float) -> plt.Figure:
    """Accuracy by epochs for two recipes.

    Parameters
    ----------
    runs : dict of str to list of list of float
        For each recipe, the accuracies after each epoch of every run.
    target : float
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    styles = zip((GREY, BLUE), ("o--", "s-"), strict=True)
    for (name, curves), (colour, style) in zip(runs.items(), styles, strict=False):
        for i, curve in enumerate(curves):
            label = name if i == 0 else f"_{name}"
            epochs = range(1, len(curve) + 1)
            axes.plot(epochs, curve, style, color=colour, markersize=4, label=label)
    axes.axhline(target, color=RED, linewidth=1.2, label=f"target {target:g}")
    axes.set(xlabel="epoch", ylabel="validation accuracy", ylim=(0, 1))
    axes.legend(fontsize=8, loc="lower right")
    return figure


def waterfall(bars: Sequence[dict]) -> plt.Figure:
    """From the original's seconds to the fast recipe's, one bar for each change.

    Parameters
    ----------
    bars : list of dict
        `name`, `before` and `after` in seconds, and `kept`: whether the change stays.
        The first has the original's seconds as `after` and 0 as `before`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(8.5, 4.2))
    for i, bar in enumerate(bars):
        low, high = sorted((bar["before"], bar["after"]))
        faster = bar["after"] < bar["before"]
        colour = GREY if i in (0, len(bars) - 1) else GREEN if faster else RED
        fill: dict = (
            {"color": colour} if bar["kept"] else {"facecolor": "white", "hatch": "xx"}
        )
        edge: dict = {"edgecolor": colour, "label": f"_{bar['name']}"}
        axes.bar(i, high - low, bottom=low, **(fill | edge))
        axes.annotate(
            f"{bar['after']:.1f}", (i, high), ha="center", va="bottom", fontsize=8
        )
        if bar["kept"] and i + 1 < len(bars):
            axes.plot([i, i + 1], 2 * [bar["after"]], color=GREY, linewidth=0.8, label="_")
    names = [bar["name"] if bar["kept"] else f"({bar['name']})" for bar in bars]
    axes.set_xticks(range(len(bars)), names, rotation=30, ha="right", fontsize=8)
    axes.set(ylabel="seconds to the target", ylim=(0, None))
    axes.set_title("hatched, in brackets: tried, and not kept", fontsize=9)
    return figure
