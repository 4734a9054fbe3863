"""The figure of steps against batch size is drawn from the runs that exist."""

import math

import matplotlib.pyplot as plt
import pytest

from helpers.lab_03.figures import (
    steps_to_target,
    time_by_laws,
    time_to_accuracy_spread,
)

NEVER = math.inf


@pytest.mark.parametrize(
    ("steps", "floor", "bend", "drawn"),
    [
        ({16: [700, 740], 64: [190, NEVER], 256: [70]}, 40, 280, True),
        ({16: [NEVER], 64: [NEVER, NEVER]}, NEVER, NEVER, False),
    ],
)
def test_a_size_that_never_reaches_the_target_has_no_median(steps, floor, bend, drawn):
    figure = steps_to_target(steps, floor, bend, noise_scales=(-5, 60, 500), guess=100)
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert ("perfect scaling" in labels) is drawn
    assert ("fit, bend at 280" in labels) is drawn
    assert {"noise scale", "its median", "your guess"} <= set(labels)
    figure.set_layout_engine("constrained")
    figure.canvas.draw()
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == ([] if drawn else ["no run reached the target"])
    assert figure.axes[0].get_yscale() == ("log" if drawn else "linear")
    plt.close(figure)


def test_without_a_prediction_and_a_noise_scale_none_is_drawn():
    figure = steps_to_target({16: [700], 64: [190]}, NEVER, NEVER)
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert not {"noise scale", "its median", "your guess"} & set(labels)
    plt.close(figure)


@pytest.mark.parametrize(
    "seconds", [lambda size: 9 / size + size / 900, lambda size: NEVER]
)
def test_the_laws_and_their_forecast_are_drawn_where_they_say_something(seconds):
    times = {16: [7.0, 6.5], 64: [2.5, NEVER], 256: [NEVER]}
    figure = time_by_laws(times, seconds, 90, [2.1, 2.0], guess=2.4)
    labels = set(figure.axes[0].get_legend_handles_labels()[1])
    assert ({"both laws", "their forecast"} <= labels) is (seconds(90) < NEVER)
    assert {"batch 90, run afterwards", "your prediction"} <= labels
    plt.close(figure)


def bars(figure):
    """The places of the bars at medians."""
    lines = [line for line in figure.axes[0].lines if line.get_marker() == "_"]
    assert all(line.get_linestyle() == "None" for line in lines), "bars, and no curve"
    plt.close(figure)
    return [point for line in lines for point in line.get_xydata().tolist()]


def test_a_bar_is_at_each_median_that_is_finite():
    runs = {16: [7.0, 6.0, 9.0], 64: [2.0, 3.0, NEVER], 256: [2.0, NEVER, NEVER]}
    finite = [[16, 7], [64, 3]]
    assert bars(time_by_laws(runs, lambda size: NEVER, 90, [])) == finite
    assert bars(time_by_laws(runs, lambda size: 1.0, 90, [4.0])) == [*finite, [90, 4]]
    assert bars(steps_to_target(runs, NEVER, NEVER)) == finite
    in_turn = {size: [None if t == NEVER else t for t in ts] for size, ts in runs.items()}
    assert bars(time_to_accuracy_spread(in_turn)) == [[0, 7], [1, 3]]
