"""Precision is chosen by trying, and only new layers get it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from helpers.network import precision
from helpers.network.precision import candidates, choose, dtype_policy, training_speeds

IMAGES = np.zeros((8, 4), "float32")
LABELS = np.zeros((8, 1), "float32")


def new_model():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=False)
    return model


def test_a_policy_holds_for_new_layers_and_ends_with_the_block():
    before = keras.config.dtype_policy()
    with pytest.raises(KeyError), dtype_policy("mixed_bfloat16"):
        assert keras.layers.Dense(1).compute_dtype == "bfloat16"
        raise KeyError
    assert keras.config.dtype_policy() == before


def test_every_precision_is_tried_on_a_model_of_its_own():
    made = []

    def remembered():
        made.append(new_model())
        return made[-1]

    names = ["float32", "mixed_bfloat16", "mixed_float16"]
    speeds = training_speeds(remembered, IMAGES, LABELS, names, seconds=0.01)
    assert list(speeds) == names
    assert all(speed > 0 for speed in speeds.values())
    assert [model.layers[0].dtype_policy.name for model in made] == names
    scaled = [hasattr(model.optimizer, "dynamic_growth_steps") for model in made]
    assert scaled == [False, False, True]  # float16 has few exponents
    assert keras.config.dtype_policy().name == "float32"


def test_auto_takes_the_fastest_and_a_name_is_taken_as_it_is():
    speeds = {"float32": 10.0, "mixed_bfloat16": 13.0}
    assert choose("auto", speeds) == "mixed_bfloat16"
    assert choose("float32", speeds) == "float32"


@pytest.mark.parametrize(
    ("capabilities", "half"),
    [
        ([], "mixed_bfloat16"),
        ([(9, 0)], "mixed_bfloat16"),
        ([(8, 0), (7, 5)], "mixed_float16"),
    ],
)
def test_float16_is_for_gpus_without_bfloat16(capabilities, half, monkeypatch):
    """No machine of the tests has such GPUs: what TensorFlow says of them is replaced."""
    details = [{"compute_capability": capability} for capability in capabilities]
    monkeypatch.setattr(precision, "has_tpu", lambda: False)
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: details)
    monkeypatch.setattr(tf.config.experimental, "get_device_details", lambda gpu: gpu)
    assert candidates() == ["float32", half]
