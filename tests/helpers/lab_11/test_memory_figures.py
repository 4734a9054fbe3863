"""The figure of section 1 of lab 11: its bars."""

import pytest

from helpers.lab_11.memory import memory_figures

KINDS = "weights", "gradients", "optimizer", "activations"


def test_each_bar_is_as_high_as_all_kinds_together():
    budgets = {
        devices: {
            stage: {kind: 1e9 * (devices + stage + i) for i, kind in enumerate(KINDS)}
            for stage in range(4)
        }
        for devices in (1, 8)
    }
    figure = memory_figures.stages(budgets, 80e9)
    for axes, by_stage in zip(figure.axes, budgets.values(), strict=True):
        tops = [max(b.get_y() + b.get_height() for b in bars)
                for bars in zip(*axes.containers, strict=True)]  # fmt: skip
        assert tops == pytest.approx(
            [sum(held.values()) / 1e9 for held in by_stage.values()]
        )
