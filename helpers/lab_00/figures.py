"""The figures of lab 00: devices."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, GREY, LINES, MARKERS, ORANGE, guess_label


def matmul_curves(
    sizes: Sequence[int],
    seconds: Mapping[str, Sequence[float]],
    winner: int | None,
    guess: int | None = None,
) -> plt.Figure:
    """Time and speed of square products against their size, one line per device.

    Parameters
    ----------
    sizes : list of int
        Rows and columns of both matrices.
    seconds : dict of str to list of float
        Seconds of each product, by the device's name.
    winner, guess : int or None
        The size from which the faster device wins, measured and predicted. None draws no
        line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (times, speeds) = plt.subplots(1, 2, figsize=(9, 4.2))
    styles = zip((ORANGE, BLUE), MARKERS, LINES, strict=False)
    for (name, values), (colour, marker, line) in zip(seconds.items(), styles, strict=True):
        style = {"color": colour, "marker": marker, "linestyle": line, "label": name}
        times.loglog(sizes, values, base=2, **style)
        flops = [2 * size**3 / value for size, value in zip(sizes, values, strict=True)]
        speeds.loglog(sizes, [value / 1e9 for value in flops], base=2, **style)
    for axes in (times, speeds):
        axes.set_yscale("log")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45)
        axes.set_xlabel("size of both matrices [rows and columns]")
        if winner:
            axes.axvline(winner, color=GREEN, linestyle="-.", label="wins from here on")
        if guess:
            axes.axvline(guess, color=GREY, linestyle=":", label=guess_label())
    times.set_ylabel("time of one product [s]")
    speeds.set_ylabel("speed [GFLOP/s]")
    times.legend()
    return figure
