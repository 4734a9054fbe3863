"""MNIST: never a damaged file, and the one that Keras publishes."""

import inspect

import keras
import numpy as np
import pytest

from helpers.data.mnist import MNIST, mnist
from helpers.errors import DataError
from tests.helpers.data.small_sets import write_mnist

pytestmark = pytest.mark.usefixtures("nowhere")
NAME = "mnist.npz"


@pytest.fixture
def own(own):
    """A set of the right shapes in the user's own folder."""
    write_mnist(own)
    return own


def test_the_hash_is_the_one_that_keras_publishes():
    assert MNIST.registry[NAME] in inspect.getsource(keras.datasets.mnist.load_data)


def test_the_real_set_is_whole(monkeypatch, shared_mnist):
    monkeypatch.setenv("LABS_DATA_DIR", str(shared_mnist))
    data = mnist()
    assert data.source == str(shared_mnist)
    assert data.x_train.shape == (60_000, 28, 28, 1)
    assert data.x_test.shape == (10_000, 28, 28, 1)
    assert data.x_train.dtype == data.y_test.dtype == np.uint8
    assert np.bincount(data.y_test).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip


def test_any_set_of_the_right_shapes_will_do_in_the_own_folder_only(own, monkeypatch):
    assert mnist().x_test.max() == 7
    assert mnist().source == str(own)
    monkeypatch.delenv("LABS_DATA_DIR")
    write_mnist(MNIST.cache_folder())
    with pytest.raises(DataError, match=r"not MNIST as published.*labs data fetch"):
        mnist()


def test_labels_may_be_any_whole_numbers(own):
    write_mnist(own, y_train=9 - np.arange(60_000) % 10)
    assert mnist().y_train.dtype == np.uint8
    assert mnist().y_train[:11].tolist() == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 9]


@pytest.mark.parametrize(
    "damage",
    ["truncated", "tampered", "empty", "no archive", "no labels", "shape", "type", "label"],
)
def test_a_damaged_file_is_refused_with_a_remedy(own, damage):
    path = own / NAME
    content = path.read_bytes()
    changed = {
        "no labels": {"y_test": np.array("none")},
        "shape": {"x_test": np.zeros((10_000, 32, 32), "uint8")},
        "type": {"x_train": np.zeros((60_000, 28, 28), "float32")},
        "label": {"y_test": np.full(10_000, 10, "uint8")},
    }
    if damage in changed:
        write_mnist(own, **changed[damage])
    elif damage == "tampered":
        middle = len(content) // 2
        flipped = bytes(255 - byte for byte in content[middle : middle + 2])
        path.write_bytes(content[:middle] + flipped + content[middle + 2 :])
    else:
        parts = {"truncated": content[:-99], "empty": b"", "no archive": b"123456"}
        path.write_bytes(parts[damage])
    with pytest.raises(DataError) as error:
        mnist()
    assert NAME in str(error.value)
    assert "Replace" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("y_train", np.arange(60_000) % 10 - 1, "labels beyond 0 to 9"),
        ("y_test", np.full(10_000, 10, "uint8"), "labels beyond 0 to 9"),
        ("y_train", np.zeros(60_000, "uint8"), "the same label, 0"),
        ("x_train", np.zeros((60_000, 28, 28), "uint8"), "the same value in every pixel"),
        ("x_test", np.zeros((10_000, 28, 28), "uint8"), "the same value in every pixel"),
    ],
)
def test_values_that_cannot_be_data_are_refused_with_a_remedy(own, name, values, says):
    write_mnist(own, **{name: values})
    with pytest.raises(DataError) as error:
        mnist()
    assert str(error.value).startswith(f"{NAME} cannot be used: {name} has {says}")
    assert str(error.value).endswith(f". Replace {own / NAME} with a complete copy.")
    assert "\n" not in str(error.value)


def test_a_pickle_is_never_opened(own):
    write_mnist(own, x_train=np.array([{"anything": 1}], object))
    with pytest.raises(DataError, match="damaged"):
        mnist()


def test_without_copy_and_network_the_set_is_synthetic_and_says_so():
    data = mnist()
    assert data.source == "synthetic"
    assert [len(part) for part in data[:4]] == [60_000, 60_000, 10_000, 10_000]
    assert not list(MNIST.cache_folder().parent.rglob("*.npz"))
