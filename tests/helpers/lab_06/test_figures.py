"""The figures of lab 06: what they draw, and where their axes end."""

import pytest

from helpers.lab_06 import figures

HISTORY = {
    "loss": [2.0, 0.1],
    "valid_loss": [1.5, 0.2],
    "accuracy": [0.5, 0.99],
    "valid_accuracy": [0.6, 1.0],
}


@pytest.mark.parametrize("guess", [None, 0.7])
def test_no_accuracy_above_one_and_a_prediction_only_where_one_was_made(guess):
    axes = figures.epoch_curves(HISTORY, guess).axes[1]
    assert axes.get_ylim() == (0, 1)
    labels = [line.get_label() for line in axes.lines]
    assert ("your prediction" in labels) == (guess is not None)


@pytest.mark.parametrize(("guess", "drawn"), [(None, 0), ({}, 0), ({"Adam": 2.0}, 1)])
def test_step_lengths_show_only_the_predictions_that_were_made(guess, drawn):
    lengths = {name: [1, 2, 4] for name in ("SGD", "SGD, wrong", "Adam", "Adam, wrong")}
    curves = {"one device": [2, 1], "global mean": [2, 1], "mean of own": [2, 3]}
    left, right = figures.step_lengths([1, 2, 4], lengths, curves, guess).axes
    assert len(left.lines) == len(lengths) + drawn
    assert len(right.lines) == len(curves)
