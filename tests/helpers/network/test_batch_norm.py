"""The fused layer is Keras' batch normalisation in all but its time."""

import os
import subprocess
import sys
from importlib.util import find_spec

import keras
import numpy as np
import pytest
import tensorflow as tf

from helpers.files import REPOSITORY
from helpers.machine.devices import simulated_strategy
from helpers.network.batch_norm import BatchNormalization

RNG = np.random.default_rng(0)
CHANNELS = 4
IMAGES = RNG.normal(3, 2, (6, 5, 3, CHANNELS)).astype("float32")
# Largest difference, as a fraction of one plus the largest value: rounding of the dtype.
ROUNDING = {"float32": 1e-5, "mixed_bfloat16": 2**-8, "mixed_float16": 2**-10}
BOTH = (keras.layers.BatchNormalization, BatchNormalization)


def new(layer, shape=IMAGES.shape, **options):
    """A built layer with weights and statistics unlike those of the start."""
    made = layer(momentum=0.9, name="same", **options)
    made.build(shape)
    for i, weight in enumerate(made.weights):
        weight.assign(np.linspace(0.5, 2, shape[made.axis]) + 0.1 * i)
    return made


def run(layer, x, training, mask=None):
    """Output, gradients of a curved loss, and the weights after it, in float32."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(layer(x, training=training, mask=mask), x.dtype)
        loss = tf.reduce_sum(y**3)
    trained = [weight.value for weight in layer.trainable_weights]
    found = [y, *tape.gradient(loss, [x, *trained]), *layer.weights]
    return [np.array(tf.cast(value, "float32")) for value in found]


def assert_same(ours, theirs, tolerance):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert np.abs(a - b).max() <= tolerance * (1 + np.abs(b).max())


def kernels(layer, x, mask=None):
    traced = tf.function(lambda x: layer(x, training=True, mask=mask))
    graph = traced.get_concrete_function(tf.constant(x)).graph
    return [op.type for op in graph.get_operations() if "FusedBatchNorm" in op.type]


@pytest.mark.parametrize("policy", ROUNDING)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"trainable": False}, {"scale": False, "center": False}], ids=str
)
def test_outputs_gradients_and_statistics_are_those_of_keras(policy, training, options):
    theirs, ours = (new(layer, dtype=policy, **options) for layer in BOTH)
    assert kernels(ours, IMAGES) and not kernels(theirs, IMAGES)
    assert ours(IMAGES).dtype == theirs(IMAGES).dtype
    found, expected = (run(layer, IMAGES, training) for layer in (ours, theirs))
    assert_same(found, expected, ROUNDING[policy])
    moved = np.abs(expected[-1] - np.array(new(BOTH[0], **options).weights[-1])).max()
    assert (moved > 0) == (training and options.get("trainable", True))


def test_the_variance_is_that_of_keras_in_a_batch_of_one_pixel_and_of_two():
    for x in (IMAGES[:1, :1, :1], IMAGES[:1, :1, :2]):
        theirs, ours = (run(new(layer, x.shape), x, True) for layer in BOTH)
        assert_same(ours, theirs, 1e-4)


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"synchronized": True}, IMAGES.shape),
        ({"renorm": True}, IMAGES.shape),
        ({"axis": 1}, IMAGES.shape),
        ({"epsilon": 1e-6}, IMAGES.shape),
        ({"dtype": "float64"}, IMAGES.shape),
        ({}, (8, CHANNELS)),
        ({}, (8, 3, CHANNELS)),
    ],
    ids=str,
)
def test_keras_does_what_the_fused_kernel_cannot(options, shape):
    x = RNG.normal(3, 2, shape).astype(options.get("dtype", "float32"))
    theirs, ours = (new(layer, shape, **options) for layer in BOTH)
    assert not kernels(ours, x)
    for training in (True, False):
        assert_same(run(ours, x, training), run(theirs, x, training), 0)


def test_a_mask_leaves_pixels_out_as_in_keras():
    mask = RNG.random(IMAGES.shape[:3]) < 0.5
    theirs, ours = (run(new(layer), IMAGES, True, mask) for layer in BOTH)
    assert_same(ours, theirs, 0)
    assert np.abs(ours[-1] - run(new(BOTH[0]), IMAGES, True)[-1]).max() > 1e-3


def model_with(layer):
    inputs = keras.Input(IMAGES.shape[1:])
    x = layer(momentum=0.9)(keras.layers.Conv2D(3, 3)(inputs))
    x = keras.layers.GlobalAveragePooling2D()(layer()(keras.layers.ReLU()(x)))
    model = keras.Model(inputs, x)
    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=False)
    return model


def trained(layer, steps=3):
    keras.utils.set_random_seed(0)
    model = model_with(layer)
    data = tf.data.Dataset.from_tensors((IMAGES, IMAGES[:, 0, 0, :3])).repeat(steps)
    model.fit(data, verbose=0)
    return model


@pytest.mark.xdist_group("devices")
def test_replicas_train_the_same_weights():
    weights = []
    for layer in BOTH:
        with simulated_strategy(2).scope():
            weights.append(trained(layer).get_weights())
    assert_same(*weights, 1e-4)
    # Each replica has its own statistics; so this is another training.
    assert np.abs(weights[0][2] - trained(BOTH[0]).get_weights()[2]).max() > 1e-4


@pytest.mark.parametrize("saved", BOTH)
@pytest.mark.parametrize("ending", [".keras", ".weights.h5"])
def test_the_weights_of_either_load_into_the_other(saved, ending, tmp_path):
    model = trained(saved)
    path = tmp_path / f"model{ending}"
    (model.save if ending == ".keras" else model.save_weights)(path)
    [other] = set(BOTH) - {saved}
    loaded = model_with(other)
    loaded.load_weights(path)
    assert_same(loaded.get_weights(), model.get_weights(), 0)
    assert_same(
        [loaded.predict(IMAGES, verbose=0)], [model.predict(IMAGES, verbose=0)], 1e-5
    )


def test_a_saved_model_loads_with_the_kit_and_without(tmp_path, monkeypatch):
    model, path = trained(BatchNormalization), tmp_path / "model.keras"
    model.save(path)
    name = "scaling_labs>BatchNormalization"
    loaded = {BatchNormalization: keras.models.load_model(path)}
    # A process that has not imported the kit has not registered the layer.
    monkeypatch.delitem(keras.saving.get_custom_objects(), name)
    loaded[BOTH[0]] = keras.models.load_model(path, custom_objects={name: BOTH[0]})
    for layer, same in loaded.items():
        assert type(same.layers[2]) is layer
        assert same.layers[2].get_config() == model.layers[2].get_config()
        assert_same(same.get_weights(), model.get_weights(), 0)


@pytest.mark.skipif(find_spec("jax") is None, reason="Keras' NumPy backend needs JAX")
def test_on_another_backend_it_is_keras_layer():
    code = """
import keras, numpy as np
from helpers.network.batch_norm import BatchNormalization
x = np.random.default_rng(0).normal(size=(2, 3, 3, 4)).astype("float32")
a, b = keras.layers.BatchNormalization(), BatchNormalization()
for training in (True, False):
    assert (a(x, training=training) == b(x, training=training)).all()
assert all((u == v).all() for u, v in zip(a.get_weights(), b.get_weights()))
import sys
assert keras.backend.backend() == "numpy" and "tensorflow" not in sys.modules
"""
    environment = os.environ | {"KERAS_BACKEND": "numpy", "PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-500:]
