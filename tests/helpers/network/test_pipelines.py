"""The pipeline serves every image once, and moves it as ImageDataGenerator did."""

import keras
import numpy as np
import pytest
from keras.src.legacy.preprocessing.image import ImageDataGenerator

from helpers.network.pipelines import (
    RandomFlipShift,
    batches,
    shift_and_flip,
    with_preprocessing,
)

RNG = np.random.default_rng(0)


def numbered_images(n):
    """Images that differ in their first pixel."""
    images = np.zeros((n, 4, 4, 1), "uint8")
    images[:, 0, 0, 0] = np.arange(n)
    return images, np.arange(n, dtype="uint8") % 10


@pytest.mark.parametrize("seed", [None, 3])
def test_an_epoch_serves_every_image_once_with_its_label(seed):
    images, labels = numbered_images(50)
    for _ in range(2):
        served = [(x.numpy(), y.numpy()) for x, y in batches(images, labels, 16, seed)]
        assert [len(x) for x, _ in served] == [16, 16, 16, 2]
        assert served[0][0].dtype == "uint8"
        numbers = np.concatenate([x[:, 0, 0, 0] for x, _ in served])
        assert sorted(numbers) == list(range(50))
        assert (np.concatenate([y.argmax(1) for _, y in served]) == numbers % 10).all()


def test_every_epoch_has_another_order_and_a_seed_repeats_it():
    images, labels = numbered_images(50)

    def orders():
        data = batches(images, labels, 50, seed=1)
        return [next(iter(data))[0].numpy()[:, 0, 0, 0].tolist() for _ in range(2)]

    first, second = orders()
    assert first != second
    assert orders() == [first, second]


def test_repeating_fills_batches_larger_than_the_set():
    images, labels = numbered_images(10)
    x, _ = next(iter(batches(images, labels, 64, seed=1, repeat=True)))
    assert len(x) == 64


@pytest.mark.parametrize("shape", [(28, 28, 1), (20, 30, 3)])
def test_shifts_and_flips_equal_those_of_image_data_generator(shape):
    n = 40
    images = RNG.uniform(0, 255, (n, *shape)).astype("float32")
    down = RNG.uniform(-0.2, 0.2, n) * shape[0]
    right = RNG.uniform(-0.2, 0.2, n) * shape[1]
    flip = RNG.random(n) < 0.5
    original = ImageDataGenerator(horizontal_flip=True, fill_mode="nearest")
    expected = np.stack(
        [
            # In Keras 3.15 the generator takes "tx" as columns.
            original.apply_transform(
                image, {"tx": right[i], "ty": down[i], "flip_horizontal": bool(flip[i])}
            )
            for i, image in enumerate(images)
        ]
    )
    ours = shift_and_flip(
        keras.ops.convert_to_tensor(images),
        keras.ops.cast(down, "float32"),
        keras.ops.cast(right, "float32"),
        keras.ops.convert_to_tensor(flip),
    )
    # On the scale of 0 to 255.
    np.testing.assert_allclose(np.asarray(ours), expected, atol=1e-3)


def test_the_drawn_shifts_and_flips_have_the_generators_distribution():
    n = 4000
    # A ramp along the columns and one along the rows show shift and flip.
    ramp = np.tile(np.arange(28, dtype="float32"), (n, 28, 1))
    images = np.stack([ramp, ramp.transpose(0, 2, 1)], -1)
    out = np.asarray(RandomFlipShift(0.2, True, seed=0)(images, training=True))
    middle = out[:, 14, 14]
    slope = out[:, 14, 15, 0] - middle[:, 0]
    assert abs((slope < 0).mean() - 0.5) < 0.03
    down = middle[:, 1] - 14
    assert np.abs(down).max() <= 0.2 * 28 + 1e-4
    # Uniform: the standard deviation is the whole width over the root of 12.
    assert down.std() == pytest.approx(2 * 0.2 * 28 / 12**0.5, rel=0.05)
    assert (np.abs(down - down.round()) > 0.05).mean() > 0.8, "only whole pixels"


def test_without_training_nothing_moves_and_pixels_are_centred_and_scaled():
    images = RNG.integers(0, 256, (64, 28, 28, 1), dtype="uint8")
    identity = keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Identity()])
    model = with_preprocessing(identity, images, seed=0)
    out = np.asarray(model(images, training=False))
    original = ImageDataGenerator(
        featurewise_center=True, featurewise_std_normalization=True
    )
    original.fit(images.astype("float32"))
    expected = original.standardize(images.astype("float32"))
    np.testing.assert_allclose(out, expected, atol=1e-4)
    assert not np.allclose(out, np.asarray(model(images, training=True)))


def test_without_shift_and_flip_images_are_only_scaled():
    x = RNG.integers(0, 256, (20, 6, 6, 1), dtype="uint8")
    model = with_preprocessing(keras.Sequential([keras.layers.ReLU()]), x, 0, False)
    assert not any(isinstance(layer, RandomFlipShift) for layer in model.layers)
    scaled = (x.astype("float64") - x.mean()) / x.std()
    found = np.asarray(model(x, training=True))
    np.testing.assert_allclose(found, np.maximum(scaled, 0), rtol=1e-4, atol=1e-5)
