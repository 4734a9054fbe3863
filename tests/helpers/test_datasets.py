"""Fashion-MNIST: the right place first, and never a damaged or a half-written file."""

import gzip
import shutil

import numpy as np
import pytest

from helpers import datasets
from helpers.datasets import (
    DEBIAN_FOLDER,
    FASHION_MNIST_FILES,
    cache_folder,
    fashion_mnist,
    find_fashion_mnist,
)
from helpers.errors import DataError

needs_debian = pytest.mark.skipif(
    not DEBIAN_FOLDER.exists(), reason="dataset-fashion-mnist is not installed"
)


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets, "DEBIAN_FOLDER", tmp_path / "no-debian")


@pytest.fixture
def server(monkeypatch, file_server):
    """A server on this machine in place of the one on the web."""
    folder, address = file_server
    monkeypatch.setattr(datasets, "FASHION_MNIST_URL", address)
    return folder


@needs_debian
def test_the_real_set_is_whole():
    data = fashion_mnist()
    assert data.source == str(DEBIAN_FOLDER)
    assert data.x_train.shape == (60_000, 28, 28, 1)
    assert data.x_test.shape == (10_000, 28, 28, 1)
    assert data.x_train.dtype == data.y_test.dtype == np.uint8
    assert np.bincount(data.y_train).tolist() == [6000] * 10


@needs_debian
def test_own_folder_comes_before_the_cache_and_the_cache_before_debian(
    monkeypatch, tmp_path
):
    assert find_fashion_mnist() == DEBIAN_FOLDER
    shutil.copytree(DEBIAN_FOLDER, cache_folder())
    assert find_fashion_mnist() == cache_folder()
    own = tmp_path / "own"
    shutil.copytree(DEBIAN_FOLDER, own)
    monkeypatch.setenv("LABS_DATA_DIR", str(own))
    assert fashion_mnist().source == str(own)


def write_set(folder, pixel):
    folder.mkdir(parents=True)
    for name, shape in datasets.FASHION_MNIST_SHAPES.items():
        header = b"\0\0\x08" + bytes([len(shape)]) + np.array(shape, ">i4").tobytes()
        body = np.full(shape, pixel, "uint8").tobytes()
        (folder / name).write_bytes(gzip.compress(header + body, 1))


def test_any_set_of_the_right_shapes_will_do_in_the_own_folder_only(
    monkeypatch, tmp_path, nowhere
):
    write_set(tmp_path / "own", 7)
    monkeypatch.setenv("LABS_DATA_DIR", str(tmp_path / "own"))
    assert fashion_mnist().x_test.max() == 7
    monkeypatch.delenv("LABS_DATA_DIR")
    write_set(cache_folder(), 7)
    with pytest.raises(DataError, match=r"not Fashion-MNIST.*labs data fetch"):
        fashion_mnist()


@pytest.mark.parametrize(
    "damage", ["truncated", "tampered", "another shape", "empty", "six bytes"]
)
def test_a_damaged_file_is_refused_with_what_to_do(monkeypatch, tmp_path, nowhere, damage):
    own = tmp_path / "own"
    write_set(own, 1)
    monkeypatch.setenv("LABS_DATA_DIR", str(own))
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


def test_a_part_of_the_set_or_no_folder_at_all_is_not_passed_over(monkeypatch, tmp_path):
    write_set(tmp_path / "own", 1)
    (tmp_path / "own" / "t10k-labels-idx1-ubyte.gz").unlink()
    for folder, says in (("own", "add t10k-labels"), ("typo", "no such folder")):
        monkeypatch.setenv("LABS_DATA_DIR", str(tmp_path / folder))
        with pytest.raises(DataError, match=says):
            fashion_mnist()


def test_without_copy_and_network_the_set_is_synthetic_and_says_so(monkeypatch, nowhere):
    monkeypatch.setattr(datasets, "FASHION_MNIST_URL", "http://127.0.0.1:9/")
    data = fashion_mnist()
    assert data.source == "synthetic"
    assert [len(part) for part in data[:4]] == [60_000, 60_000, 10_000, 10_000]
    assert not list(cache_folder().parent.rglob("*.gz"))
    with pytest.raises(DataError, match="LABS_DATA_DIR"):
        fashion_mnist(offline_fallback=False)


def test_a_download_that_is_not_the_file_is_not_kept(nowhere, server):
    for name in FASHION_MNIST_FILES:
        (server / name).write_bytes(b"something else")
    with pytest.raises(DataError, match="SHA-256"):
        fashion_mnist()
    assert not list(cache_folder().glob("*.gz"))


def test_a_download_is_checked_and_kept(nowhere, server, monkeypatch):
    import hashlib

    write_set(server / "set", 3)
    hashes = {}
    for path in (server / "set").iterdir():
        path = path.rename(server / path.name)
        content = path.read_bytes()
        hashes[path.name] = tuple(
            hashlib.sha256(part).hexdigest() for part in (content, gzip.decompress(content))
        )
    ordered = {name: hashes[name] for name in FASHION_MNIST_FILES}
    monkeypatch.setattr(datasets, "FASHION_MNIST_FILES", ordered)
    assert fashion_mnist().x_train.max() == 3
    assert fashion_mnist().source == str(cache_folder())


def test_an_unwritable_cache_is_one_clear_line(nowhere, server, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(DataError, match=r"cannot write .*LABS_DATA_DIR"):
        fashion_mnist()
