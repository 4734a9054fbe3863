"""The figure of section 1 of lab 11: memory by kind, stage, and number of devices."""

from collections.abc import Mapping

import matplotlib.pyplot as plt

from helpers.figures import BLUE, GREEN, ORANGE, VIOLET

COLOURS = {"weights": BLUE, "gradients": ORANGE, "optimizer": GREEN, "activations": VIOLET}
HATCHES = {"weights": "", "gradients": "//", "optimizer": "..", "activations": "xx"}


def stages(budgets: Mapping[int, Mapping[int, dict]], limit_bytes: float) -> plt.Figure:
    """A bar for each stage and number of devices, stacked by kind.

    Parameters
    ----------
    budgets : dict of int to dict of int to dict
        By the number of devices and the stage: bytes by kind, as in exercise 11.1.
    limit_bytes : float
        What a device has; a line shows it.
    """
    figure, panels = plt.subplots(1, len(budgets), figsize=(8, 3.4), sharey=True)
    for axes, (devices, by_stage) in zip(panels, budgets.items(), strict=True):
        places, bottoms = range(len(by_stage)), [0.0] * len(by_stage)
        for kind, colour in COLOURS.items():
            heights = [held[kind] / 1e9 for held in by_stage.values()]
            axes.bar(
                places, heights, 0.7, bottoms, color=colour, hatch=HATCHES[kind],
                edgecolor="white", linewidth=0, label=kind,
            )  # fmt: skip
            bottoms = [low + high for low, high in zip(bottoms, heights, strict=True)]
        limit = f"{limit_bytes / 1e9:.0f} GB"
        axes.axhline(limit_bytes / 1e9, color="black", linestyle="--", label=limit)
        axes.set_xticks(places, [str(stage) for stage in by_stage])
        axes.set(xlabel="stage", title=f"{devices} device{'s' * (devices > 1)}")
    panels[0].set(ylabel="GB on a device")
    panels[-1].legend()
    return figure
