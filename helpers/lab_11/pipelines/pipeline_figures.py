"""Figures of lab 11 about the pipeline."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np

from helpers.figures import BLUE, GREY, ORANGE
from helpers.lab_11.pipelines.pipeline_schedule import Box, formula

FILLS = {"F": (BLUE, 0.25), "B": (ORANGE, 0.35)}
WORDS = {"F": "forward", "B": "backward"}


def idle_shares(measured: Mapping[int, Sequence[float]], stages: int) -> plt.Figure:
    """The idle share of the stages over the number of micro-batches.

    Parameters
    ----------
    measured : dict of int to list of float
        By the number of micro-batches, the share of each repetition.
    stages : int

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    numbers = list(measured)
    shares = 100 * np.array(list(measured.values()))
    middle = np.median(shares, axis=1)
    spread = np.abs(np.array([shares.min(axis=1), shares.max(axis=1)]) - middle)
    axes.errorbar(
        numbers, middle, spread, fmt="o", color=BLUE, capsize=4,
        label="measured: median and range",
    )  # fmt: skip
    curve = np.geomspace(numbers[0], numbers[-1], 60)
    axes.plot(
        curve, 100 * formula(stages, curve), "--", color=ORANGE,
        label="(p - 1) / (m + p - 1)",
    )  # fmt: skip
    axes.set(xscale="log", xlabel="micro-batches", ylabel="idle share [%]", ylim=(0, 100))
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.minorticks_off()
    axes.legend()
    return figure


def time_lines(boxes_by_order: Mapping[str, Sequence[Box]]) -> plt.Figure:
    """What each stage did when: a row for each stage, and a blank where it was idle.

    Parameters
    ----------
    boxes_by_order : dict of str to list of Box
        By the name of an order.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, all_axes = plt.subplots(
        len(boxes_by_order), figsize=(9, 2.1 * len(boxes_by_order)), sharex=True,
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for axes, (name, boxes) in zip(all_axes[:, 0], boxes_by_order.items(), strict=True):
        in_milliseconds = [
            box._replace(begin=1e3 * box.begin, end=1e3 * box.end) for box in boxes
        ]
        draw_time_line(axes, name, in_milliseconds)
    draw_legend(all_axes[0, 0])
    all_axes[-1, 0].set_xlabel("time since the first forward began [ms]")
    return figure


def draw_time_line(axes: plt.Axes, name: str, boxes: Sequence[Box]) -> None:
    """Draw when each stage did what, with a number in each box: its micro-batch."""
    stages = max(box.stage for box in boxes) + 1
    for kind in "FB":
        of_kind = [box for box in boxes if box.kind == kind]
        colour, alpha = FILLS[kind]
        axes.barh(
            [box.stage for box in of_kind],
            [box.end - box.begin for box in of_kind],
            left=[box.begin for box in of_kind],
            height=0.8, color=(colour, alpha), edgecolor=colour, lw=0.8,
            label=WORDS[kind],
        )  # fmt: skip
    for box in boxes:
        middle = (box.begin + box.end) / 2
        axes.text(middle, box.stage, box.micro_batch, ha="center", va="center", size=7)
    axes.set_yticks(range(stages), [f"stage {stage}" for stage in range(stages)])
    axes.set_ylim(stages - 0.5, -0.5)
    axes.set_title(name, loc="left", fontsize=9)
    axes.grid(visible=False)
    axes.axvline(max(box.end for box in boxes), color=GREY, lw=0.8, ls=":")


def draw_legend(axes: plt.Axes) -> None:
    """Draw the legend of a time line above it, where there are no boxes."""
    axes.legend(loc="lower right", ncols=2, bbox_to_anchor=(1, 1))
