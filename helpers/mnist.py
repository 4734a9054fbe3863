"""MNIST, digits by hand, from the first place that has it, checked before it is used."""

import hashlib
import io
from pathlib import Path

import numpy as np
import platformdirs

from helpers.datasets import Images, fetch, own_folder, synthetic_images
from helpers.errors import DataError

MNIST_FILE = "mnist.npz"
# The hash that Keras publishes in its own source, and where Keras fetches it from:
# keras.datasets.mnist.
MNIST_SHA256 = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
MNIST_URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
MNIST_SHAPES = {
    "x_train": (60_000, 28, 28),
    "y_train": (60_000,),
    "x_test": (10_000, 28, 28),
    "y_test": (10_000,),
}
MNIST_CLASSES = tuple("0123456789")


def mnist(offline_fallback=True):
    """Load MNIST, 60,000 training and 10,000 test images of digits.

    Looks in ``LABS_DATA_DIR`` and the user's cache, and downloads as the last
    resort. Without any copy and network a synthetic set of the same shapes stands
    in.

    Parameters
    ----------
    offline_fallback : bool
        False: raise instead of falling back on the synthetic set.

    Returns
    -------
    helpers.datasets.Images
        With `source` "synthetic" where the real set could not be had.

    Raises
    ------
    DataError
        If a file that is there is damaged, or the cache cannot be written.

    References
    ----------
    LeCun, Cortes & Burges, "The MNIST database of handwritten digits", 1998.
    """
    path = find_mnist()
    if path is None:
        try:
            path = download_mnist()
        except ConnectionError as error:
            if not offline_fallback:
                raise DataError(str(error)) from error
            return synthetic_images()
    # In the user's own folder any set of the right shapes will do.
    trusted = path.parent != cache_folder()
    arrays = _read(path, trusted)
    return Images(
        arrays["x_train"][..., None],
        arrays["y_train"].astype("uint8"),
        arrays["x_test"][..., None],
        arrays["y_test"].astype("uint8"),
        str(path.parent),
    )


def cache_folder():
    """The folder in the user's cache that downloads go to."""
    return Path(platformdirs.user_cache_dir("scaling-labs")) / "mnist"


def find_mnist():
    """The first copy of mnist.npz, or None.

    Raises
    ------
    DataError
        If ``LABS_DATA_DIR`` is no folder.
    """
    own = own_folder()
    places = [own / "mnist", own] if own else []
    for folder in [*places, cache_folder()]:
        if (folder / MNIST_FILE).is_file():
            return folder / MNIST_FILE
    return None


def download_mnist():
    """Fetch the file into the user's cache and return its path.

    Raises
    ------
    ConnectionError, DataError
        As `helpers.datasets.fetch`.
    """
    elsewhere = f"Put {MNIST_FILE}, as Keras has it, into LABS_DATA_DIR."
    fetch(MNIST_URL + MNIST_FILE, MNIST_SHA256, cache_folder(), elsewhere)
    return cache_folder() / MNIST_FILE


def _read(path, trusted):
    remedy = f"Replace {path} by a whole copy."
    if not trusted:
        remedy = f"Delete {path} and run `labs data fetch`."
    try:
        content = path.read_bytes()
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in MNIST_SHAPES if name in stored}
    # What a damaged archive raises is not written down anywhere.
    except Exception as error:
        raise DataError(f"{MNIST_FILE} is damaged or cut short. {remedy}") from error
    if not trusted and hashlib.sha256(content).hexdigest() != MNIST_SHA256:
        raise DataError(f"{MNIST_FILE} is not MNIST as published. {remedy}")
    for name, shape in MNIST_SHAPES.items():
        array = arrays.get(name)
        # Labels are small whole numbers, and some copies store those with more bytes.
        right = (
            array is not None
            and array.shape == shape
            and (array.dtype == "uint8" or (array.ndim == 1 and array.dtype.kind in "iu"))
        )
        if not right:
            raise DataError(f"{MNIST_FILE} does not hold {name}, uint8 {shape}. {remedy}")
        if name.startswith("y") and not 0 <= array.min() <= array.max() <= 9:
            raise DataError(f"{MNIST_FILE} has labels in {name} beyond 0 to 9. {remedy}")
    return arrays
