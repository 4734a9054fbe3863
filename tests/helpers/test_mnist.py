"""MNIST: the right place first, never a damaged file; and class folders, whole or not."""

import hashlib
import os

import keras
import numpy as np
import pytest

from helpers import class_folders, datasets, mnist
from helpers.datasets import DEBIAN_FOLDER, find_fashion_mnist
from helpers.errors import DataError
from helpers.mnist import MNIST_CLASSES, MNIST_FILE, MNIST_SHAPES, cache_folder, find_mnist


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """No copy and no network, unless a test says so."""
    monkeypatch.delenv("LABS_DATA_DIR", raising=False)
    monkeypatch.setattr(mnist, "MNIST_URL", "http://127.0.0.1:9/")


def arrays(pixel=7, labels="uint8"):
    return {
        name: np.full(shape, pixel, "uint8" if name.startswith("x") else labels)
        for name, shape in MNIST_SHAPES.items()
    }


def write_set(folder, **changed):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / MNIST_FILE, **(arrays() | changed))


@pytest.fixture
def own(monkeypatch, tmp_path):
    """A set of the right shapes in the user's own folder."""
    write_set(tmp_path / "own")
    monkeypatch.setenv("LABS_DATA_DIR", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def server(monkeypatch, file_server):
    """A server on this machine in place of the one on the web."""
    folder, address = file_server
    monkeypatch.setattr(mnist, "MNIST_URL", address)
    return folder


def test_the_hash_is_the_one_that_keras_publishes():
    import inspect

    assert mnist.MNIST_SHA256 in inspect.getsource(keras.datasets.mnist.load_data)


def test_the_real_set_is_whole(monkeypatch, shared_mnist):
    monkeypatch.setenv("LABS_DATA_DIR", str(shared_mnist))
    data = mnist.mnist()
    assert data.source == str(shared_mnist)
    assert data.x_train.shape == (60_000, 28, 28, 1)
    assert data.x_test.shape == (10_000, 28, 28, 1)
    assert data.x_train.dtype == data.y_test.dtype == np.uint8
    assert np.bincount(data.y_test).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip


def test_any_set_of_the_right_shapes_will_do_in_the_own_folder_only(own, monkeypatch):
    assert mnist.mnist().x_test.max() == 7
    assert mnist.mnist().source == str(own)
    monkeypatch.delenv("LABS_DATA_DIR")
    write_set(cache_folder())
    with pytest.raises(DataError, match=r"not MNIST as published.*labs data fetch"):
        mnist.mnist()


def test_own_folder_comes_before_the_cache(own, monkeypatch):
    write_set(cache_folder())
    assert find_mnist() == own / MNIST_FILE
    write_set(own / "mnist")
    assert find_mnist() == own / "mnist" / MNIST_FILE
    monkeypatch.delenv("LABS_DATA_DIR")
    assert find_mnist() == cache_folder() / MNIST_FILE


def test_labels_may_be_any_whole_numbers(own):
    write_set(own, y_train=np.full(60_000, 9, "int64"))
    assert mnist.mnist().y_train.dtype == np.uint8


@pytest.mark.parametrize(
    "damage",
    ["truncated", "tampered", "empty", "no archive", "no labels", "shape", "type", "label"],
)
def test_a_damaged_file_is_refused_with_what_to_do(own, damage):
    path = own / MNIST_FILE
    content = path.read_bytes()
    changed = {
        "no labels": {"y_test": np.array("none")},
        "shape": {"x_test": np.zeros((10_000, 32, 32), "uint8")},
        "type": {"x_train": np.zeros((60_000, 28, 28), "float32")},
        "label": {"y_test": np.full(10_000, 10, "uint8")},
    }
    if damage in changed:
        write_set(own, **changed[damage])
    elif damage == "tampered":
        middle = len(content) // 2
        flipped = bytes(255 - byte for byte in content[middle : middle + 2])
        path.write_bytes(content[:middle] + flipped + content[middle + 2 :])
    else:
        parts = {"truncated": content[:-99], "empty": b"", "no archive": b"123456"}
        path.write_bytes(parts[damage])
    with pytest.raises(DataError) as error:
        mnist.mnist()
    assert MNIST_FILE in str(error.value)
    assert "Replace" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pickle_is_never_opened(own):
    write_set(own, x_train=np.array([{"anything": 1}], object))
    with pytest.raises(DataError, match="damaged"):
        mnist.mnist()


def test_without_copy_and_network_the_set_is_synthetic_and_says_so():
    data = mnist.mnist()
    assert data.source == "synthetic"
    assert [len(part) for part in data[:4]] == [60_000, 60_000, 10_000, 10_000]
    assert not list(cache_folder().rglob("*.npz"))
    with pytest.raises(DataError, match="LABS_DATA_DIR"):
        mnist.mnist(offline_fallback=False)


def test_a_download_that_is_not_the_file_is_not_kept(server):
    (server / MNIST_FILE).write_bytes(b"something else")
    with pytest.raises(DataError, match="SHA-256"):
        mnist.mnist()
    assert not list(cache_folder().glob("*.npz"))


def test_a_download_is_checked_and_kept(server, monkeypatch):
    write_set(server)
    found = hashlib.sha256((server / MNIST_FILE).read_bytes()).hexdigest()
    monkeypatch.setattr(mnist, "MNIST_SHA256", found)
    assert mnist.mnist().x_train.max() == 7
    assert mnist.mnist().source == str(cache_folder())


def test_an_unwritable_cache_is_one_clear_line(server, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(DataError, match=r"cannot write .*LABS_DATA_DIR"):
        mnist.mnist()


def test_fashion_mnist_passes_over_a_folder_that_holds_other_sets_only(own, monkeypatch):
    monkeypatch.setattr(datasets, "DEBIAN_FOLDER", own / "no-debian")
    assert find_fashion_mnist() is None
    monkeypatch.setattr(datasets, "DEBIAN_FOLDER", DEBIAN_FOLDER)
    assert find_fashion_mnist() == (DEBIAN_FOLDER if DEBIAN_FOLDER.exists() else None)


@pytest.fixture
def digits():
    data = datasets.synthetic_images()
    train, test = (data.x_train[:40], data.y_train[:40]), (data.x_test[:9], data.y_test[:9])
    return {"train": train, "test": test}


def test_class_folders_hold_the_same_images(digits):
    folder = class_folders.write_class_folders("digits", MNIST_CLASSES, **digits)
    assert not list(folder.parent.glob("*.part"))
    for part, (images, labels) in digits.items():
        read = keras.utils.image_dataset_from_directory(
            folder / part, class_names=MNIST_CLASSES, color_mode="grayscale",
            image_size=(28, 28), shuffle=False, verbose=False,
        )  # fmt: skip
        pixels = np.concatenate([batch.numpy() for batch, _ in read])
        order = np.argsort(labels, kind="stable")
        assert np.array_equal(pixels, images[order])


def test_class_folders_are_written_once_and_go_on_after_a_kill(digits, monkeypatch):
    written = []
    replace = os.replace

    def killed(source, target):
        if len(written) == 20:
            raise KeyboardInterrupt
        written.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        class_folders.write_class_folders("digits", MNIST_CLASSES, **digits)
    [unfinished] = class_folders.cache_folder().iterdir()
    assert unfinished.suffix == ".part"
    first = written.copy()
    written[:] = [None] * 21
    folder = class_folders.write_class_folders("digits", MNIST_CLASSES, **digits)
    assert not set(first) & set(written), "what was there is not written again"
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 49
    count = len(written)
    assert class_folders.write_class_folders("digits", MNIST_CLASSES, **digits) == folder
    assert len(written) == count
    other = digits | {"test": digits["train"]}
    assert class_folders.write_class_folders("digits", MNIST_CLASSES, **other) != folder


def test_class_folders_that_cannot_be_written_are_one_clear_line(digits, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(DataError, match=r"cannot write image files .*XDG_CACHE_HOME"):
        class_folders.write_class_folders("digits", MNIST_CLASSES, **digits)
