"""MNIST: images of handwritten digits, checked before they are used."""

import io

import numpy as np

from helpers.data.images import Images, fault, synthetic_images
from helpers.data.places import DataSet
from helpers.errors import DataError

MNIST_CLASSES = tuple("0123456789")

MNIST = DataSet(
    name="MNIST",
    folder="mnist",
    # The hash that Keras publishes in its own source.
    registry={
        "mnist.npz": "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
    },
    elsewhere="Put mnist.npz, as Keras has it, into LABS_DATA_DIR.",
)
SHAPES = {
    "x_train": (60_000, 28, 28),
    "y_train": (60_000,),
    "x_test": (10_000, 28, 28),
    "y_test": (10_000,),
}


def mnist(offline_fallback: bool = True) -> Images:
    """Load MNIST, 60,000 training and 10,000 test images of digits.

    Looks in ``LABS_DATA_DIR`` and the user's cache, then downloads. Without a copy
    and without a network a synthetic set of the same shapes is used instead.

    Parameters
    ----------
    offline_fallback : bool
        False: raise, and use no synthetic set.

    Returns
    -------
    helpers.data.images.Images
        `source` is the folder, or "synthetic".

    Raises
    ------
    DataError
        If an existing file is damaged, or the cache cannot be written.

    References
    ----------
    LeCun, Cortes & Burges, "The MNIST database of handwritten digits", 1998.
    """
    folder = MNIST.find_or_download(offline_fallback)
    if folder is None:
        return synthetic_images()
    arrays = _read(folder / "mnist.npz")
    return Images(
        arrays["x_train"][..., None],
        arrays["y_train"].astype("uint8"),
        arrays["x_test"][..., None],
        arrays["y_test"].astype("uint8"),
        str(folder),
    )


def _read(path):
    remedy = MNIST.remedy(path)
    try:
        content = path.read_bytes()
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in SHAPES if name in stored}
    # Which error a damaged archive raises is not documented.
    except Exception as error:
        raise DataError(f"{path.name} is damaged or cut short. {remedy}") from error
    if not (MNIST.is_own(path.parent) or MNIST.has_published_hash(path.name, content)):
        raise DataError(f"{path.name} is not MNIST as published. {remedy}")
    for name, shape in SHAPES.items():
        array = arrays.get(name)
        # Labels are small whole numbers, and some copies store those with more bytes.
        right = (
            array is not None
            and array.shape == shape
            and (array.dtype == "uint8" or (array.ndim == 1 and array.dtype.kind in "iu"))
        )
        if not right:
            raise DataError(f"{path.name} does not hold {name}, uint8 {shape}. {remedy}")
        if wrong := fault(array, training=name.endswith("train")):
            raise DataError(f"{path.name} cannot be used: {name} {wrong}. {remedy}")
    return arrays
