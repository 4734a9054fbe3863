"""A profile says which layers' operations a training step ran."""

import numpy as np
import pytest

from helpers.lab_08.profile import (
    profile_steps,
    read,
    seconds_by_layer,
    seconds_by_operation,
)
from helpers.models import wide_resnet


@pytest.fixture(scope="module")
def profile():
    network = wide_resnet(10, 1, input_shape=(8, 8, 1), dropout=0.1)
    network.compile("sgd", "categorical_crossentropy", jit_compile=False)
    images = np.random.default_rng(0).normal(size=(4, 8, 8, 1)).astype("float32")
    labels = np.eye(10, dtype="float32")[:4]
    network.train_on_batch(images, labels)
    return profile_steps(lambda: network.train_on_batch(images, labels), steps=1)


def test_every_kind_of_layer_in_the_network_is_found(profile):
    found = seconds_by_layer(profile)
    there = {kind for kind, seconds in found.items() if seconds > 0}
    assert there == {"convolution", "batch normalisation", "ReLU", "dropout", "other"}


def test_no_second_is_lost_or_counted_twice(profile):
    total = sum(profile.values())
    assert sum(seconds_by_layer(profile).values()) == pytest.approx(total)
    assert sum(seconds_by_operation(profile).values()) == pytest.approx(total)


def test_operations_have_their_own_names(profile):
    found = list(seconds_by_operation(profile))
    assert any(name.startswith("Conv2DBackprop") for name in found)
    assert not any("/" in name or "Mkl" in name for name in found)


def test_a_file_that_is_no_profile_is_an_error(tmp_path):
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(b"\xff\xff")
    with pytest.raises(Exception, match="pars"):
        read(path)
