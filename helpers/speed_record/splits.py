"""The data of a judging: 70,000 pooled images, split by a secret.

The published test images may be known to a source, so they cannot be the judge. Images
that are nearly the same always go to the same side of a split.
"""

import hashlib
import hmac
from typing import NamedTuple

import numpy as np

from helpers.data.images import Images
from helpers.speed_record.rule import CLASSES, TEST_IMAGES, TRAIN_IMAGES

# Images are near-duplicates if they differ by at most this Euclidean distance, which is a
# root mean square of 14 grey levels for 28 x 28 pixels. In Fashion-MNIST 648 pairs are:
# all have the same label. At 500 there are 5,361 pairs, and 1% of them have not.
NEAR = 400
BLOCKS = 7  # of the pixels on each side, for a first look
ROWS = 256  # at a time


class Split(NamedTuple):
    """Images uint8 (n, 28, 28, 1) and labels uint8 (n,); the tests are drawn apart."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


class Pool(NamedTuple):
    """All images and labels, and the number of each image's group of near-duplicates."""

    x: np.ndarray
    y: np.ndarray
    groups: np.ndarray


def pool(images: Images) -> Pool:
    """Join the training and the test images, and find the near-duplicates.

    Parameters
    ----------
    images : helpers.data.images.Images

    Returns
    -------
    Pool
    """
    x = np.concatenate([images.x_train, images.x_test])
    y = np.concatenate([images.y_train, images.y_test])
    return Pool(x, y, groups_of(x))


def seed_of(secret: bytes, *parts: object) -> int:
    """A number below 2**31 that nobody can tell who does not know the secret."""
    text = "\n".join(map(str, parts)).encode()
    return int.from_bytes(hmac.digest(secret, text, "sha256")[:4], "big") >> 1


def code_hash(code: str) -> str:
    """The hash by which a submission is known: SHA-256 of its source, as hex digits."""
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()


def split(
    pooled: Pool, secret: bytes, train: int = TRAIN_IMAGES, test: int = TEST_IMAGES
) -> Split:
    """Draw training and test images by a secret.

    Parameters
    ----------
    pooled : Pool
    secret : bytes
        The same secret gives the same split.
    train, test : int
        How many images; fewer in a dry run.

    Returns
    -------
    Split
        No group of near-duplicates is on both sides.
    """
    rng = np.random.default_rng(list(hashlib.sha256(secret).digest()))
    order = np.argsort(rng.random(len(pooled.x)), kind="stable")
    # Whole groups go to the test images, as long as there is room for them.
    _, sizes = np.unique(pooled.groups, return_counts=True)
    chosen, room = np.zeros(len(sizes), bool), test
    for group in dict.fromkeys(pooled.groups[order].tolist()):
        if sizes[group] <= room:
            chosen[group], room = True, room - sizes[group]
        if not room:
            break
    is_test = chosen[pooled.groups[order]]
    tests, trains = order[is_test], order[~is_test][:train]
    return Split(pooled.x[trains], pooled.y[trains], pooled.x[tests], pooled.y[tests])


def held_out(data: Split, secret: bytes) -> Split:
    """The held-out workload: inverted images, with classes that the secret permutes.

    No class keeps its number.
    """
    rng = np.random.default_rng(list(hashlib.sha256(b"held out" + secret).digest()))
    ring = np.argsort(rng.random(CLASSES), kind="stable")
    classes = np.empty(CLASSES, "uint8")
    classes[ring] = np.roll(ring, 1)
    return Split(
        255 - data.x_train, classes[data.y_train], 255 - data.x_test, classes[data.y_test]
    )


def groups_of(x: np.ndarray) -> np.ndarray:
    """Number the groups of near-duplicates: images joined by a chain of near pairs.

    Parameters
    ----------
    x : array
        Images, uint8 (n, 28, 28, 1).

    Returns
    -------
    array of int
        (n,), from 0 up without gaps; an image without a near-duplicate has its own.
    """
    parents = list(range(len(x)))

    def root(one):
        while parents[one] != one:
            parents[one] = parents[parents[one]]
            one = parents[one]
        return one

    for one, other in near_pairs(x).tolist():
        parents[root(one)] = root(other)
    return np.unique([root(one) for one in range(len(x))], return_inverse=True)[1]


def near_pairs(x: np.ndarray) -> np.ndarray:
    """All pairs of images at most `NEAR` apart, as rows of two numbers.

    Block means are never further apart than the images, if both are scaled alike. So
    only the few pairs whose block means are near are compared pixel by pixel.
    """
    n, height, width, _ = x.shape
    rows, columns = height // BLOCKS, width // BLOCKS
    blocks = x.reshape(n, BLOCKS, rows, BLOCKS, columns).mean((2, 4), dtype="float32")
    blocks = blocks.reshape(n, -1) * np.sqrt(rows * columns, dtype="float32")
    brightness = blocks.sum(1) / BLOCKS
    order = np.argsort(brightness, kind="stable")
    brightness, blocks = brightness[order], blocks[order]
    squares = (blocks**2).sum(1)
    found = [np.empty((0, 2), int)]
    for begin in range(0, n, ROWS):
        rows = slice(begin, begin + ROWS)
        end = np.searchsorted(brightness, brightness[rows][-1] + NEAR + 1)
        # A little more than NEAR, because float32 rounds.
        apart = squares[rows, None] + squares[None, begin:end]
        apart -= 2 * blocks[rows] @ blocks[begin:end].T
        one, other = np.nonzero(apart <= NEAR**2 * 1.01 + 100)
        pairs = order[np.stack([one + begin, other + begin], 1)[other > one]]
        found.append(pairs[_distances(x, pairs) <= NEAR**2])
    return np.concatenate(found)


def _distances(x, pairs):
    """Squared, exact."""
    flat = x.reshape(len(x), -1)
    ones, others = flat[pairs[:, 0]].astype("int32"), flat[pairs[:, 1]].astype("int32")
    return ((ones - others) ** 2).sum(1)
