"""The figures of lab 06: what they draw, and where their axes end."""

import pytest

from helpers.lab_06 import figures

HISTORY = {"accuracy": [0.5, 0.99], "valid_accuracy": [0.6, 1.0]}


@pytest.mark.parametrize("guess", [None, 0.7])
@pytest.mark.parametrize(("folder", "whose"), [("work", "your"), ("solutions", "example")])
def test_no_accuracy_above_one_and_a_prediction_only_where_one_was_made(
    guess, folder, whose, monkeypatch
):
    monkeypatch.setenv("LABS_NOTEBOOK", f"{folder}/06_many_gpus_loop.ipynb")
    [axes] = figures.epoch_curves(HISTORY, guess).axes  # the dashboard has the losses
    assert axes.get_ylim() == (0, 1)
    labels = [line.get_label() for line in axes.lines]
    assert labels[2:] == [f"{whose} prediction"] * (guess is not None)


@pytest.mark.parametrize(("guess", "drawn"), [(None, 0), ({}, 0), ({"Adam": 2.0}, 1)])
def test_step_lengths_show_only_the_predictions_that_were_made(guess, drawn):
    lengths = {name: [1, 2, 4] for name in ("SGD", "SGD, wrong", "Adam", "Adam, wrong")}
    curves = {"one device": [2, 1], "global mean": [2, 1], "mean of own": [2, 3]}
    left, right = figures.step_lengths([1, 2, 4], lengths, curves, guess).axes
    assert len(left.lines) == len(lengths) + drawn
    assert len(right.lines) == len(curves)
