"""The figures of lab 02: throughput."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREEN, GREY, ORANGE, VIOLET, guess_label


def throughput_bars(
    points: Mapping[int, float | None], guess: Mapping[int, float] | None = None
) -> plt.Figure:
    """Bars of images per second by batch size, with the student's prediction.

    Parameters
    ----------
    points : dict of int to float or None
        Images per second by batch size; None is drawn as "did not fit".
    guess : dict of int to float, optional
        The prediction, made before measuring.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots()
    _bars(axes, points, guess)
    return figure


def fitted_law(
    points: Mapping[int, float | None],
    guess: Mapping[int, float] | None,
    fit: tuple[float, float],
    original: Mapping[int, float],
    original_fit: tuple[float, float],
) -> plt.Figure:
    """The fitted law over the bars, and both machines in units of their own fits.

    Parameters
    ----------
    points, guess
        As in `throughput_bars`.
    fit, original_fit : tuple of float
        Fixed cost of a step in seconds, and peak in images per second.
    original : dict of int to float
        The table that the original lab printed; its GPU is not stated.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (bars, machines) = plt.subplots(
        1, 2, figsize=(9.6, 4.2), width_ratios=(1.35, 1)
    )
    _bars(bars, points, guess, fit)
    bars.tick_params("x", rotation=45)
    measured = {size: speed for size, speed in points.items() if speed}
    machines.set(xscale="log", yscale="log")
    ends = []
    for label, speeds, (t0_seconds, peak), colour, style in (
        ("measured here", measured, fit, BLUE, "o"),
        ("original lab, GPU not stated", original, original_fit, VIOLET, "^:"),
    ):
        if t0_seconds > 0 and peak > 0:  # otherwise these units make no sense
            sizes = np.array(sorted(speeds))
            bends = sizes / (t0_seconds * peak)
            shares = [speeds[size] / peak for size in sizes]
            machines.plot(bends, shares, style, color=colour, label=label)
            ends += [bends[0], bends[-1]]
    if ends:
        bends = np.geomspace(min(ends), max(ends), 40)
        machines.plot(bends, bends / (1 + bends), "-", color=GREEN, label="law")
        grey = {"color": GREY, "linestyle": "--", "linewidth": 1}
        low = bends[bends <= 1.5]
        machines.plot(low, low, label="fixed cost only", **grey)
        machines.axhline(1, label="peak", **(grey | {"linestyle": "-."}))
        machines.legend(loc="lower right")
    machines.set_yticks((0.1, 0.2, 0.5, 1))
    for axis in (machines.xaxis, machines.yaxis):
        axis.set_major_formatter("{x:g}")
    machines.minorticks_off()
    machines.set(xlabel="batch size / (t0 · peak)", ylabel="throughput / peak")
    return figure


def _bars(axes, points, guess, fit=None):
    guess = guess or {}
    sizes = sorted(set(points) | set(guess))
    where = {size: i for i, size in enumerate(sizes)}
    for size, value in points.items():
        if value is None:
            axes.text(where[size], 0, " did not fit", rotation=90, ha="center")
    measured = {size: value for size, value in points.items() if value}
    axes.bar(
        [where[size] for size in measured],
        list(measured.values()),
        color=BLUE,
        alpha=0.75,
        label="measured here",
    )
    lines = [(guess_label(), guess, ORANGE, "o--")] if guess else []
    if fit:
        law = {size: size / (fit[0] + size / fit[1]) for size in measured}
        lines.append(("fitted law", law, GREEN, "D-"))
    for label, values, colour, style in lines:
        places = [where[size] for size in sorted(values)]
        heights = [values[size] for size in sorted(values)]
        axes.plot(places, heights, style, color=colour, label=label)
    axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axes.set(xlabel="batch size [images]", ylabel="throughput [images/s]", ylim=(0, None))
    # Above the axes, because bars and lines leave none of their corners empty.
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def step_times(step_seconds: Mapping[int, float]) -> plt.Figure:
    """Time of a training step over its batch size, for all sizes and for the smallest.

    Parameters
    ----------
    step_seconds : dict of int to float
    """
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4))
    sizes = sorted(step_seconds)
    few = sizes[: max(4, len(sizes) // 2)]
    titles = ("all batch sizes", "the smallest alone")
    for axes, shown, title in zip(panels, (sizes, few), titles, strict=True):
        axes.plot(shown, [step_seconds[size] for size in shown], "o", color=BLUE)
        axes.set(xlabel="batch size [images]", ylabel="time of a step [s]", title=title)
        axes.set(xlim=(0, None), ylim=(0, None))
    return figure


def redrawn_fits(
    measured: Mapping[int, float],
    fit: tuple[float, float],
    drawn: Mapping[int, float],
    redrawn: Sequence[Sequence[float]],
    rounds: Sequence[tuple[float, float]],
) -> plt.Figure:
    """One redrawn sweep with its fit, and the fits of all redrawn sweeps.

    Parameters
    ----------
    measured, drawn : dict of int to float
        Images per second by batch size: as measured, and in the last redrawn sweep.
    fit : tuple of float
        Fixed cost of a step in seconds, and peak in images per second.
    redrawn : sequence of sequence of float
        Each begins with the fixed cost and the peak of a redrawn sweep; the last one is
        the fit of `drawn`.
    rounds : sequence of tuple of float
        The fit of each measured round alone.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (sweep, cloud) = plt.subplots(1, 2, figsize=(9.6, 3.8))
    sizes = np.array(sorted(measured))
    fine = np.geomspace(sizes[0], sizes[-1], 60)
    for label, speeds, (t0_seconds, peak), colour, styles in (
        ("measured", measured, fit, BLUE, ("o", "-")),
        ("one redrawn sweep", drawn, redrawn[-1][:2], ORANGE, ("^", "--")),
    ):
        heights = [speeds[size] for size in sizes]
        sweep.plot(sizes, heights, styles[0], color=colour, label=label)
        law = fine / (t0_seconds + fine / peak)
        sweep.plot(fine, law, styles[1], color=colour, label=f"fit, {label}")
    sweep.set(xscale="log", xlabel="batch size [images]", ylabel="throughput [images/s]")
    sweep.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
    sweep.minorticks_off()
    sweep.set_ylim(0, None)
    sweep.legend(loc="lower right")
    for label, fits, style, colour, size in (
        ("redrawn sweeps", [each[:2] for each in redrawn], ".", GREY, 4),
        ("each round alone", rounds, "^", VIOLET, 8),
        ("your fit", [fit], "D", GREEN, 8),
    ):
        costs, peaks = zip(*fits, strict=True)
        costs = [1000 * cost for cost in costs]
        cloud.plot(costs, peaks, style, color=colour, markersize=size, label=label)
    cloud.set(xlabel="fixed cost of a step [ms]", ylabel="peak [images/s]")
    cloud.legend()
    return figure


def residuals(
    rounds: Mapping[int, Sequence[float]],
    fit: tuple[float, float],
    band: Mapping[int, tuple[float, float]],
) -> plt.Figure:
    """How far each measurement lies from the law, and where redrawn laws lie.

    Parameters
    ----------
    rounds : dict of int to list of float
        Images per second of each round, by batch size.
    fit : tuple of float
        Fixed cost of a step in seconds, and peak in images per second.
    band : dict of int to tuple of float
        The lowest and the highest throughput of the redrawn laws, by batch size.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.6))
    sizes = sorted(rounds)
    places = np.arange(len(sizes))

    def off(size, speed):
        return 100 * (speed * (fit[0] + size / fit[1]) / size - 1)

    low, high = zip(
        *([off(size, end) for end in band[size]] for size in sizes), strict=True
    )
    axes.fill_between(
        places, low, high, color=GREEN, alpha=0.2, label="nine of ten redrawn laws"
    )
    axes.axhline(0, color=GREEN, label="fitted law")
    for place, size in zip(places, sizes, strict=True):
        values = [off(size, speed) for speed in rounds[size]]
        axes.plot(
            [place] * len(values),
            values,
            "o",
            color=GREY,
            markersize=5,
            label="_each round",
        )
        axes.plot(place, np.median(values), "D", color=BLUE, markersize=6, label="_median")
    for line in axes.lines[1:3]:
        line.set_label(str(line.get_label()).removeprefix("_"))
    axes.set_xticks(places, [f"{size:,}" for size in sizes])
    axes.set(xlabel="batch size [images]", ylabel="throughput above the law [%]")
    axes.legend()
    return figure


def share_of_peak(shares: Mapping[int, float], guess: float | None = None) -> plt.Figure:
    """The share of the machine's speed that training reaches, by batch size.

    Parameters
    ----------
    shares : dict of int to float
        Operations per second, as a fraction of a matrix product's.
    guess : float, optional
        The share that the student predicted for the fastest size.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    sizes = sorted(shares)
    axes.bar(range(len(sizes)), [shares[s] for s in sizes], color=BLUE, label="training")
    axes.axhline(1, color=GREY, linestyle="-.", label="matrix product")
    if guess is not None:
        axes.axhline(guess, color=ORANGE, linestyle="--", label=guess_label())
    axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axes.set(xlabel="batch size [images]", ylabel="share of the measured peak")
    axes.set(ylim=(0, max(1.05, *shares.values())))
    axes.legend()
    return figure


def memory_by_batch(
    estimated: Mapping[int, float],
    grown: Mapping[int, float],
    since: int,
    weights_mib: float,
) -> plt.Figure:
    """Memory of a training step by batch size, estimated and measured.

    Parameters
    ----------
    estimated, grown : dict of int to float
        MiB by batch size: the estimate, and the measured growth of the memory in use.
    since : int
        The batch size of the training before the first measurement.
    weights_mib : float
        Memory of the weights and their gradients.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    axes.loglog(estimated.keys(), estimated.values(), "--", color=GREEN, label="estimated")
    if grown:
        label = f"measured: grown since a batch of {since:,}"
        axes.plot(list(grown), list(grown.values()), "o", color=BLUE, label=label)
    axes.axhline(weights_mib, color=GREY, linestyle=":", label="weights and gradients")
    axes.set_xticks(list(estimated), [f"{size:,}" for size in estimated])
    axes.minorticks_off()
    axes.set(xlabel="batch size [images]", ylabel="memory of a step [MiB]")
    axes.legend()
    return figure
