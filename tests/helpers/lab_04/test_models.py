"""The network for texts is that of the lab, and refuses what it cannot be."""

import numpy as np
import pytest

from helpers.lab_04.models import text_cnn


def test_text_cnn_has_the_parameters_and_layers_of_the_lab():
    model = text_cnn(30_982, 46, 300)
    assert model.count_params() == 332_856
    kinds = [type(layer).__name__ for layer in model.layers[1:]]
    assert kinds == [
        "Embedding", "Conv1D", "MaxPooling1D", "Conv1D", "MaxPooling1D", "Flatten", "Dense",
    ]  # fmt: skip
    probabilities = model(np.full((2, 300), 30_981, "int32"))
    assert probabilities.shape == (2, 46)
    assert np.allclose(np.sum(probabilities, axis=1), 1, atol=1e-5)


def test_text_cnn_takes_texts_of_twelve_words_and_up():
    assert text_cnn(10, 2, 12)(np.ones((1, 12), "int32")).shape == (1, 2)


@pytest.mark.parametrize(
    "argument",
    [{"words": 11}, {"vocabulary": 0}, {"classes": 1}, {"words": 300.0}],
    ids=str,
)
def test_text_cnn_refuses_a_wrong_argument_with_the_rule(argument):
    [(name, value)] = argument.items()
    with pytest.raises(ValueError, match=f"{name} must be a whole number .* not {value}"):
        text_cnn(**argument)
