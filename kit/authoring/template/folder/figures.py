"""The figures of lab 99."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from helpers.figures import BLUE


def steps_by_batch_size(counts: dict[int, int]) -> Figure:
    """The steps of an epoch over the batch size.

    Parameters
    ----------
    counts : dict of int to int
        The number of steps, by batch size.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.2))
    axes.plot(list(counts), list(counts.values()), "o-", color=BLUE)
    axes.set(xlabel="batch size [images]", ylabel="steps", xlim=(0, None), ylim=(0, None))
    return figure
