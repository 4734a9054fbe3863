"""Fashion-MNIST: never a damaged file, and Debian's copy as good as the published one."""

import gzip
import shutil

import numpy as np
import pytest

from helpers.data.fashion_mnist import FASHION_MNIST, fashion_mnist
from helpers.errors import DataError
from tests.helpers.data.small_sets import write_fashion_mnist, write_idx, write_mnist

DEBIAN_FOLDER = FASHION_MNIST.system_folder
needs_debian = pytest.mark.skipif(
    not DEBIAN_FOLDER.exists(), reason="dataset-fashion-mnist is not installed"
)


@pytest.fixture
def debian_only(monkeypatch):
    """No copy on this machine but Debian's."""
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)


@needs_debian
def test_the_real_set_is_whole(debian_only):
    data = fashion_mnist()
    assert data.source == str(DEBIAN_FOLDER)
    assert data.x_train.shape == (60_000, 28, 28, 1)
    assert data.x_test.shape == (10_000, 28, 28, 1)
    assert data.x_train.dtype == data.y_test.dtype == np.uint8
    assert np.bincount(data.y_train).tolist() == [6000] * 10


@needs_debian
def test_own_folder_comes_before_the_cache_and_the_cache_before_debian(
    debian_only, monkeypatch, tmp_path
):
    assert FASHION_MNIST.find() == DEBIAN_FOLDER
    shutil.copytree(DEBIAN_FOLDER, FASHION_MNIST.cache_folder())
    assert FASHION_MNIST.find() == FASHION_MNIST.cache_folder()
    assert fashion_mnist().source == str(FASHION_MNIST.cache_folder())
    own = tmp_path / "own"
    shutil.copytree(DEBIAN_FOLDER, own)
    monkeypatch.setenv("LABS_DATA_DIR", str(own))
    assert fashion_mnist().source == str(own)


@needs_debian
def test_debians_copy_is_found_where_the_own_folder_holds_other_sets_only(
    monkeypatch, tmp_path
):
    write_mnist(tmp_path / "own")
    monkeypatch.setenv("LABS_DATA_DIR", str(tmp_path / "own"))
    assert FASHION_MNIST.find() == DEBIAN_FOLDER


def test_any_set_of_the_right_shapes_will_do_in_the_own_folder_only(own, monkeypatch):
    write_fashion_mnist(own, 7)
    assert fashion_mnist().x_test.max() == 7
    assert fashion_mnist().source == str(own)
    monkeypatch.delenv("LABS_DATA_DIR")
    write_fashion_mnist(FASHION_MNIST.cache_folder(), 7)
    with pytest.raises(DataError, match=r"not Fashion-MNIST.*labs data fetch"):
        fashion_mnist()


@pytest.mark.parametrize(
    "damage", ["truncated", "tampered", "another shape", "empty", "six bytes"]
)
def test_a_damaged_file_is_refused_with_a_remedy(own, damage):
    write_fashion_mnist(own, 1)
    path = own / "t10k-labels-idx1-ubyte.gz"
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[:-9])
    elif damage == "tampered":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + b"\xff\xff" + content[middle + 2 :])
    elif damage == "six bytes":
        path.write_bytes(gzip.compress(b"123456"))
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        shutil.copy(own / "train-labels-idx1-ubyte.gz", path)
    with pytest.raises(DataError) as error:
        fashion_mnist()
    assert "t10k-labels" in str(error.value)
    assert "Replace" in str(error.value)


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("train-labels-idx1-ubyte.gz", np.arange(60_000) % 11, "labels beyond 0 to 9"),
        ("t10k-labels-idx1-ubyte.gz", np.arange(10_000) % 11, "labels beyond 0 to 9"),
        ("train-labels-idx1-ubyte.gz", np.zeros(60_000), "the same label, 0"),
        ("train-images-idx3-ubyte.gz", np.zeros((60_000, 28, 28)), "same value in every"),
        ("t10k-images-idx3-ubyte.gz", np.full((10_000, 28, 28), 7), "same value in every"),
    ],
)
def test_values_that_cannot_be_data_are_refused_with_a_remedy(own, name, values, says):
    write_fashion_mnist(own)
    write_idx(own / name, values.astype("uint8"))
    with pytest.raises(DataError) as error:
        fashion_mnist()
    assert str(error.value).startswith(f"{name} has ")
    assert says in str(error.value)
    assert str(error.value).endswith(f". Replace {own / name} with a complete copy.")
    assert "\n" not in str(error.value)


def test_without_copy_and_network_the_set_is_synthetic_and_says_so(nowhere):
    data = fashion_mnist()
    assert data.source == "synthetic"
    assert [len(part) for part in data[:4]] == [60_000, 60_000, 10_000, 10_000]
    assert not list(FASHION_MNIST.cache_folder().parent.rglob("*.gz"))
