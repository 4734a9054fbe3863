"""Lab 11's transformer: what its logits depend on, and its weights."""

import keras
import numpy as np
import pytest

from helpers.lab_11.memory.transformer import decoder

SIZES = {"blocks": 2, "width": 16, "heads": 4, "words": 6, "vocabulary": 30}


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(0)
    return decoder(**SIZES)


def test_logits_depend_on_the_words_before_and_not_on_those_after(model):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 30, (3, 6))
    before = keras.ops.convert_to_numpy(model(numbers))
    for place in range(6):
        changed = numbers.copy()
        changed[:, place] = (changed[:, place] + 1) % 30
        same = np.isclose(keras.ops.convert_to_numpy(model(changed)), before, atol=1e-6)
        same = same.all(axis=(0, 2))
        assert same[:place].all()
        assert not same[place:].any()


def test_the_weights_have_the_paths_that_layouts_name(model):
    shapes = {weight.path: tuple(weight.shape) for weight in model.weights}
    expected = {"words/embeddings": (30, 16), "places/embeddings": (6, 16)}
    for i in range(2):
        for name in ("query", "key", "value", "output"):
            expected[f"block_{i}/{name}/kernel"] = (16, 16)
        expected[f"block_{i}/up/kernel"] = (16, 64)
        expected[f"block_{i}/down/kernel"] = (64, 16)
        for norm in ("norm_1", "norm_2"):
            for part in ("gamma", "beta"):
                expected[f"block_{i}/{norm}/{part}"] = (16,)
    expected |= {f"norm/{part}": (16,) for part in ("gamma", "beta")}
    assert shapes == expected | {"logits/kernel": (16, 30)}


def test_a_width_that_the_heads_cannot_share_is_refused():
    with pytest.raises(ValueError, match="multiple of heads"):
        decoder(**SIZES | {"heads": 5})
