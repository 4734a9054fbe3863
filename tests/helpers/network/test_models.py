"""The model factory builds the network of the paper, and refuses what is none."""

import keras
import numpy as np
import pytest

from helpers.network.models import wide_resnet


def test_wrn_16_10_has_the_published_number_of_parameters():
    assert wide_resnet(16, 10).count_params() == 17_130_954


@pytest.mark.parametrize("depth", [10, 16, 22])
def test_depth_counts_the_layers_with_weights(depth):
    model = wide_resnet(depth, 1)
    kinds = [type(layer) for layer in model.layers]
    convolutions = kinds.count(keras.layers.Conv2D)
    # 3 shortcuts convolve too: by convention they are not counted.
    assert convolutions - 3 + kinds.count(keras.layers.Dense) == depth - 2
    assert model(np.zeros((2, 28, 28, 1), "float32")).shape == (2, 10)


def test_pooling_after_the_stem_costs_no_parameter():
    assert (
        wide_resnet(10, 1, stem_pool=2).count_params() == wide_resnet(10, 1).count_params()
    )


@pytest.mark.parametrize(
    ("argument", "rule"),
    [
        ({"depth": 15}, "6n + 4"),
        ({"depth": 4}, "6n + 4"),
        ({"width": 0}, "width"),
        ({"width": 1.5}, "width"),
        ({"classes": 1}, "classes"),
        ({"input_shape": (28, 28)}, "input_shape"),
        ({"input_shape": (2, 2, 1)}, "input_shape"),
        ({"dropout": 1.0}, "dropout"),
        ({"stem_pool": 8}, "stem_pool"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_rule(argument, rule):
    with pytest.raises(ValueError, match=rule.replace("+", r"\+")):
        wide_resnet(**argument)
