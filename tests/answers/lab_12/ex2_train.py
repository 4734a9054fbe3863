"""Recorded answers to 12.2: wrong ones, and right ones in other styles.

Most of them are linear classifiers in NumPy, because these train in milliseconds.
"""

import functools
import threading
import time
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

FEATURES = 300


def flat(images):
    return np.asarray(images, "float64").reshape(len(images), -1) / 255


def one_hot(y):
    return np.eye(10)[y]


def projection(seed, size=FEATURES):
    return np.random.default_rng(seed).normal(0, 0.1, (784, size))


def fitted(features, y, penalty=1.0):
    """Ridge regression on one-hot labels."""
    square = features.T @ features + penalty * np.eye(features.shape[1])
    return np.linalg.solve(square, features.T @ one_hot(y))


def random_features(x, y, seed):
    weights = projection(seed)
    shift = flat(x).mean(axis=0)
    last = fitted(np.maximum((flat(x) - shift) @ weights, 0), y)

    def predict(images):
        return (np.maximum((flat(images) - shift) @ weights, 0) @ last).argmax(axis=1)

    return predict


# Right answers.


def with_a_lambda(x, y, seed):
    weights = projection(seed, 200)
    last = fitted(np.tanh(flat(x) @ weights), y)
    return lambda images: np.argmax(np.tanh(flat(images) @ weights) @ last, axis=-1)


class Centroids:
    """The mean image of each class, from a random ninth of the images."""

    def __init__(self, x, y, seed):
        half = np.random.default_rng(seed).permutation(len(x))[: len(x) // 9]
        self.labels = np.unique(y)
        self.means = np.array(
            [flat(x[half][y[half] == one]).mean(0) for one in self.labels]
        )

    def __call__(self, images):
        apart = ((flat(images)[:, None] - self.means) ** 2).sum(axis=2)
        return self.labels[apart.argmin(axis=1)].astype("int32")


def with_a_class(x, y, seed):
    return Centroids(x, y, seed)


def nearest_neighbours(x, y, seed):
    kept = np.random.default_rng(seed).permutation(len(x))[:150]
    known, labels = flat(x[kept]), y[kept].copy()

    def predict(images):
        apart = (known**2).sum(1) - 2 * flat(images) @ known.T
        return labels[apart.argmin(axis=1)]

    return predict


def labels_as_a_list(x, y, seed, size=250):
    predict = random_features(x, y, seed + size)
    return lambda images: [int(label) for label in predict(images)]


def logistic(x, y, seed, passes=6, size=32):
    """Softmax regression, step by step."""
    rng, inputs, aims = np.random.default_rng(seed), flat(x), one_hot(y)
    shift = inputs.mean(0)
    weights, bias = rng.normal(0, 0.1, (784, 10)), np.zeros(10)
    for _ in range(passes):
        for batch in np.array_split(rng.permutation(len(x)), max(1, len(x) // size)):
            z = (inputs[batch] - shift) @ weights + bias
            p = np.exp(z - z.max(1, keepdims=True))
            error = (p / p.sum(1, keepdims=True) - aims[batch]) / len(batch)
            weights -= 0.1 * (inputs[batch] - shift).T @ error
            bias -= 0.1 * error.sum(0)
    return lambda images: ((flat(images) - shift) @ weights + bias).argmax(1)


def image_by_image(x, y, seed):
    predict = random_features(x, y, seed)

    def each(images):
        return np.concatenate([predict(images[i : i + 1]) for i in range(len(images))])

    return each


def with_partial(x, y, seed):
    weights = projection(seed)
    return functools.partial(apply_to, weights=weights, last=fitted(flat(x) @ weights, y))


def apply_to(images, weights, last):
    return (flat(images) @ weights @ last).argmax(axis=1)


def both_ways_round(x, y, seed):
    """It predicts each image as it is and flipped, and adds the scores."""
    weights = projection(seed)

    def features(images):
        return np.maximum(flat(images) @ weights, 0)

    twice, labels = np.concatenate([x, x[:, :, ::-1]]), np.concatenate([y, y])
    last = fitted(features(twice), labels)

    def predict(images):
        scores = features(images) @ last + features(images[:, :, ::-1]) @ last
        return scores.argmax(axis=1).astype("uint8")

    return predict


def ensemble(x, y, seed):
    members = [random_features(x, y, 7 * seed + i) for i in range(3)]

    def predict(images):
        votes = sum(one_hot(member(images)) for member in members)
        return votes.argmax(axis=1)

    return predict


class Layers(NamedTuple):
    hidden: tf.Variable
    last: tf.Variable


def with_a_tape(x, y, seed):
    generator = tf.random.Generator.from_seed(seed)
    layers = Layers(
        tf.Variable(generator.normal((784, 32), stddev=0.05)),
        tf.Variable(generator.normal((32, 10), stddev=0.2)),
    )
    shift = flat(x).mean(axis=0)

    def scores(images):
        centred = tf.constant(flat(images) - shift, tf.float32)
        return tf.nn.relu(centred @ layers.hidden) @ layers.last

    for _ in range(60):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                y.astype("int32"), scores(x)
            )
            loss = tf.reduce_mean(losses)
        for variable, gradient in zip(layers, tape.gradient(loss, layers), strict=True):
            variable.assign_sub(0.2 * gradient)
    return lambda images: tf.argmax(scores(images), axis=1).numpy()


def with_keras(x, y, seed):
    keras.utils.set_random_seed(seed)
    model = keras.Sequential(
        [
            keras.Input(x.shape[1:]),
            keras.layers.Rescaling(1 / 64, -1.5),
            keras.layers.Flatten(),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", jit_compile=False
    )
    model.fit(x, y, epochs=4, batch_size=32, verbose=0)
    return lambda images: model(images, training=False).numpy().argmax(axis=1)


# Wrong answers.


def start_code(x, y, seed):
    def centred(images):
        return flat(images) - flat(images).mean(axis=0)

    weights = projection(0)
    last = fitted(np.maximum(centred(x) @ weights, 0), y)
    return lambda images: (np.maximum(centred(images) @ weights, 0) @ last).argmax(axis=1)


def statistics_of_the_batch(x, y, seed):
    def scaled(images):
        pixels = flat(images)
        return (pixels - pixels.mean(axis=0)) / (pixels.std(axis=0) + 0.01)

    weights = projection(seed)
    last = fitted(np.maximum(scaled(x) @ weights, 0), y)
    return lambda images: (np.maximum(scaled(images) @ weights, 0) @ last).argmax(axis=1)


def remembers_its_labels(x, y, seed):
    """A cache by the number of images."""
    predict, known = random_features(x, y, seed), {}

    def cached(images):
        if len(images) not in known or len(images) == 1:
            known[len(images)] = predict(images)
        return known[len(images)]

    return cached


def probabilities(x, y, seed):
    predict = random_features(x, y, seed)
    return lambda images: one_hot(predict(images))


def labels_as_floats(x, y, seed):
    predict = random_features(x, y, seed)
    return lambda images: predict(images).astype("float32")


def drops_the_last_batch(x, y, seed):
    predict = random_features(x, y, seed)
    return lambda images: predict(images)[: len(images) // 32 * 32 or 1]


def untrained(x, y, seed):
    weights = projection(seed, 10)
    return lambda images: (flat(images) @ weights).argmax(axis=1)


def always_the_same_label(x, y, seed):
    label = int(np.bincount(y).argmax())
    return lambda images: np.full(len(images), label)


def numbers_the_classes_anew(x, y, seed):
    return random_features(x, np.unique(y, return_inverse=True)[1], seed)


def for_fashion_only(x, y, seed):
    predict = random_features(x, y, seed)
    if len(np.unique(y)) < 10:
        return lambda images: np.zeros(len(images), int)
    return predict


def forgets_the_return(x, y, seed):
    random_features(x, y, seed)


SEEN = {"x": None}


def trains_only_once(x, y, seed):
    """It thinks that it has been trained if it knows the images."""
    if np.array_equal(SEEN["x"], x):
        return untrained(x, y, seed)
    SEEN["x"] = x.copy()
    return random_features(x, y, seed)


COUNT = {"calls": 0}


def another_seed_for_each_call(x, y, seed):
    COUNT["calls"] += 1
    return random_features(x, y, seed + COUNT["calls"])


def without_a_seed(x, y, seed):
    return random_features(x, y, None)


def a_seed_of_its_own(x, y, seed):
    return random_features(x, y, 1234)


def never_random(x, y, seed):
    last = fitted(flat(x), y)
    return lambda images: (flat(images) @ last).argmax(axis=1)


def leaves_a_thread(x, y, seed):
    threading.Thread(target=time.sleep, args=(8,), daemon=True).start()
    return random_features(x, y, seed)


def a_long_literal(x, y, seed):
    text = "0123456789" * 3 + (
        "31415926535897932384626433832795028841971693993751058209749445923078164062862089"
        "98628034825342117067982148086513282306647093844609550582231725359408128481117450"
        "28410270193852110555964462294895493038196442881097566593344612847564823378678316"
    )
    return random_features(x, y, seed + len(text))


def a_forbidden_import(x, y, seed):
    from scipy import linalg

    return random_features(x, y, seed + (linalg is None))


def shuffles_in_place(x, y, seed):
    predict = random_features(x, y, seed)
    np.random.default_rng(seed).shuffle(x)
    return predict


def scales_the_images_to_predict(x, y, seed):
    predict = random_features(x, y, seed)

    def predict_in_place(images):
        labels = predict(images)
        images //= 2
        return labels

    return predict_in_place


WRONG = [
    ("alone", "start", start_code),
    ("alone", "alone", statistics_of_the_batch),
    ("alone", "order", remembers_its_labels),
    ("form", "form", probabilities),
    ("form", "form", labels_as_floats),
    ("form", "count", drops_the_last_batch),
    ("learns", "learns", untrained),
    ("learns", "learns", always_the_same_label),
    ("learns", "learns", numbers_the_classes_anew),
    ("learns", "learns", for_fashion_only),
    ("learns", "raised", forgets_the_return),
    ("kept", "again", trains_only_once),
    ("repeats", "repeats", another_seed_for_each_call),
    ("repeats", "repeats", without_a_seed),
    ("seeds", "seeds", a_seed_of_its_own),
    ("seeds", "seeds", never_random),
    ("threads", "threads", leaves_a_thread),
    ("source", "source", a_long_literal),
    ("source", "source", a_forbidden_import),
    ("unchanged", "changed", shuffles_in_place),
    ("unchanged", "changed", scales_the_images_to_predict),
]
RIGHT = [
    random_features, with_a_lambda, with_a_class, nearest_neighbours, labels_as_a_list,
    logistic, image_by_image, with_partial, both_ways_round, ensemble, with_a_tape,
    with_keras,
]  # fmt: skip
