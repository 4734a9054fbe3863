"""The training that the labs began with.

authors: Scaling Labs
target: laptop
"""

import keras
import numpy as np

from helpers.network.models import original_conv_bn_relu, wide_resnet

BATCH, EPOCHS = 32, 40
DROPS = (15, 25, 35)  # after these epochs the learning rate is divided by ten
SHIFT = 0.2  # of the height and of the width


class Augmented(keras.utils.PyDataset):
    """Batches whose images are shifted and flipped one by one."""

    def __init__(self, images, labels, seed):
        super().__init__()
        self.images, self.labels = images, labels
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return -(-len(self.images) // BATCH)

    def __getitem__(self, index):
        rows = self.order[index * BATCH :][:BATCH]
        return np.stack([self.moved(self.images[row]) for row in rows]), self.labels[rows]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.images))

    def moved(self, image):
        most = round(SHIFT * len(image))
        down, right = self.rng.integers(-most, most + 1, 2)
        padded = np.pad(image, ((most, most), (most, most), (0, 0)), "edge")
        image = padded[most + down :, most + right :][: len(image), : len(image)]
        return image[:, ::-1] if self.rng.random() < 0.5 else image


def train(x, y, seed):
    keras.utils.set_random_seed(seed)
    mean, deviation = x.mean(), x.std()

    def scaled(images):
        return ((images - mean) / deviation).astype("float32")

    steps = -(-len(x) // BATCH)
    rate = keras.optimizers.schedules.PiecewiseConstantDecay(
        [epoch * steps for epoch in DROPS], [1e-2, 1e-3, 1e-4, 1e-5]
    )
    model = wide_resnet(16, 1, unit=original_conv_bn_relu)
    model.compile(
        keras.optimizers.SGD(rate, weight_decay=5e-6),
        "categorical_crossentropy",
        jit_compile=False,
    )
    one_hot = np.eye(10, dtype="float32")[y]
    model.fit(Augmented(scaled(x), one_hot, seed), epochs=EPOCHS, verbose=0)
    return lambda images: model.predict(scaled(images), 250, verbose=0).argmax(1)
