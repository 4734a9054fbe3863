"""Lab 01's sliders change the path and the text; elsewhere three settings stand still."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from helpers import figures
from helpers.lab_01 import sliders

STEPS, BOX = 20, ((-2, 2), (-2, 2))
SETTINGS = [(0.1, 8), (0.1, 4), (0.1, 1)]


def bowl(weights):
    """A loss with its lowest point, 0, at the origin."""
    return float(np.sum(np.square(weights)))


def train(learning_rate, batch_size, steps):
    """Straight down the bowl; each batch size from another start."""
    factors = (1 - 2 * learning_rate) ** np.arange(steps + 1)
    return factors[:, None] * (1, 1 / batch_size)


@pytest.fixture(autouse=True)
def no_figures_left():
    figures.use_figures()
    yield
    plt.close("all")


@pytest.fixture
def live():
    """The path's line, its end, the sliders by their names, and a reader of the text."""
    figure, controls = sliders.live(train, bowl, SETTINGS, STEPS, BOX)
    line, _, end = figure.axes[0].lines
    rate, size, drawn, button, play, text = controls.children
    widgets = {"learning rate": rate, "batch size": size, "steps drawn": drawn}
    widgets |= {"button": button, "play": play, "html": text}
    return line, end, widgets, lambda: re.sub("<.*?>", "", text.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("learning rate", 0.3, "rate 0.3, batch size 1: loss 0.000 after 20 steps"),
        ("learning rate", 1.5, "learning rate 1.5, batch size 1: thrown out"),
        ("batch size", 8, "learning rate 0.1, batch size 8: loss"),
        ("steps drawn", 0, "batch size 1: loss 2.000 after 0 steps"),
        ("play", 3, "batch size 1: loss 0.524 after 3 steps"),
    ],
)
def test_a_slider_changes_the_text_and_the_path(live, name, value, said):
    line, end, widgets, text = live
    text_before, path_before = text(), line.get_xydata()
    widgets[name].value = value
    assert said in text() != text_before
    shown = widgets["steps drawn"].value + 1
    path = train(widgets["learning rate"].value, widgets["batch size"].value, STEPS)
    assert not np.array_equal(line.get_xydata(), path_before)
    assert np.allclose(line.get_xydata(), path[:shown])
    assert np.allclose(end.get_xydata(), path[shown - 1])


@pytest.mark.parametrize(
    ("far", "end", "said"),
    [
        (2, 1, "loss 1.000 after 2 steps, 1.000 at the start"),
        (10, 1, "thrown out, up to 1.0e+02 times the first loss, 1.0e+00 times after 2"),
        (10, 20, "thrown out, up to 4.0e+02 times the first loss, 4.0e+02 times after 2"),
    ],
)
def test_a_path_that_was_thrown_out_stays_so_even_if_it_returns(far, end, said):
    path = np.array([(1, 0), (far, 0), (end, 0)])
    assert sliders.outcome(path, bowl).startswith(said)
    assert sliders.thrown_out(path, bowl) == (far > 3)


def test_the_button_draws_the_path_from_the_start(live):
    line, _, widgets, text = live
    assert widgets["button"].description == "Draw step by step"
    widgets["button"].click()
    assert widgets["play"].playing
    assert widgets["button"].description == "Stop"
    assert len(line.get_xydata()) == 1
    widgets["play"].value = 7  # the browser counts on
    assert len(line.get_xydata()) == 1 + widgets["steps drawn"].value == 8
    assert "after 7 steps" in text()
    widgets["button"].click()
    assert not widgets["play"].playing
    assert widgets["button"].description == "Draw step by step"


def test_a_screen_reader_hears_results_but_not_every_step_of_a_drawing(live):
    _, _, widgets, _ = live
    html = widgets["html"]
    assert 'role="alert"' in html.value
    widgets["button"].click()
    for step in range(STEPS):
        widgets["play"].value = step
        assert "alert" not in html.value
    widgets["play"].value = STEPS
    assert 'role="alert"' in html.value


def test_the_batch_sizes_reach_from_one_point_to_all(live):
    _, _, widgets, _ = live
    assert widgets["batch size"].options == (1, 2, 4, 8)


def test_what_stands_below_the_sliders_says_that_it_does_not_follow_them(
    monkeypatch, capsys
):
    shown = []
    monkeypatch.setattr(figures, "display_live", lambda live: lambda page: None)
    monkeypatch.setattr("IPython.display.display", lambda page: shown.append(page.data))
    for module in (sliders, figures):
        monkeypatch.setattr(module, "in_jupyterlab", lambda: True)
    sliders.explore(train, bowl, SETTINGS, STEPS, BOX, "caption")
    [table] = shown
    assert "The data as a table, as it was at the start</summary>" in table
    said = capsys.readouterr().out
    assert said.startswith("At the start: learning rate 0.1, batch size 1: loss ")
    assert said.count("\n") == 1, "the figure shows no other setting"


def test_without_jupyterlab_there_is_a_panel_for_each_setting(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(sliders, "in_jupyterlab", lambda: False)
    monkeypatch.setattr(sliders, "show_figure", lambda *parts: shown.append(parts))
    sliders.explore(train, bowl, SETTINGS, STEPS, BOX, "caption")
    [(figure, summary, _)] = shown
    assert len(figure.axes) == len(SETTINGS)
    for axes, line, (rate, size) in zip(
        figure.axes, summary.splitlines(), SETTINGS, strict=True
    ):
        assert axes.get_title(loc="left") == f"learning rate {rate}\nbatch size {size}"
        assert line.startswith(f"learning rate {rate}, batch size {size}: loss ")
