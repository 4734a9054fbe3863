"""Measure the time to an accuracy: the original recipe against the fast one.

Both train WRN-16-1 on the same images, in turn, once for each seed. The settings of the
fast recipe are chosen first, on images of the training set that neither trains on; only
then the test images are looked at. Start-up (tracing) is left out of both, and so is the
time of looking at the accuracy.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
from rich.console import Console
from rich.table import Table

from callbacks.waiting import wait_for_device
from helpers.data.fashion_mnist import fashion_mnist
from helpers.network.pipelines import batches, with_preprocessing
from helpers.network.precision import choose, dtype_policy, training_speeds
from helpers.network.recipes import LABEL_SMOOTHING, fast_loss, fast_network, fast_optimizer
from kit.bench.measurement import DOCS, UNFINISHED, machine, resumable, store
from kit.bench.original import BATCH, original_flow, original_generator, original_model

SIZES = {
    "depth": 16,
    "width": 1,
    "train_images": 10_000,  # the first of the training set
    "choice_images": 10_000,  # the last of the training set
    "test_images": 10_000,
    "seeds": 5,
    "original_epochs": 20,  # the learning rate drops once, after 15
}
TARGETS = (0.82, 0.85)
# What the choice tries, each for 1 and 2 epochs and two seeds.
TRIED = [
    {"batch_size": batch, "peak_learning_rate": peak, "weight_decay": 5e-4}
    for batch in (32, 64)
    for peak in (0.025, 0.05, 0.1)
]
EPOCHS = (1, 2)
CHOICE_SEEDS = (100, 101)  # the comparison has others
EVALUATED_AT_ONCE = 250


def bench(
    sizes: dict[str, int] = SIZES,
    tried: list[dict] = TRIED,
    docs: Path = DOCS,
    unfinished: Path = UNFINISHED,
) -> None:
    """Write accuracy.json and print it as a table.

    Parameters
    ----------
    sizes : dict of str to int
    tried : list of dict
        Settings of the fast recipe to choose from.
    docs, unfinished : Path
        Folders for the result, and for what an interrupted bench has done.
    """
    data = fashion_mnist()
    n, last = sizes["train_images"], sizes["choice_images"]
    x, y = data.x_train[:n], data.y_train[:n]
    unseen = data.x_train[-last:], data.y_train[-last:]
    test = data.x_test[: sizes["test_images"]], data.y_test[: sizes["test_images"]]
    settings = {"sizes": sizes, "tried": tried, "data": data.source}

    def new_network():
        return fast_network(sizes["depth"], sizes["width"])

    def precision():
        images, labels = next(iter(batches(x, y, BATCH)))
        speeds = training_speeds(
            lambda: fast_model(new_network(), x, 1000, tried[0]), images, labels
        )
        return {"images_per_second": speeds, "chosen": choose("auto", speeds)}

    def step(jobs):
        before.update(jobs)
        return resumable("accuracy", settings, before, unfinished)

    before = {}
    policy = step({"precision": precision})["precision"]["chosen"]
    choice = step(
        {
            f"choice {i}, {epochs} epochs, seed {seed}": lambda s=s, e=epochs, seed=seed: (
                train_fast(new_network, x, y, unseen, s, e, seed, policy)
            )
            for i, s in enumerate(tried)
            for epochs in EPOCHS
            for seed in CHOICE_SEEDS
        }
    )
    chosen, enough = best_settings(choice, tried)
    runs = {}
    for seed in range(sizes["seeds"]):
        runs[f"original, seed {seed}"] = lambda seed=seed: train_original(
            sizes, x, y, test, seed
        )
        for e in EPOCHS:
            runs[f"fast, {e} epochs, seed {seed}"] = lambda e=e, seed=seed: train_fast(
                new_network, x, y, test, chosen, e, seed, policy
            )
    done = step(runs)
    result = machine() | settings | {"chosen": chosen, "chosen_epochs": enough}
    result |= summary(done, sizes["seeds"])
    path = store("accuracy", result | {"runs": done}, docs)
    (unfinished / "accuracy.json").unlink()
    Console().print(_table(result))
    print(f"Written to {path}")


def best_settings(done: dict[str, dict], tried: list[dict]) -> tuple[dict, dict[str, int]]:
    """What does best on the images that are there to choose by.

    Parameters
    ----------
    done : dict
        The runs of every entry of `tried`, as `resumable` returns them.
    tried : list of dict

    Returns
    -------
    settings : dict
        The entry with the best accuracy, the mean over numbers of epochs and seeds.
    epochs : dict of str to int
        For each target the fewest epochs with which each of its runs reached it, else
        the most that were tried.
    """

    def last(i, epochs):
        runs = (done[f"choice {i}, {epochs} epochs, seed {seed}"] for seed in CHOICE_SEEDS)
        return [run["epochs"][-1]["accuracy"] for run in runs]

    def mean(i):
        return statistics.mean(a for epochs in EPOCHS for a in last(i, epochs))

    best = max(range(len(tried)), key=mean)
    enough = {
        str(target): next((e for e in EPOCHS if min(last(best, e)) >= target), EPOCHS[-1])
        for target in TARGETS
    }
    return tried[best], enough


def fast_model(
    network: keras.Model, x: np.ndarray, steps: int, settings: dict
) -> keras.Model:
    """A model for images `x` by the fast recipe, compiled, without augmentation."""
    model = with_preprocessing(network, x, shift=0, flip=False)
    optimizer = fast_optimizer(
        steps, settings["peak_learning_rate"], settings["weight_decay"]
    )
    model.compile(
        optimizer, fast_loss(LABEL_SMOOTHING), metrics=["accuracy"], jit_compile=False
    )
    return model


def train_fast(
    new_network: Callable[[], keras.Model],
    x: np.ndarray,
    y: np.ndarray,
    looked_at: tuple[np.ndarray, np.ndarray],
    settings: dict,
    epochs: int,
    seed: int,
    precision: str,
) -> dict:
    """Train by the fast recipe, a schedule for this many epochs; see `_train`."""
    keras.utils.set_random_seed(seed)
    steps = epochs * -(-len(x) // settings["batch_size"])
    with dtype_policy(precision):
        model = fast_model(new_network(), x, steps, settings)
    data = batches(x, y, settings["batch_size"], seed=seed)
    return _train(model, data, looked_at, epochs)


def train_original(
    sizes: dict[str, int],
    x: np.ndarray,
    y: np.ndarray,
    looked_at: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> dict:
    """Train by the original recipe, in float32; see `_train`."""
    keras.utils.set_random_seed(seed)
    flow = original_flow(x, y, seed)
    model = original_model(sizes["depth"], sizes["width"], len(flow))
    scaled = original_generator(x).standardize(looked_at[0].astype("float32"))
    return _train(model, flow, (scaled, looked_at[1]), sizes["original_epochs"])


class Clock(keras.callbacks.Callback):
    """Wall and CPU seconds of each epoch's training, without the validation."""

    def on_train_begin(self, logs: dict | None = None) -> None:
        self.took = []

    def on_epoch_begin(self, epoch: int, logs: dict | None = None) -> None:
        self.began = time.perf_counter(), time.process_time()

    def on_test_begin(self, logs: dict | None = None) -> None:
        wait_for_device(self.model)
        wall, cpu = self.began
        self.took.append((time.perf_counter() - wall, time.process_time() - cpu))


def _train(model, data, looked_at, epochs):
    """Train, and look at the accuracy after each epoch.

    Returns
    -------
    dict
        `epochs`: for each the `wall_seconds` and `cpu_seconds` of all training up to its
        end, and the `accuracy` then.
    """
    clock = Clock()
    _start_up(model, data)
    looked_at = batches(*looked_at, EVALUATED_AT_ONCE)
    history = model.fit(
        data, epochs=epochs, callbacks=[clock], validation_data=looked_at, verbose=0
    )
    wall = cpu = 0
    found = []
    for took, accuracy in zip(clock.took, history.history["val_accuracy"], strict=True):
        wall, cpu = wall + took[0], cpu + took[1]
        found.append({"wall_seconds": wall, "cpu_seconds": cpu, "accuracy": accuracy})
    return {"epochs": found}


def _start_up(model, data):
    """Train for a step and take it back: what comes next has no tracing in it."""
    model.optimizer.build(model.trainable_variables)
    variables = [*model.variables, *model.optimizer.variables]
    before = [variable.numpy() for variable in variables]
    model.fit(data, steps_per_epoch=1, verbose=0)
    for variable, value in zip(variables, before, strict=True):
        variable.assign(value)


def reached(run: dict, target: float) -> dict | None:
    """The entry of the first epoch with this accuracy, or None."""
    return next((e for e in run["epochs"] if e["accuracy"] >= target), None)


def summary(done: dict[str, dict], seeds: int) -> dict:
    """Time to each target, and the test accuracy at the end, over the seeds.

    Parameters
    ----------
    done : dict
        The runs of both recipes.
    seeds : int

    Returns
    -------
    dict
        `targets`: for each, and for each number of epochs of the fast recipe's schedule,
        how many seeds reached it, and the median over the seeds of the ratio of both
        recipes' seconds; a seed that missed it has no ratio.
        `test_accuracy`: of every recipe after its last epoch, a list over the seeds.
    """
    kinds = ["original", *(f"fast, {e} epochs" for e in EPOCHS)]
    by_kind = {k: [done[f"{k}, seed {seed}"] for seed in range(seeds)] for k in kinds}
    return {
        "targets": {
            str(target): {
                kind: _to_target(by_kind["original"], by_kind[kind], target)
                for kind in kinds[1:]
            }
            for target in TARGETS
        },
        "test_accuracy": {
            kind: [run["epochs"][-1]["accuracy"] for run in runs]
            for kind, runs in by_kind.items()
        },
    }


def _to_target(original, fast, target):
    original, fast = ([reached(run, target) for run in runs] for runs in (original, fast))
    pairs = [(a, b) for a, b in zip(original, fast, strict=True) if a and b]

    def middle(values):
        values = list(values)
        return statistics.median(values) if values else None

    return {
        "seeds_that_reached_it": {
            "original": sum(map(bool, original)),
            "fast": sum(map(bool, fast)),
        },
        "cpu_seconds": {
            "original": middle(e["cpu_seconds"] for e in original if e),
            "fast": middle(e["cpu_seconds"] for e in fast if e),
        },
        "wall_ratio": middle(a["wall_seconds"] / b["wall_seconds"] for a, b in pairs),
        "cpu_ratio": middle(a["cpu_seconds"] / b["cpu_seconds"] for a, b in pairs),
    }


def _table(result):
    table = Table("", "original", "fast", "ratio by CPU time")
    for target, by_kind in result["targets"].items():
        for kind, found in by_kind.items():
            numbers = [*found["cpu_seconds"].values(), found["cpu_ratio"]]
            texts = ["–" if number is None else f"{number:.1f}" for number in numbers]
            table.add_row(f"CPU seconds to {target}; {kind}", *texts)
    for kind, accuracies in result["test_accuracy"].items():
        row = f"{statistics.mean(accuracies):.4f}"
        table.add_row(f"test accuracy: {kind}", row, "", "")
    return table
