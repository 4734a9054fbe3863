"""Fashion-MNIST from the first place that has it, checked before it is used."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import platformdirs

from helpers.errors import DataError

FASHION_MNIST_CLASSES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip

# Name of each file, the SHA-256 of the file as published and of what is in it:
# Debian packs the same content anew, and numbers are what a lab depends on.
FASHION_MNIST_FILES = {
    "train-images-idx3-ubyte.gz": (
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    ),
    "train-labels-idx1-ubyte.gz": (
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    ),
    "t10k-images-idx3-ubyte.gz": (
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
}
FASHION_MNIST_SHAPES = {
    "train-images-idx3-ubyte.gz": (60_000, 28, 28),
    "train-labels-idx1-ubyte.gz": (60_000,),
    "t10k-images-idx3-ubyte.gz": (10_000, 28, 28),
    "t10k-labels-idx1-ubyte.gz": (10_000,),
}
# Where Keras fetches it from: keras.datasets.fashion_mnist.
FASHION_MNIST_URL = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
DEBIAN_FOLDER = Path("/usr/share/datasets/fashion-mnist")


class Images(NamedTuple):
    """A labelled image set; images are uint8 (n, 28, 28, 1), labels uint8 (n,)."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    source: str


def fashion_mnist(offline_fallback=True):
    """Load Fashion-MNIST, 60,000 training and 10,000 test images.

    Looks in ``LABS_DATA_DIR``, the user's cache, the folder of the Debian
    package `dataset-fashion-mnist`, and downloads as the last resort. Without
    any copy and network a synthetic set of the same shapes stands in.

    Parameters
    ----------
    offline_fallback : bool
        False: raise instead of falling back on the synthetic set.

    Returns
    -------
    Images
        With `source` "synthetic" where the real set could not be had.

    Raises
    ------
    DataError
        If a file that is there is damaged, or the cache cannot be written.

    References
    ----------
    Xiao, Rasul & Vollgraf, "Fashion-MNIST", 2017, arXiv:1708.07747.
    """
    folder = find_fashion_mnist()
    if folder is None:
        try:
            folder = download_fashion_mnist()
        except ConnectionError as error:
            if not offline_fallback:
                raise DataError(str(error)) from error
            return synthetic_images()
    # In the user's own folder any set of the right shapes will do.
    own = Path(os.environ.get("LABS_DATA_DIR") or "/nowhere")
    trusted = folder in (own, own / "fashion-mnist")
    arrays = [_read(folder / name, trusted) for name in FASHION_MNIST_FILES]
    return Images(
        arrays[0][..., None], arrays[1], arrays[2][..., None], arrays[3], str(folder)
    )


def cache_folder():
    """The folder in the user's cache that downloads go to."""
    return Path(platformdirs.user_cache_dir("scaling-labs")) / "fashion-mnist"


def find_fashion_mnist():
    """The first folder that holds all files, or None.

    Raises
    ------
    DataError
        If ``LABS_DATA_DIR`` is no folder, or has a part of the set only.
    """
    places = [cache_folder(), DEBIAN_FOLDER]
    if own := own_folder():
        places = [own / "fashion-mnist", own, *places]
    for folder in places:
        missing = [name for name in FASHION_MNIST_FILES if not (folder / name).is_file()]
        if own and folder in places[:2] and 0 < len(missing) < len(FASHION_MNIST_FILES):
            raise DataError(f"LABS_DATA_DIR has a part of Fashion-MNIST: add {missing[0]}.")
        if all((folder / name).is_file() for name in FASHION_MNIST_FILES):
            return folder
    return None


def download_fashion_mnist():
    """Fetch the files into the user's cache and return its folder.

    A file gets its name only when it is whole and its SHA-256 is right, so an
    interrupted download leaves nothing that could be taken for the data.

    Raises
    ------
    ConnectionError
        If the server cannot be reached.
    DataError
        If the cache cannot be written or what came is not the file.
    """
    for name, (published, _) in FASHION_MNIST_FILES.items():
        elsewhere = (
            "Debian has it as the package dataset-fashion-mnist; or put the four files "
            "into LABS_DATA_DIR."
        )
        fetch(FASHION_MNIST_URL + name, published, cache_folder(), elsewhere)
    return cache_folder()


def synthetic_images(seed=0):
    """Ten blurred patterns under noise, in the shapes of Fashion-MNIST."""
    rng = np.random.default_rng(seed)
    patterns = np.kron(rng.integers(0, 200, (10, 7, 7)), np.ones((4, 4)))

    def draw(n):
        labels = rng.integers(0, 10, n, dtype="uint8")
        noise = rng.integers(0, 56, (n, 28, 28, 1), dtype="uint8")
        return patterns.astype("uint8")[labels][..., None] + noise, labels

    return Images(*draw(60_000), *draw(10_000), "synthetic")


def own_folder():
    """The folder that ``LABS_DATA_DIR`` names, or None.

    Raises
    ------
    DataError
        If there is no such folder.
    """
    own = os.environ.get("LABS_DATA_DIR")
    if own and not Path(own).is_dir():
        raise DataError(f"LABS_DATA_DIR is {own}, and there is no such folder.")
    return Path(own) if own else None


def fetch(url, published, folder, elsewhere):
    """Download a file into a folder of the cache, unless it is there already.

    Parameters
    ----------
    url : str
    published : str
        SHA-256 of the file; an MD5 begins with ``md5:``.
    folder : Path
    elsewhere : str
        For the message: how else to get the file.

    Raises
    ------
    ConnectionError
        If the server cannot be reached.
    DataError
        If the cache cannot be written or what came is not the file.
    """
    import pooch

    pooch.get_logger().setLevel("ERROR")
    name = url.rpartition("/")[2]
    kind = "MD5" if published.startswith("md5:") else "SHA-256"
    try:
        pooch.retrieve(
            url,
            known_hash=published,
            path=folder,
            fname=name,
            downloader=pooch.HTTPDownloader(progressbar=True, timeout=20),
        )
    except ValueError as error:
        raise DataError(
            f"{name} was changed on its way here (its {kind} is wrong) and was "
            "not kept. Try `labs data fetch` again, or on another network."
        ) from error
    # Before OSError, of which it is a kind: requests' own errors.
    except _network_errors() as error:
        raise ConnectionError(f"{name} could not be downloaded. {elsewhere}") from error
    except OSError as error:
        raise DataError(
            f"cannot write the data cache {folder} ({error.strerror}). Free some "
            "space there, or set LABS_DATA_DIR to a folder that has the files."
        ) from error


def _network_errors():
    import requests

    return requests.exceptions.RequestException


def _read(path, trusted):
    remedy = f"Delete {path} and run `labs data fetch`."
    if trusted or DEBIAN_FOLDER in path.parents:
        remedy = f"Replace {path} by a whole copy."
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} is damaged or cut short. {remedy}") from error
    shape = FASHION_MNIST_SHAPES[path.name]
    header = 4 + 4 * len(shape)
    sizes = np.frombuffer(content[4:header].ljust(4 * len(shape), b"\0"), ">i4")
    if (
        len(content) < header
        or tuple(sizes) != shape
        or len(content) != header + np.prod(shape)
    ):
        raise DataError(f"{path.name} does not hold uint8 {shape}. {remedy}")
    published = FASHION_MNIST_FILES[path.name][1]
    if not trusted and hashlib.sha256(content).hexdigest() != published:
        raise DataError(f"{path.name} is not Fashion-MNIST as published. {remedy}")
    return np.frombuffer(content, "uint8", offset=header).reshape(shape)
