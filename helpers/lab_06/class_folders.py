"""Images as users keep them: one PNG file each, in one folder per class."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import platformdirs

from callbacks.live.progress import progress
from helpers.data.mnist import MNIST_CLASSES
from helpers.errors import DataError
from helpers.network.pipelines import batches

if TYPE_CHECKING:
    import tensorflow as tf


def write_class_folders(name: str, classes: Sequence[str], **parts: tuple) -> Path:
    """Write images as ``train/0/00007.png``, unless they are there already.

    Parameters
    ----------
    name : str
        Name of the folder; a few letters of the content's hash are added.
    classes : sequence of str
        The folders in each part, also for classes without an image; an image's label
        is an index into this.
    **parts : tuple of uint8 array (n, height, width, 1) and integer array (n,)
        Images and labels, by the name of their folder: `train`, `test`.

    Returns
    -------
    Path
        A folder in the user's cache. It has this name only when it is complete;
        after an interrupt the next call continues where this one stopped.

    Raises
    ------
    DataError
        If the folder cannot be written.
    """
    digest = hashlib.sha256()
    for images, labels in parts.values():
        digest.update(images.tobytes() + labels.tobytes())
    folder = cache_folder() / f"{name}-{digest.hexdigest()[:8]}"
    if folder.is_dir():
        return folder
    unfinished = folder.with_suffix(".part")
    try:
        _write_files(unfinished, classes, parts)
        os.replace(unfinished, folder)
    except OSError as error:
        if folder.is_dir():  # another notebook has written it meanwhile
            return folder
        raise DataError(
            f"cannot write image files to {cache_folder()} ({error.strerror}). Free "
            "some space there, or set XDG_CACHE_HOME to a folder of yours."
        ) from error
    return folder


def cache_folder() -> Path:
    """Where the class folders go."""
    return Path(platformdirs.user_cache_dir("scaling-labs")) / "class-folders"


def read_folder(
    folder: Path, classes: Sequence[str], **options: object
) -> "tf.data.Dataset":
    """Serve float32 images (28, 28, 1) and one-hot labels from a folder per class.

    Parameters
    ----------
    folder : Path
    classes : sequence of str
        Its folders, in the order of the labels.
    **options
        More arguments of ``image_dataset_from_directory``.

    Returns
    -------
    tf.data.Dataset
    """
    from keras import utils

    return utils.image_dataset_from_directory(
        folder, label_mode="categorical", class_names=classes, color_mode="grayscale",
        image_size=(28, 28), verbose=False, **options,
    )  # fmt: skip


def full_batches(
    images: np.ndarray,
    labels: np.ndarray,
    batch_size: int,
    from_folders: bool = False,
    seed: int | None = None,
) -> "tf.data.Dataset":
    """Serve digits in full batches, from the arrays or from files with the same pixels.

    Parameters
    ----------
    images : uint8 array (n, 28, 28, 1)
    labels : integer array (n,)
    batch_size : int
        Images that do not fill a batch are left out.
    from_folders : bool
        Write the images into one folder per class, and read these files.
    seed : int, optional
        Shuffle in every epoch with this seed; None keeps the order.

    Returns
    -------
    tf.data.Dataset
        Of pairs: images and one-hot labels.
    """
    if not from_folders:
        return batches(images, labels, batch_size, seed, drop_remainder=True)
    import tensorflow as tf

    folder = write_class_folders("mnist", MNIST_CLASSES, images=(images, labels))
    shuffled = {"shuffle": seed is not None, "seed": seed, "batch_size": None}
    data = read_folder(folder / "images", MNIST_CLASSES, **shuffled)
    options = tf.data.Options()
    options.autotune.enabled = False  # as in helpers/network/pipelines.py
    return data.batch(batch_size, drop_remainder=True).prefetch(2).with_options(options)


def _write_files(folder, classes, parts):
    import tensorflow as tf

    total = sum(len(labels) for _, labels in parts.values())
    with progress(total=total, desc="PNG files", unit="file") as bar:
        for part, (images, labels) in parts.items():
            for name in classes:
                (folder / part / name).mkdir(parents=True, exist_ok=True)
            for number, (image, label) in enumerate(zip(images, labels, strict=True)):
                path = folder / part / classes[label] / f"{number:05d}.png"
                if not path.exists():
                    # A file gets its name only when complete, so an existing one is whole.
                    temporary = path.with_name(f".{path.name}.{os.getpid()}")
                    temporary.write_bytes(tf.io.encode_png(image).numpy())
                    os.replace(temporary, path)
                bar.update()
    for left in folder.rglob(".*.png.*"):
        left.unlink()
