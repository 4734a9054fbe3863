"""What the figures of lab 08 say, whatever was measured."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from helpers.figures import GREEN, VIOLET
from helpers.lab_08 import figures


@pytest.fixture(autouse=True)
def closed_afterwards():
    yield
    plt.close("all")


def heights(axes):
    """Of each bar its height on a logarithmic axis."""
    low, high = np.array([bar.get_bbox().intervaly for bar in axes.patches]).T
    return np.log(high / low)


def test_a_factor_has_the_same_length_at_any_place():
    seconds = [100, 50, 20, 10]
    bars = [
        {"name": "original", "before": 0, "after": 100, "kept": True},
        {"name": "first", "before": 100, "after": 50, "kept": True},
        {"name": "second", "before": 50, "after": 20, "kept": True},
        {"name": "third", "before": 20, "after": 10, "kept": True},
    ]
    [axes] = figures.waterfall(bars).axes
    first, second, third = heights(axes)[1:]
    assert first == pytest.approx(third) == pytest.approx(np.log(2))
    assert second == pytest.approx(np.log(2.5))
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] < min(seconds)
    assert [text.get_text() for text in axes.texts] == [
        "100.0 s",
        "× 2.00",
        "× 2.50",
        "× 2.00",
    ]


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(("after", "colour"), [(5, GREEN), (20, VIOLET)])
def test_a_bar_is_green_if_faster_and_hatched_if_not_kept(after, colour, kept):
    bars = [
        {"name": "original", "before": 0, "after": 10, "kept": True},
        {"name": "change", "before": 10, "after": after, "kept": kept},
    ]
    [axes] = figures.waterfall(bars).axes
    bar = axes.patches[1]
    assert to_hex(bar.get_edgecolor()) == colour
    assert bool(bar.get_hatch()) is not kept


def test_points_in_the_cache_are_hollow_and_dispatch_has_a_line_where_it_is_the_limit():
    limits = {"arithmetic": 1e-4, "memory": 2e-4, "dispatch": 3e-4}
    small = {"kind": "relu", "stage": 1, "name": "ReLU 1", "batch": 32}
    small |= {"operations": 1e5, "bytes": 1e6, "seconds": 4e-4, "in_cache": True}
    small |= {"limits": limits, "limit": "dispatch"}
    large = small | {"in_cache": False, "limits": limits | {"memory": 1}, "limit": "memory"}
    [axes] = figures.roofline([small, large], 1e11, 1e10).axes
    points = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    assert [point.get_markerfacecolor() == "white" for point in points] == [True, False]
    reached = [line for line in axes.lines if line.get_color() == VIOLET]
    assert [list(line.get_ydata()) for line in reached] == [[1e5 / 3e-4 / 1e9] * 2]
    left, right = figures.limits_and_measured([small, large]).axes
    assert [bar.get_height() for bar in left.patches] == pytest.approx([0.3, 0.4])
    assert [bar.get_height() for bar in right.patches] == pytest.approx([1000, 0.4])
