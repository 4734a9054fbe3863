"""MobileNetV2 for grey images is that of the lab, and refuses what it cannot be."""

import numpy as np
import pytest

from helpers.lab_06.models import mobilenet_v2


# MobileNetV2 without its top has 2,257,984 parameters (keras.applications); the hidden
# layer sees 1280 channels of what pooling leaves: one place, or two by two.
@pytest.mark.parametrize(
    ("image_size", "alpha", "parameters"),
    [
        (64, 1.0, 2_257_984 + (1280 + 1) * 512 + 513 * 10),
        (112, 1.0, 2_257_984 + (4 * 1280 + 1) * 512 + 513 * 10),
        (64, 0.35, 410_208 + (1280 + 1) * 512 + 513 * 10),
    ],
)
def test_mobilenet_v2_has_the_parameters_and_layers_of_the_lab(
    image_size, alpha, parameters
):
    model = mobilenet_v2(image_size, alpha=alpha)
    assert model.count_params() == parameters
    kinds = [type(layer).__name__ for layer in model.layers[-5:]]
    assert kinds == ["Functional", "AveragePooling2D", "Flatten", "Dense", "Dense"]
    probabilities = model(np.full((2, 28, 28, 1), 255, "uint8"))
    assert probabilities.shape == (2, 10)
    assert np.allclose(np.sum(probabilities, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "argument", [{"image_size": 32}, {"alpha": 0.3}, {"classes": 1}], ids=str
)
def test_mobilenet_v2_refuses_a_wrong_argument_with_the_rule(argument):
    [(name, value)] = argument.items()
    with pytest.raises(ValueError, match=f"{name} must be .* not {value}"):
        mobilenet_v2(**{"image_size": 64} | argument)
