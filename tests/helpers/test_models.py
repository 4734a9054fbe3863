"""The model factory builds the network of the paper, and refuses what is none."""

import keras
import numpy as np
import pytest

from helpers.lab_04.models import text_cnn
from helpers.lab_06.models import mobilenet_v2
from helpers.lab_07.models import small_cnn
from helpers.machine.memory import memory_guard, memory_needed_bytes
from helpers.models import wide_resnet


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
        ({"depth": 15}, "6n+4"),
        ({"depth": 4}, "6n+4"),
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


def test_a_batch_that_cannot_fit_is_a_memory_error_before_it_is_tried():
    model = wide_resnet(10, 1)
    assert memory_needed_bytes(model, 64) == 64 * memory_needed_bytes(model, 1)
    with pytest.raises(MemoryError, match="GiB"), memory_guard(model, 10**9):
        pytest.fail("it was tried")
    with memory_guard(model, 1):
        pass


def test_an_accelerator_that_runs_out_is_a_memory_error():
    import tensorflow as tf

    with pytest.raises(MemoryError), memory_guard(wide_resnet(10, 1), 1):
        raise tf.errors.ResourceExhaustedError(None, None, "OOM")


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
