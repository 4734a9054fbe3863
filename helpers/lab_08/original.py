"""The input pipeline that the labs began with: image by image, in Python."""

import keras
import numpy as np

EPSILON = 1e-6  # added to the standard deviation, as Keras' old ImageDataGenerator did


class ImageByImage(keras.utils.PyDataset):
    """Batches for `fit` in which each image was shifted and flipped by itself.

    It moves, centres and scales images as Keras' old ``ImageDataGenerator`` did, with
    which the original lab augmented its images; that one is no longer part of Keras 3's
    public interface.

    Parameters
    ----------
    images : uint8 array (n, height, width, channels)
    labels : integer array (n,)
    batch_size : int
    shift : float
        Largest shift, as a fraction of the height and of the width.
    flip : bool
        Whether half of the images are mirrored.
    seed : int
    """

    def __init__(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        batch_size: int,
        shift: float,
        flip: bool,
        seed: int,
    ) -> None:
        super().__init__()
        self._images, self._one_hot = images, np.eye(10, dtype="float32")[labels]
        self._batch_size, self._shift, self._flip = batch_size, shift, flip
        self._mean = images.mean(axis=(0, 1, 2), dtype="float64").astype("float32")
        self._deviation = images.std(axis=(0, 1, 2), dtype="float64").astype("float32")
        self._rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self) -> int:
        return -(-len(self._images) // self._batch_size)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        rows = self._order[index * self._batch_size :][: self._batch_size]
        return np.stack([self._augmented(row) for row in rows]), self._one_hot[rows]

    def on_epoch_end(self) -> None:
        """Put the images in another order."""
        self._order = self._rng.permutation(len(self._images))

    def standardized(self, images: np.ndarray) -> np.ndarray:
        """Centre and scale images of any number, as those of the batches.

        Returns
        -------
        float32 array
        """
        return (images - self._mean) / (self._deviation + EPSILON)

    def _augmented(self, row):
        image = self._images[row].astype("float32")
        height, width, _ = image.shape
        down, right = self._rng.uniform(-self._shift, self._shift, 2)
        image = shifted(shifted(image, down * height, 0), right * width, 1)
        if self._flip and self._rng.random() < 0.5:
            image = image[:, ::-1]
        return self.standardized(image)


def shifted(image: np.ndarray, pixels: float, axis: int) -> np.ndarray:
    """Shift an image along an axis, also by a part of a pixel; the border is repeated.

    Parameters
    ----------
    image : float32 array (height, width, channels)
    pixels : float
    axis : int

    Returns
    -------
    float32 array
        Of the same shape.
    """
    last = image.shape[axis] - 1
    at = np.clip(np.arange(last + 1) + pixels, 0, last)
    below = at.astype(int)
    share = (at - below).astype(image.dtype)
    share = share.reshape([-1 if i == axis else 1 for i in range(image.ndim)])
    above = np.minimum(below + 1, last)
    return (1 - share) * image.take(below, axis) + share * image.take(above, axis)
