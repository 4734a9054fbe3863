"""The small network is that of its design, and refuses what it cannot be."""

import numpy as np
import pytest

from helpers.lab_07.models import small_cnn


def test_the_small_cnn_has_the_layers_and_parameters_of_its_design():
    # Weights and biases; batch normalisation has two of four that are trained.
    trained = (10 * 25 + 10) + 20 + (20 * 10 * 25 + 20) + 40 + (320 * 50 + 50) + 510
    model = small_cnn()
    assert model.count_params() == trained + 20 + 40 == 21_960
    kinds = [type(layer).__name__ for layer in model.layers[1:]]
    block = ["Conv2D", "MaxPooling2D", "ReLU", "BatchNormalization"]
    assert kinds == [*block, *block, "Flatten", "Dense", "Dense"]
    logits = model(np.random.default_rng(0).normal(size=(2, 28, 28, 1)))
    assert logits.shape == (2, 10)
    assert not np.allclose(np.sum(logits, axis=1), 1), "logits, no softmax"


@pytest.mark.parametrize(
    ("argument", "rule"),
    [
        ({"input_shape": (8, 28, 1)}, "at least 16"),
        ({"input_shape": (28, 28)}, "input_shape"),
        ({"classes": 1}, "classes"),
    ],
)
def test_the_small_cnn_refuses_a_wrong_argument_with_the_rule(argument, rule):
    with pytest.raises(ValueError, match=rule):
        small_cnn(**argument)
