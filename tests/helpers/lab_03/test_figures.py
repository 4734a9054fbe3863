"""The figure of steps against batch size is drawn with what there is."""

import math

import matplotlib.pyplot as plt
import pytest

from helpers.lab_03.figures import steps_to_target

NEVER = math.inf


@pytest.mark.parametrize(
    ("steps", "floor", "bend", "drawn"),
    [
        ({16: [700, 740], 64: [190, NEVER], 256: [70]}, 40, 280, True),
        ({16: [NEVER], 64: [NEVER, NEVER]}, NEVER, NEVER, False),
    ],
)
def test_a_size_that_never_arrives_has_no_median(steps, floor, bend, drawn):
    figure = steps_to_target(steps, floor, bend, noise_scales=(-5, 60, 500), guess=100)
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert ("perfect scaling" in labels) is drawn
    assert ("fit, bend at 280" in labels) is drawn
    assert {"noise scale", "its median", "your guess"} <= set(labels)
    plt.close(figure)


def test_without_a_prediction_and_a_noise_scale_none_is_drawn():
    figure = steps_to_target({16: [700], 64: [190]}, NEVER, NEVER)
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert not {"noise scale", "its median", "your guess"} & set(labels)
    plt.close(figure)
