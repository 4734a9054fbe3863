"""Fashion-MNIST: images of clothes, checked before they are used."""

import gzip
import hashlib
import zlib
from pathlib import Path

import numpy as np

from helpers.data.images import Images, fault, synthetic_images
from helpers.data.places import DataSet
from helpers.errors import DataError

FASHION_MNIST_CLASSES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip

FASHION_MNIST = DataSet(
    name="Fashion-MNIST",
    folder="fashion-mnist",
    registry={
        "train-images-idx3-ubyte.gz": (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
        ),
        "train-labels-idx1-ubyte.gz": (
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
        ),
        "t10k-images-idx3-ubyte.gz": (
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
        ),
        "t10k-labels-idx1-ubyte.gz": (
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
        ),
    },
    elsewhere=(
        "Debian has it as the package dataset-fashion-mnist; or put the four files "
        "into LABS_DATA_DIR."
    ),
    system_folder=Path("/usr/share/datasets/fashion-mnist"),
)
# SHA-256 of what is in each file. Debian compresses the same content again, so its
# files have other hashes than the published ones. The labs depend on the content.
CONTENT_SHA256 = {
    "train-images-idx3-ubyte.gz": (
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
    ),
    "train-labels-idx1-ubyte.gz": (
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
    ),
    "t10k-images-idx3-ubyte.gz": (
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
    ),
}
SHAPES = {
    "train-images-idx3-ubyte.gz": (60_000, 28, 28),
    "train-labels-idx1-ubyte.gz": (60_000,),
    "t10k-images-idx3-ubyte.gz": (10_000, 28, 28),
    "t10k-labels-idx1-ubyte.gz": (10_000,),
}


def fashion_mnist(offline_fallback: bool = True) -> Images:
    """Load Fashion-MNIST, 60,000 training and 10,000 test images.

    Looks in ``LABS_DATA_DIR``, the user's cache and the folder of the Debian
    package `dataset-fashion-mnist`, then downloads. Without a copy and without a
    network a synthetic set of the same shapes is used instead.

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
    Xiao, Rasul & Vollgraf, "Fashion-MNIST", 2017, arXiv:1708.07747.
    """
    folder = FASHION_MNIST.find_or_download(offline_fallback)
    if folder is None:
        return synthetic_images()
    x_train, y_train, x_test, y_test = (
        _read(folder / name) for name in FASHION_MNIST.registry
    )
    return Images(x_train[..., None], y_train, x_test[..., None], y_test, str(folder))


def _read(path):
    remedy = FASHION_MNIST.remedy(path)
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} is damaged or cut short. {remedy}") from error
    shape = SHAPES[path.name]
    header = 4 + 4 * len(shape)
    sizes = np.frombuffer(content[4:header].ljust(4 * len(shape), b"\0"), ">i4")
    if (
        len(content) < header
        or tuple(sizes) != shape
        or len(content) != header + np.prod(shape)
    ):
        raise DataError(f"{path.name} does not hold uint8 {shape}. {remedy}")
    found = hashlib.sha256(content).hexdigest()
    if not FASHION_MNIST.is_own(path.parent) and found != CONTENT_SHA256[path.name]:
        raise DataError(f"{path.name} is not Fashion-MNIST as published. {remedy}")
    values = np.frombuffer(content, "uint8", offset=header).reshape(shape)
    if wrong := fault(values, training=path.name.startswith("train")):
        raise DataError(f"{path.name} {wrong}. {remedy}")
    return values
