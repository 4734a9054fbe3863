"""A profile says which layers' operations a training step ran, here or elsewhere."""

import json
import sys

import numpy as np
import pytest
import tensorflow as tf

from helpers.lab_08.profile import (
    RECORDED,
    NoProfileError,
    profile_networks,
    profile_steps,
    summarize,
)
from helpers.network.models import wide_resnet
from kit.bench import profile as recording


@pytest.fixture(scope="module")
def step():
    network = wide_resnet(10, 1, input_shape=(8, 8, 1), dropout=0.1)
    network.compile("sgd", "categorical_crossentropy", jit_compile=False)
    images = np.random.default_rng(0).normal(size=(4, 8, 8, 1)).astype("float32")
    labels = np.eye(10, dtype="float32")[:4]
    network.train_on_batch(images, labels)
    return lambda: network.train_on_batch(images, labels)


@pytest.fixture(scope="module")
def profile(step):
    return profile_steps(step, steps=1)


def test_every_kind_of_layer_in_the_network_is_found(profile):
    found = summarize(profile)["layers"]
    there = {kind for kind, seconds in found.items() if seconds > 0}
    assert there == {"convolution", "batch normalisation", "ReLU", "dropout", "other"}


def test_no_second_is_lost_or_counted_twice(profile):
    total = sum(profile.values())
    for by in summarize(profile).values():
        assert sum(by.values()) == pytest.approx(total)
        assert list(by.values()) == sorted(by.values(), reverse=True)


def test_operations_have_their_own_names(profile):
    found = summarize(profile)["operations"]
    assert any(name.startswith("Conv2DBackprop") for name in found)
    assert not any("/" in name or "Mkl" in name or name == "IDLE" for name in found)


def test_a_convolution_joined_with_an_addition_stays_a_convolution():
    place = "wrn_10_1/add_1/Add"
    profile = {(place, "FusedConv2D"): 2.0, (place, "AddV2"): 1.0}
    layers = summarize(profile)["layers"]
    assert layers["convolution"] == 2 and layers["other"] == 1


def test_a_profile_taken_here_is_not_called_recorded(step):
    profiles, source = profile_networks({"mine": step})
    assert source is None
    assert profiles["mine"]["layers"]["convolution"] > 0


def test_without_xprof_there_are_recorded_profiles_and_a_line_says_so(step, monkeypatch):
    loaded = [name for name in sys.modules if name.partition(".")[0] == "xprof"]
    for name in ["xprof", *loaded]:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    profiles, source = profile_networks(dict.fromkeys(recording.UNITS, step))
    stored = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert profiles == stored["profiles"]
    assert source.startswith("RECORDED PROFILES, not of this machine")
    assert stored["device"]["name"] in source and stored["date"] in source
    assert "xprof cannot be used" in source


def test_a_profiler_that_is_busy_is_no_profiler(step, tmp_path):
    tf.profiler.experimental.start(str(tmp_path))
    try:
        with pytest.raises(NoProfileError, match="profiler"):
            profile_steps(step)
        _, source = profile_networks(dict.fromkeys(recording.UNITS, step))
    finally:
        tf.profiler.experimental.stop(save=False)
    assert source.startswith("RECORDED PROFILES")
    assert profile_steps(step, steps=1)  # and afterwards it works again


def test_an_error_of_the_step_itself_is_not_hidden(step):
    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        profile_steps(fails)
    assert profile_steps(step, steps=1)


def test_the_command_records_what_the_lab_reads(tmp_path):
    path = tmp_path / "recorded.json"
    recording.bench(path, steps=1)
    now, stored = (json.loads(p.read_text(encoding="utf-8")) for p in (path, RECORDED))
    assert now.keys() == stored.keys()
    for name, profile in stored["profiles"].items():
        assert now["profiles"][name].keys() == profile.keys()
        assert now["profiles"][name]["layers"].keys() == profile["layers"].keys()
        for by in profile.values():
            assert all(seconds >= 0 for seconds in by.values())
