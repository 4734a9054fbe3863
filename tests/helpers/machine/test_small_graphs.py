"""With `spend_less_on_graphs`, `fit` traces a step once and computes the same."""

import keras
import numpy as np
import pytest

from helpers.machine import small_graphs

IMAGES = np.random.default_rng(0).random((10, 4), "float32")
CLASSES = np.arange(10) % 3


class Traced(keras.Model):
    """A model that counts how often Python runs its training step."""

    traces = 0

    def train_step(self, data):
        Traced.traces += 1
        return super().train_step(data)


def trained(data, built_before, monkeypatch):
    """(traces, losses, weights) of two epochs; the last batch is smaller."""
    usual = small_graphs._USUAL
    build = small_graphs._build if built_before else usual
    monkeypatch.setattr(keras.Model, "_maybe_symbolic_build", build)
    monkeypatch.setattr(Traced, "traces", 0)
    keras.utils.set_random_seed(1)
    images = keras.Input([4])
    model = Traced(images, keras.layers.Dense(3)(keras.layers.Dropout(0.5)(images)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(), loss, metrics=["accuracy"])
    history = model.fit(**data, epochs=2, shuffle=False, verbose=0)
    return Traced.traces, history.history, model.get_weights()


class Batches(keras.utils.PyDataset):
    """The data as a generator that counts what was taken from it."""

    taken = 0

    def __len__(self):
        return 3

    def __getitem__(self, batch):
        Batches.taken += 1
        part = slice(4 * batch, 4 * batch + 4)
        return IMAGES[part], CLASSES[part]


@pytest.mark.parametrize(
    "data",
    [
        lambda: {"x": IMAGES, "y": CLASSES, "batch_size": 4},
        lambda: {"x": IMAGES, "y": CLASSES, "batch_size": 5, "class_weight": {1: 2.0}},
        lambda: {"x": Batches()},
    ],
    ids=["arrays", "class weights", "a generator"],
)
def test_fit_traces_once_and_computes_the_same(data, monkeypatch):
    taken = []
    results = []
    for built_before in (False, True):
        monkeypatch.setattr(Batches, "taken", 0)
        results.append(trained(data(), built_before, monkeypatch))
        taken.append(Batches.taken)
    (traces, losses, weights), (traces_now, losses_now, weights_now) = results
    assert traces_now < traces
    assert losses == losses_now
    for before, now in zip(weights, weights_now, strict=True):
        np.testing.assert_array_equal(before, now)
    assert taken[0] == taken[1], "no batch more is taken"
