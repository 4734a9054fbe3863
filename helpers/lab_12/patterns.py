"""Small sets of images for exercise 12.2: blurred patterns under noise, and mixtures."""

import base64

import numpy as np

CLASSES, SIDE = 10, 28
TRAIN_IMAGES, CLEAR_IMAGES, MIXED_IMAGES = 512, 40, 60
NOISE = 56  # grey levels


def patterns(seed: int, inverted: bool) -> np.ndarray:
    """A pattern for each class, uint8 (10, 28, 28, 1).

    Parameters
    ----------
    seed : int
    inverted : bool
        Whether they are dark on light.
    """
    rng = np.random.default_rng(seed)
    drawn = np.kron(rng.integers(0, 200, (CLASSES, 7, 7)), np.ones((4, 4)))
    drawn = drawn.astype("uint8")[..., None]
    return 200 - drawn if inverted else drawn


def noisy(images: np.ndarray, seed: int) -> np.ndarray:
    """Images with noise, uint8 of the same shape."""
    noise = np.random.default_rng(seed).integers(0, NOISE, images.shape, dtype="uint8")
    return images + noise


def training_set(seed: int, classes: list[int], inverted: bool) -> tuple:
    """Images uint8 (512, 28, 28, 1) and labels uint8 (512,) of some classes."""
    rng = np.random.default_rng([seed, 1])
    labels = rng.choice(np.array(classes, "uint8"), TRAIN_IMAGES)
    return noisy(patterns(seed, inverted)[labels], seed + 1), labels


def as_text(images: np.ndarray) -> str:
    """Images as text, for a question."""
    return base64.b64encode(images.tobytes()).decode()


def from_text(text: str) -> np.ndarray:
    """Images uint8 (n, 28, 28, 1) from a text."""
    pixels = np.frombuffer(base64.b64decode(text), "uint8")
    return pixels.reshape(-1, SIDE, SIDE, 1).copy()
