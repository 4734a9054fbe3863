"""The fast recipe of lab 08, for five epochs.

authors: Scaling Labs
target: laptop
"""

import keras

from helpers.network.pipelines import batches
from helpers.network.recipes import fast_loss, fast_network, fast_optimizer

BATCH, EPOCHS = 32, 5


def train(x, y, seed):
    keras.utils.set_random_seed(seed)
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    network = fast_network(16, 1)
    model = keras.Sequential([keras.layers.Rescaling(1 / 255), network])
    steps = len(x) // BATCH
    model.compile(fast_optimizer(EPOCHS * steps), fast_loss(), jit_compile=False)
    data = batches(x, y, BATCH, seed, repeat=True, drop_remainder=True)
    model.fit(data, epochs=EPOCHS, steps_per_epoch=steps, verbose=0)
    return lambda images: model.predict(images, 500, verbose=0).argmax(1)
