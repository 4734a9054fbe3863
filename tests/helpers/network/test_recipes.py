"""The fast recipe has the parts that it names."""

import keras
import numpy as np
import pytest

from helpers.network.models import original_conv_bn_relu, wide_resnet
from helpers.network.recipes import fast_loss, fast_network, fast_optimizer, one_cycle


@pytest.mark.parametrize("steps", [1, 3, 100])
def test_the_learning_rate_has_one_peak_and_ends_low(steps):
    schedule = one_cycle(0.5, steps)
    rates = [float(schedule(step)) for step in range(steps + 1)]
    top = int(np.argmax(rates))
    assert rates[top] == pytest.approx(0.5)
    assert top == max(1, round(steps / 4))
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert steps == 1 or rates[-1] == pytest.approx(0.01)


def test_weight_decay_is_for_kernels_only():
    network = fast_network(10, 1, input_shape=(4, 4, 1))
    optimizer = fast_optimizer(10, peak_learning_rate=1.0, weight_decay=0.5)
    optimizer.build(network.trainable_variables)
    before = [variable.numpy() for variable in network.trainable_variables]
    gradients = [np.zeros_like(value) for value in before]
    optimizer.apply(gradients, network.trainable_variables)
    for old, variable in zip(before, network.trainable_variables, strict=True):
        smaller = 1 - 0.5 / 25 if variable.name == "kernel" else 1
        np.testing.assert_allclose(variable.numpy(), smaller * old, rtol=1e-6)


def test_no_dropout_no_bias_before_batch_norm_and_the_original_has_both():
    fast, original = fast_network(16, 1), wide_resnet(16, 1, unit=original_conv_bn_relu)

    def kinds(network):
        convolutions = [x for x in network.layers if isinstance(x, keras.layers.Conv2D)]
        return {
            "biases": {x.use_bias for x in convolutions if x.kernel_size == (3, 3)},
            "dropout": {x.rate for x in network.layers if hasattr(x, "rate")},
            "batch norm": {
                type(x).__module__.partition(".")[0]
                for x in network.layers
                if isinstance(x, keras.layers.BatchNormalization)
            },
        }

    assert kinds(fast) == {"biases": {False}, "dropout": {0.0}, "batch norm": {"helpers"}}
    assert kinds(original) == {
        "biases": {True}, "dropout": {0.01}, "batch norm": {"keras"},
    }  # fmt: skip


def test_smoothing_keeps_a_certain_answer_from_being_free():
    certain = keras.utils.to_categorical([3], 10)
    assert float(fast_loss()(certain, certain)) > 0.1
    assert float(fast_loss(0.0)(certain, certain)) < 1e-5
