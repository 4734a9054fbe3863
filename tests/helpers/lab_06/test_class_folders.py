"""Class folders: the same images, written once, and whole or not there."""

import os

import keras
import numpy as np
import pytest

from helpers.data.images import synthetic_images
from helpers.data.mnist import MNIST_CLASSES
from helpers.errors import DataError
from helpers.lab_06 import class_folders


@pytest.fixture
def digits():
    data = synthetic_images()
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


def test_class_folders_are_written_once_and_completed_after_a_kill(digits, monkeypatch):
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


def test_full_batches_come_from_files_with_the_same_images(digits):
    images, labels = digits["train"]
    full = class_folders.full_batches
    from_array, from_files = (
        [(x.numpy(), y.numpy()) for x, y in full(images, labels, 16, given)]
        for given in (False, True)
    )
    assert [len(y) for _, y in from_array] == [len(y) for _, y in from_files] == [16, 16]
    order = np.argsort(labels, kind="stable")[:32]
    assert np.array_equal(np.concatenate([x for x, _ in from_files]), images[order])
    classes = np.concatenate([y for _, y in from_files]).argmax(axis=1)
    assert np.array_equal(classes, labels[order])


def test_full_batches_shuffle_files_with_a_seed(digits):
    images, labels = digits["train"]
    [kept], [shuffled] = (
        [x.numpy() for x, _ in class_folders.full_batches(images, labels, 40, True, seed)]
        for seed in (None, 1)
    )
    assert not np.array_equal(kept, shuffled)
    assert sorted(x.sum() for x in kept) == sorted(x.sum() for x in shuffled)
