"""The input pipeline that the labs began with: Keras' old ImageDataGenerator."""

import numpy as np
from keras.src.legacy.preprocessing.image import ImageDataGenerator


def generator_batches(images, labels, batch_size, shift, flip, seed):
    """Batches as the original lab made them: image by image, in Python.

    Parameters
    ----------
    images : uint8 array (n, height, width, channels)
    labels : integer array (n,)
    batch_size : int
    shift : float
        Largest shift, as a fraction of the height and of the width.
    flip : bool
    seed : int

    Returns
    -------
    keras iterator
        Of float32 images, centred and scaled, and one-hot labels.
    """
    generator = ImageDataGenerator(
        featurewise_center=True,
        featurewise_std_normalization=True,
        horizontal_flip=flip,
        width_shift_range=shift,
        height_shift_range=shift,
    )
    floats = images.astype("float32")
    generator.fit(floats)
    one_hot = np.eye(10, dtype="float32")[labels]
    return generator.flow(floats, one_hot, batch_size=batch_size, seed=seed)
