"""The benches of training run, resume where they stopped, and compute what they say."""

import json
import re

import keras
import pytest
import tensorflow as tf

from helpers.network.recipes import fast_network
from kit.authoring.pages import readme
from kit.bench import accuracy, training
from kit.bench.measurement import resumable


def test_done_jobs_are_not_done_again_and_other_settings_start_over(tmp_path):
    ran = []

    def job(name, fails=False):
        def do():
            ran.append(name)
            if fails:
                raise KeyboardInterrupt
            return {"name": name}

        return do

    with pytest.raises(KeyboardInterrupt):
        resumable("x", {"n": (1,)}, {"a": job("a"), "b": job("b", fails=True)}, tmp_path)
    done = resumable("x", {"n": (1,)}, {"a": job("a"), "b": job("b")}, tmp_path)
    assert ran == ["a", "b", "b"]
    assert [entry["name"] for entry in done.values()] == ["a", "b"]
    assert all(entry["load_average"] >= 0 for entry in done.values())
    resumable("x", {"n": (2,)}, {"a": job("a")}, tmp_path)
    assert ran == ["a", "b", "b", "a"]


def test_operations_are_those_of_forward_and_two_backward_passes():
    inputs = keras.Input((8, 8, 2))
    x = keras.layers.Conv2D(3, 3, padding="same")(inputs)
    x = keras.layers.MaxPooling2D(2)(x)
    network = keras.Model(inputs, keras.layers.Conv2D(5, 1, padding="same")(x))
    first, second = 2 * 64 * 9 * 2 * 3, 2 * 16 * 3 * 5
    assert training.operations_per_image(network) == 2 * first + 3 * second
    # What the notes on speed say of WRN-16-1, where the first needs its input's too.
    assert training.operations_per_image(fast_network()) == pytest.approx(0.122e9, rel=0.02)


@pytest.mark.slow
@pytest.mark.weekly
def test_the_training_bench_measures_every_variant(tmp_path):
    training.bench(((10, 1, 32),), 1, tmp_path / "docs", tmp_path)
    [row] = json.loads((tmp_path / "docs" / "training.json").read_text())["rows"]
    assert row["network"] == "WRN-10-1"
    assert set(row["variants"]) == {
        "original", "float32", "limit float32", "mixed_bfloat16", "limit mixed_bfloat16",
    }  # fmt: skip
    assert row["variants"]["original"]["cpu_ratio"] == 1
    for variant, found in row["variants"].items():
        turn = row["turns"][0][variant]
        assert found["images_per_second"] == turn["wall"] > 0
        assert found["cpu_ratio"] == turn["cpu"] / row["turns"][0]["original"]["cpu"]
    assert not (tmp_path / "training.json").exists()
    ratios = [f"{found['cpu_ratio']:.2f}" for found in row["variants"].values()]
    speed = f"{row['variants']['original']['images_per_cpu_second']:,.0f}"
    line = f"| WRN-10-1 | {speed} | {' | '.join(ratios[1:])} |"
    assert line in readme._training(tmp_path / "docs")


@pytest.mark.slow
@pytest.mark.weekly
def test_the_accuracy_bench_chooses_and_compares(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy, "TARGETS", (0.0, 1.1))
    monkeypatch.setattr(accuracy, "EPOCHS", (1,))  # fewer trainings: each is traced
    monkeypatch.setattr(accuracy, "CHOICE_SEEDS", (100,))
    sizes = dict.fromkeys(("train_images", "choice_images", "test_images"), 64)
    sizes |= {"depth": 10, "width": 1, "seeds": 1, "original_epochs": 2}
    tried = accuracy.TRIED[:1]
    accuracy.bench(sizes, tried, tmp_path / "docs", tmp_path)
    result = json.loads((tmp_path / "docs" / "accuracy.json").read_text())
    assert result["chosen"] == tried[0]
    assert result["chosen_epochs"] == {"0.0": 1, "1.1": 1}
    at_once, never = (result["targets"][t]["fast, 1 epochs"] for t in ("0.0", "1.1"))
    runs = result["runs"]
    first = [runs[f"{k}, seed 0"]["epochs"][0] for k in ("original", "fast, 1 epochs")]
    assert at_once["cpu_ratio"] == first[0]["cpu_seconds"] / first[1]["cpu_seconds"]
    assert never["seeds_that_reached_it"] == {"original": 0, "fast": 0}
    assert never["cpu_ratio"] is None
    ratio = f"{at_once['cpu_ratio']:.1f}"
    table = readme._accuracy(tmp_path / "docs")
    assert re.search(rf"\| 0.0 \| 1 \| \d+ \(1 of 1 seeds\) \| \d+ .* \| {ratio} \|", table)
    assert "| 1.1 | 1 | – (0 of 1 seeds) | – (0 of 1 seeds) | – |" in table
    original = runs["original, seed 0"]["epochs"]
    assert result["test_accuracy"]["original"] == [original[-1]["accuracy"]]
    assert original[1]["cpu_seconds"] > original[0]["cpu_seconds"] > 0


@pytest.mark.parametrize(
    ("accuracies", "best", "epochs"),
    [
        ({(0, 1): 0.80, (0, 2): 0.84, (1, 1): 0.83, (1, 2): 0.86}, 1, (1, 2)),
        ({(0, 1): 0.80, (0, 2): 0.83, (1, 1): 0.70, (1, 2): 0.87}, 0, (2, 2)),
    ],
)
def test_settings_and_epochs_are_chosen_by_the_mean_and_the_worst_run(
    accuracies, best, epochs
):
    done = {
        f"choice {i}, {e} epochs, seed {seed}": {"epochs": [{"accuracy": a - 0.002 * n}]}
        for (i, e), a in accuracies.items()
        for n, seed in enumerate(accuracy.CHOICE_SEEDS)
    }
    chosen, enough = accuracy.best_settings(done, ["first", "second"])
    assert chosen == ("first", "second")[best]
    assert enough == dict(zip(("0.82", "0.85"), epochs, strict=True))


def test_starting_up_leaves_no_trace():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1, 0.9), "mse", jit_compile=False)
    before = model.get_weights()
    data = keras.ops.ones((4, 2)), keras.ops.ones((4, 1))
    accuracy._start_up(model, tf.data.Dataset.from_tensors(data))
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))
    assert int(model.optimizer.iterations) == 0
    assert not any(v.numpy().any() for v in model.optimizer.variables[2:])
