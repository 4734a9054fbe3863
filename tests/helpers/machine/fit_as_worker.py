"""A script: train with `fit` under the strategy of `TF_CONFIG`; print what came out."""

import json

import keras
import numpy as np
import tensorflow as tf

from helpers.machine.multi_worker_fit import MultiWorkerModel


def trained(strategy, model_class):
    """The history, and the sum of squares of each weight, after three epochs."""
    random = np.random.default_rng(0)
    x = random.normal(size=(240, 8)).astype("float32")
    y = random.integers(0, 3, len(x))
    keras.utils.set_random_seed(1)
    with strategy.scope():
        image = keras.Input((8,))
        hidden = keras.layers.Dense(16, "relu")(image)
        model = model_class(image, keras.layers.Dense(3, "softmax")(hidden))
        model.compile(
            keras.optimizers.SGD(0.1, momentum=0.9),
            "sparse_categorical_crossentropy",
            metrics=["accuracy"],
            jit_compile=False,
        )
    history = model.fit(
        x, y, batch_size=60, epochs=3, verbose=0, shuffle=False,
        validation_data=(x[:120], y[:120]),
    )  # fmt: skip
    weights = [float(np.sum(weight**2)) for weight in model.get_weights()]
    return history.history | {"weights": weights}


def main():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    result = {"replicas": strategy.num_replicas_in_sync, "keras_can": True}
    try:
        trained(strategy, keras.Model)
    except ValueError:
        result["keras_can"] = False
    print(json.dumps(result | trained(strategy, MultiWorkerModel)))


if __name__ == "__main__":
    main()
