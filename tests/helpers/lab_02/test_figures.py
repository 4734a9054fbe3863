"""The figures of lab 02 draw what was measured, and no prediction where there is none."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from helpers.lab_02 import figures
from helpers.lab_02.memory import memory_held_bytes

POINTS = {8: 200.0, 64: 700.0, 512: None}
ORIGINAL = {8: 328, 16: 551}


@pytest.fixture(autouse=True)
def static_figures():
    mpl.use("agg")
    yield
    plt.close("all")


def labels(axes):
    return {text.get_text() for text in axes.get_legend().get_texts()}


@pytest.mark.parametrize("guess", [None, {}])
def test_without_a_prediction_none_is_drawn(guess):
    drawn = figures.throughput_bars(POINTS, guess)
    assert labels(drawn.axes[0]) == {"measured here"}
    drawn = figures.share_of_peak({8: 0.1, 64: 0.4})
    assert "your prediction" not in labels(drawn.axes[0])


def test_another_machine_is_drawn_in_units_of_its_own_fit():
    fit = 0.03, 1000.0
    drawn = figures.fitted_law(POINTS, None, fit, ORIGINAL, (0.018, 1400.0))
    bars, machines = drawn.axes
    assert labels(bars) == {"measured here", "fitted law"}
    x, y = machines.lines[0].get_data()
    assert list(x) == pytest.approx([8 / 30, 64 / 30])
    assert list(y) == pytest.approx([0.2, 0.7])


def test_a_fixed_cost_below_zero_still_gives_a_figure():
    drawn = figures.fitted_law(POINTS, None, (-0.01, 700.0), ORIGINAL, (0.018, 1400.0))
    assert "measured here" not in labels(drawn.axes[1])


def test_each_redrawn_sweep_is_a_dot_and_the_last_one_is_drawn_in_full():
    fit, redrawn = (0.02, 800.0), [(0.01, 900.0, 1.0), (0.03, 700.0, 1.0)]
    measured, drawn = {8: 200.0, 64: 600.0}, {8: 190.0, 64: 620.0}
    rounds = [(0.02, 810.0), (0.02, 750.0)]
    sweep, cloud = figures.redrawn_fits(measured, fit, drawn, redrawn, rounds).axes
    shown = [line.get_label() for line in sweep.lines[::2]]
    assert shown == ["measured", "one redrawn sweep"]
    assert sweep.lines[3].get_ydata()[0] == pytest.approx(8 / (0.03 + 8 / 700))
    assert list(cloud.lines[0].get_xdata()) == pytest.approx([10.0, 30.0])
    assert list(cloud.lines[1].get_ydata()) == [810.0, 750.0]


def test_residuals_are_percent_above_the_law():
    fit = 0.0, 100.0
    rounds = {8: [100.0, 110.0, 90.0], 16: [100.0, 100.0, 120.0]}
    drawn = figures.residuals(rounds, fit, {8: (95.0, 105.0), 16: (90.0, 110.0)})
    each = [line for line in drawn.axes[0].lines if line.get_label().endswith("each round")]
    assert [list(line.get_ydata()) for line in each] == [
        pytest.approx([0, 10, -10]),
        pytest.approx([0, 0, 20]),
    ]
    assert labels(drawn.axes[0]) >= {"each round", "median", "fitted law"}


def test_memory_is_drawn_also_where_nothing_grew():
    drawn = figures.memory_by_batch({8: 1.0, 64: 8.0}, {}, 64, 0.5)
    assert labels(drawn.axes[0]) == {"estimated", "weights and gradients"}


def test_the_memory_held_on_a_gpu_is_what_its_allocator_took_at_most(monkeypatch):
    import tensorflow as tf

    assert memory_held_bytes() > 2**20
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["a GPU"])
    monkeypatch.setattr(
        tf.config.experimental, "get_memory_info", lambda device: {"peak": 7, "current": 3}
    )
    assert memory_held_bytes() == 7
