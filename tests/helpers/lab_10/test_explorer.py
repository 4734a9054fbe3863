"""Lab 10's explorer: a slider changes the curves and the words."""

import matplotlib.pyplot as plt
import pytest

from helpers import figures
from helpers.exercise import find_exercise
from helpers.lab_10 import explorer, forecast

LAW = find_exercise("10.2").reference


@pytest.fixture(autouse=True)
def no_figures_left():
    figures.use_figures()
    yield
    plt.close("all")


@pytest.fixture
def live():
    """The figure, the sliders by their labels, and the text."""

    def planned(changed):
        return forecast.plan(forecast.DEFAULTS | changed, LAW)

    # A slow link: with a fast one it may not matter how much is sent.
    figure, controls = explorer.live(forecast.DEFAULTS | {"link_gbit": 0.5}, planned)
    *sliders, text = controls.children
    return figure, {slider.description: slider for slider in sliders}, text


def test_every_slider_changes_words_or_curves(live):
    figure, sliders, text = live
    for name, slider in sliders.items():
        before, start = (text.value, figure.axes[0].lines[0].get_ydata()), slider.value
        slider.value = _other_end(slider)
        after = text.value, figure.axes[0].lines[0].get_ydata()
        assert after[0] != before[0] or list(after[1]) != list(before[1]), name
        slider.value = start


def _other_end(slider):
    if hasattr(slider, "options"):
        return slider.options[-1]
    ends = [slider.min, slider.max]
    if hasattr(slider, "base"):  # logarithmic
        ends = [slider.base**end for end in ends]
    return next(end for end in reversed(ends) if end != pytest.approx(slider.value))


def test_the_curve_is_that_of_the_words(live):
    figure, sliders, text = live
    sliders["link [Gbit/s]"].value = 0.1
    sliders["devices of a machine"].value = 1
    sliders["devices"].value = 64
    hours = figure.axes[0].lines[0].get_ydata()[explorer.DEVICES.index(64)]
    assert hours > 1
    assert f"To the accuracy: {hours:.2f} hours" in text.value


def test_elsewhere_there_is_a_curve_for_each_link(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(explorer, "show_figure", lambda *args: shown.append(args))
    explorer.explore(forecast.DEFAULTS, LAW, "caption")
    figure, summary, caption = shown[0]
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert labels == [f"{link} Gbit/s" for link in explorer.LINKS_GBIT]
    assert "device hours" in summary
    assert caption == "caption"
