"""The figures of lab 08: faster on one device."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, MARKERS, ORANGE, VIOLET

COLOURS = {"conv": BLUE, "norm": ORANGE, "relu": GREEN}
LIMITS = {"arithmetic": GREEN, "memory": ORANGE, "dispatch": GREY}
NAMES = {"conv": "convolution", "norm": "batch norm", "relu": "ReLU"}


def roofline(points: Sequence[dict], peak: float, bytes_per_second: float) -> plt.Figure:
    """Operations per second of layers by their intensity, under the roof.

    Points whose arrays fit into the cache are hollow. Where dispatch is the limit, a short
    line marks the speed at which a call would take as long as an empty one.

    Parameters
    ----------
    points : list of dict
        `kind` (conv, norm, relu), `stage`, `operations`, `bytes`, `seconds` as measured,
        `limits` (seconds by limit, with a `dispatch`), `limit` (the largest one's name),
        and whether its arrays are `in_cache`.
    peak : float
        Operations per second of a large matrix product.
    bytes_per_second : float

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(8.5, 5))
    ridge = peak / bytes_per_second
    intensities = [p["operations"] / p["bytes"] for p in points]
    ends = [min(intensities) / 2, max(4 * ridge, 2 * max(intensities))]
    x = np.array([ends[0], ridge, ends[1]])
    axes.plot(x, np.minimum(peak, x * bytes_per_second) / 1e9, color=GREY, label="the roof")
    labelled = set()
    for point, intensity in zip(points, intensities, strict=True):
        colour, (kind, hollow) = COLOURS[point["kind"]], (point["kind"], point["in_cache"])
        label = NAMES[kind] + (", in cache" if hollow else "")
        where = intensity, point["operations"] / point["seconds"] / 1e9
        axes.plot(
            *where, MARKERS[list(NAMES).index(kind)], color=colour,
            markerfacecolor="white" if hollow else colour,
            label=f"_{label}" if label in labelled else label,
        )  # fmt: skip
        labelled.add(label)
        axes.annotate(f"  {point['stage']}", where, fontsize=8)
        if point["limit"] != "dispatch":
            continue
        axes.plot(
            [intensity / 1.15, intensity * 1.15],
            2 * [point["operations"] / point["limits"]["dispatch"] / 1e9],
            color=VIOLET, linewidth=1.5,
            label="_dispatch" if "dispatch" in labelled else "an empty call's speed",
        )  # fmt: skip
        labelled.add("dispatch")
    axes.axvline(ridge, color=GREY, linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="operations per byte", ylabel="billion operations per second")
    axes.legend(loc="upper left")
    return figure


def limits_and_measured(points: Sequence[dict]) -> plt.Figure:
    """Milliseconds of each layer beside the largest of its three limits.

    Parameters
    ----------
    points : list of dict
        `name`, `batch`, `limits` (seconds by limit), `limit` (the largest one's name) and
        the measured `seconds`. For each layer, the point at the batch size of training
        is followed by the point with larger arrays: one panel for each.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axes, first, title in zip(
        panels, (0, 1), ("the batch of training", "larger arrays"), strict=True
    ):
        chosen = points[first::2]
        places = np.arange(len(chosen))
        for limit, colour in LIMITS.items():
            at = [i for i, p in enumerate(chosen) if p["limit"] == limit]
            ms = [1000 * chosen[i]["limits"][limit] for i in at]
            if at:
                axes.bar(places[at] - 0.2, ms, 0.4, color=colour, label=f"limit: {limit}")
        measured = [1000 * p["seconds"] for p in chosen]
        axes.bar(places + 0.2, measured, 0.4, color=BLUE, hatch="//", label="measured")
        names = [p["name"] for p in chosen]
        axes.set_xticks(places, names, rotation=40, ha="right", fontsize=8)
        axes.set(yscale="log")
        axes.set_title(title, fontsize=9)
        axes.legend()
    panels[0].set_ylabel("forward and backward [ms]")
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
    axes.legend()
    return figure


def overlap(seconds: Mapping[str, float]) -> plt.Figure:
    """Milliseconds of a step with a slow source.

    Parameters
    ----------
    seconds : dict of str to float
        By a label, which says whether they were measured or calculated.
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
    """The scale after each step, and the steps that were skipped.

    Parameters
    ----------
    scales : list of float
        The first is the scale at the start, before any step.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3))
    steps = np.arange(len(scales))
    axes.step(steps, scales, where="post", color=BLUE, label="scale")
    skipped = [i for i in range(1, len(scales)) if scales[i] < scales[i - 1]]
    axes.plot(
        [steps[i] for i in skipped], [scales[i] for i in skipped],
        "X", color=VIOLET, label="a step that was skipped",
    )  # fmt: skip
    axes.set_yscale("log", base=2)
    axes.set(xlabel="steps so far", ylabel="loss scale")
    axes.legend()
    return figure


def schedule(rates: Sequence[float], constant: float) -> plt.Figure:
    """Learning rate by step.

    Parameters
    ----------
    rates : list of float
    constant : float
        The rate of the recipe that the schedule replaces.
    """
    figure, axes = plt.subplots(figsize=(7.5, 2.8))
    axes.plot(range(len(rates)), rates, color=BLUE, label="one cycle")
    axes.axhline(constant, color=GREY, linestyle="--", label="the original")
    axes.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    axes.legend()
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
    axes.axhline(target, color=VIOLET, linewidth=1.2, label=f"target {target:g}")
    axes.set(xlabel="epoch", ylabel="validation accuracy", ylim=(0, 1))
    axes.legend(loc="lower right")
    return figure


def waterfall(bars: Sequence[dict]) -> plt.Figure:
    """From the original's seconds to the fast recipe's, one bar for each change.

    The axis is logarithmic: a factor has the same length at any place in the order.

    Parameters
    ----------
    bars : list of dict
        `name`, `before` and `after` in seconds, and `kept`: whether the change stays. The
        first and the last stand for a whole training: their `before` is 0.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(8.5, 4.2))
    seconds = [s for bar in bars for s in (bar["before"], bar["after"]) if s > 0]
    floor, top = min(seconds) / 2, max(seconds) * 2
    for i, bar in enumerate(bars):
        whole = bar["before"] <= 0
        low, high = sorted((bar["before"], bar["after"]))
        colour = GREY if whole else GREEN if bar["after"] < bar["before"] else VIOLET
        fill: dict = (
            {"color": colour} if bar["kept"] else {"facecolor": "white", "hatch": "xx"}
        )
        edge: dict = {"edgecolor": colour, "label": f"_{bar['name']}"}
        bottom = floor if whole else low
        axes.bar(i, high - bottom, bottom=bottom, **(fill | edge))
        factor_text = f"{high:.1f} s" if whole else f"× {bar['before'] / bar['after']:.2f}"
        axes.annotate(factor_text, (i, high), ha="center", va="bottom", fontsize=8)
        if bar["kept"] and i + 1 < len(bars):
            axes.plot([i, i + 1], 2 * [bar["after"]], color=GREY, linewidth=0.8, label="_")
    names = [bar["name"] if bar["kept"] else f"({bar['name']})" for bar in bars]
    axes.set_xticks(range(len(bars)), names, rotation=30, ha="right", fontsize=8)
    axes.set(ylabel="seconds to the target", yscale="log", ylim=(floor, top))
    axes.set_title("on each bar: how many times as fast; (hatched): not kept", fontsize=9)
    return figure
