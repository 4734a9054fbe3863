"""Lab 11's figure about recomputation."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREY, ORANGE, VIOLET


def price(
    by_formula: Mapping[int, float],
    by_compiler: Mapping[int, float],
    times: Mapping[int, Sequence[float]],
) -> plt.Figure:
    """Memory and time of a step, over the number of segments.

    Parameters
    ----------
    by_formula, by_compiler : dict of int to float
        By the number of segments, the peak as a share of keeping everything.
    times : dict of int to list of float
        How many times as long a step takes as without recomputation, in each round.
    """
    figure, (memory, time) = plt.subplots(1, 2, figsize=(8, 3.4))
    for shares, style, colour, label in (
        (by_formula, "--", BLUE, "by the formula"),
        (by_compiler, "o", ORANGE, "by the compiler"),
    ):
        memory.plot(list(shares), list(shares.values()), style, color=colour, label=label)
    memory.axhline(1, ls="--", color=GREY, label="plain step")
    memory.set(xlabel="segments", ylabel="peak memory / plain step", ylim=(0, None))
    middle = np.array([np.median(one) for one in times.values()])
    below = middle - [min(one) for one in times.values()]
    above = [max(one) for one in times.values()] - middle
    time.errorbar(
        list(times), middle, [below, above], fmt="D", color=VIOLET, capsize=4,
        label="measured: median and range",
    )  # fmt: skip
    time.axhline(4 / 3, ls="-", color=BLUE, label="predicted: 4/3")
    time.axhline(1, ls="--", color=GREY, label="plain step")
    time.set(xlabel="segments", ylabel="time / plain step", ylim=(0, None))
    for axes in (memory, time):
        axes.set_xscale("log", base=2)
        ticks = list(by_compiler)
        axes.set_xticks(ticks, [str(k) for k in ticks])
        axes.set_xlim(min(ticks) / 1.3, max(ticks) * 1.3)
        axes.legend()
    figure.tight_layout()
    return figure
