"""The figures of lab 05 draw what they are given, with or without a prediction."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from callbacks.live.figure_table import figure_table
from helpers.lab_05 import figures

EFFICIENCY = {"weak": {1: 1.0, 2: 0.8, 4: 0.4}, "strong": {1: 1.0, 2: 0.7, 4: 1.2}}


@pytest.fixture(autouse=True)
def static_figures():
    mpl.use("agg")
    yield
    plt.close("all")


def names(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


@pytest.mark.parametrize("guess", [None, {"strong": 0.5}, {"weak": 0.9, "strong": 3.0}])
def test_scaling_draws_the_predictions_that_were_made(guess):
    figure = figures.scaling(EFFICIENCY, guess, cores=2)
    drawn = [name for name in names(figure) if "prediction" in name]
    assert drawn == [f"your prediction, {kind}" for kind in guess or ()]
    assert figure.axes[0].get_ylim()[1] > max(1.2, *(guess or {"none": 0}).values())


def test_scaling_marks_where_simulated_replicas_share_cores():
    label = "more simulated replicas than the 2 cores"
    assert label in names(figures.scaling(EFFICIENCY, cores=2))
    assert label not in names(figures.scaling(EFFICIENCY, cores=4))
    assert len(names(figures.scaling(EFFICIENCY))) == 3


@pytest.mark.parametrize("guess", [None, 1e-7, 30.0, 0, -1])
def test_a_prediction_that_a_log_axis_cannot_show_is_left_out(guess):
    figure = figures.weight_differences({"plain": 1e-7, "norm": 0.02}, guess)
    assert ("your prediction" in names(figure)) == (guess is not None and guess > 0)


def test_runs_of_each_rate_stand_beside_their_tick_in_the_table():
    found = {
        "batch 32": {0.01: [0.8, 0.7, 0.9], 0.02: [0.6]},
        "batch 512": {0.02: [0.3, 0.1]},
    }
    figure = figures.accuracy_by_rate(found, {"batch 32": 0.01, "batch 512": 0.16})
    table = figure_table(figure)
    assert "0.0100" in table and "0.0200" in table
    assert "0.8; 0.7; 0.9" in table and "0.3; 0.1" in table
    assert figure.axes[0].get_ylim() == (0, 1)
