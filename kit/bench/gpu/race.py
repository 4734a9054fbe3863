"""Lab 03: time to an accuracy by batch size, and a forecast of the best size."""

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import median
from typing import Any

import keras
import numpy as np
from keras import optimizers

from callbacks import EpochRecorder
from helpers.data.fashion_mnist import fashion_mnist
from helpers.files import REPOSITORY
from helpers.lab_02.reference import fit_throughput
from helpers.lab_03 import ladder
from helpers.lab_03.reference import best_batch_size
from helpers.network.models import wide_resnet
from helpers.network.pipelines import with_preprocessing
from kit.bench.gpu.throughput import image_batches

LAW_CARD = REPOSITORY / "docs" / "run_cards" / "03_time_to_accuracy.json"
NEVER = 2.0  # an accuracy that no network reaches


class Race:
    """Lab 03: train one compiled model again and again until it reaches the target."""

    def __init__(self, sizes: Mapping[str, Any]) -> None:
        self.sizes, data = sizes, fashion_mnist()
        n, valid = sizes["train_images"], sizes["valid_images"]
        self.x, self.y = data.x_train[:n], data.y_train[:n]
        self.valid = data.x_test[:valid], np.eye(10, dtype="float32")[data.y_test[:valid]]
        self.sgd = optimizers.SGD(0.0, 0.9, weight_decay=5e-6)
        self.model = self._new_model(0)
        self.model.compile(self.sgd, "categorical_crossentropy", metrics=["accuracy"])

    def _new_model(self, seed):
        keras.utils.set_random_seed(seed)
        shape = {name: self.sizes[name] for name in ("depth", "width", "stem_pool")}
        network = wide_resnet(**shape, dropout=0.01)
        return with_preprocessing(network, self.x, shift=0, flip=False, seed=seed)

    def steps_per_look(self, batch_size: int) -> int:
        return max(1, round(self.sizes["look_images"] / batch_size))

    def most_looks(self, batch_size: int) -> int:
        images = self.sizes["epochs"] * self.sizes["train_images"]
        return max(1, images // (self.steps_per_look(batch_size) * batch_size))

    def run(
        self,
        batch_size: int,
        rate: float,
        seed: int,
        target: float | None = None,
        looks: int | None = None,
        split: tuple[tuple, tuple] | None = None,
    ) -> dict:
        """Train until the target: training seconds and accuracy at every look."""
        fresh = self._new_model(seed)
        for variable, new in zip(self.model.variables, fresh.variables, strict=False):
            variable.assign(new)
        for variable in self.sgd.variables:
            variable.assign(keras.ops.zeros(variable.shape, variable.dtype))
        self.sgd.learning_rate = rate
        recorder = EpochRecorder(target or self.sizes["target_accuracy"])
        train, valid = split or ((self.x, self.y), self.valid)
        self.model.fit(
            image_batches(*train, batch_size, seed),
            validation_data=valid,
            validation_batch_size=250,
            steps_per_epoch=self.steps_per_look(batch_size),
            epochs=looks or self.most_looks(batch_size),
            callbacks=[recorder],
            verbose=0,
        )
        return {
            "batch_size": batch_size,
            "seed": seed,
            "wall_seconds": list(accumulate(recorder.epochs["train_seconds"])),
            "val_accuracy": recorder.epochs["val_accuracy"],
        }

    def reached(self, run: dict) -> bool:
        return run["val_accuracy"][-1] >= self.sizes["target_accuracy"]

    def steps(self, run: dict) -> int:
        return len(run["val_accuracy"]) * self.steps_per_look(run["batch_size"])


def _speed(race, batch_sizes, rates, looks):
    """Seconds of a step at each batch size, from trainings that do not end early."""
    per_step = {}
    for size in batch_sizes:
        race.run(size, rates(size), 0, NEVER, 1)  # start-up
        found = [race.run(size, rates(size), seed, NEVER, looks) for seed in (0, 1)]
        per_step[size] = median(
            (run["wall_seconds"][-1] - run["wall_seconds"][0])
            / (race.steps(run) - race.steps_per_look(size))
            for run in found
        )
    return per_step


def forecast(looks: int = 12) -> dict:
    """Lab 03: the best batch size on this GPU, from its speed and another machine's bend.

    The stored run of the lab, on a CPU, says how many steps each batch size needs. Only
    the seconds of a step are measured here. `race` tests the forecast.
    """
    card = json.loads(LAW_CARD.read_text(encoding="utf-8"))
    measured = card["measurements"]
    floor, bend = (measured["laws"][name] for name in ("floor", "bend"))
    race, rates = _stored_race(card)
    per_step = _speed(race, card["parameters"]["batch_sizes"], rates, looks)
    t0, peak = fit_throughput({size: size / took for size, took in per_step.items()})
    found = {
        "floor": floor,
        "bend": bend,
        "step_seconds": per_step,
        "t0_seconds": t0,
        "peak": peak,
        "best_batch_size": None,
    }
    if min(t0, peak) <= 0:
        return found  # no line with a fixed cost: the law does not hold on this device
    best, seconds = best_batch_size(floor, bend, t0, peak)
    low, _, high = measured["bend"]
    return found | {
        "best_batch_size": best,
        "seconds": seconds,
        "range": [best_batch_size(floor, b, t0, peak)[0] for b in (low, high)],
        "law_seconds": {
            size: floor * (1 + bend / size) * (t0 + size / peak)
            for size in _raced(card, best)
        },
    }


def _stored_race(card):
    """The race of a stored run with its tuned rates, which other sizes interpolate."""
    tuned = card["measurements"]["tuned_rates"]
    logs = np.log([int(size) for size in tuned]), np.log(list(tuned.values()))

    def rate(batch_size):
        return float(np.exp(np.interp(np.log(batch_size), *logs)))

    return Race(card["parameters"] | {"stem_pool": 4}), rate


def _raced(card, best):
    """The race's sizes, the best one on the stored run's machine, and the best one here."""
    own = card["measurements"]["best_batch_size"]
    here = [round(best)] if best else []
    return sorted({*card["parameters"]["batch_sizes"], own, *here})


def race(best: float | None, seeds: int = 5, epochs: int | None = None) -> dict:
    """Lab 03: train to the target with the forecast's batch size and others, in turn."""
    card = json.loads(LAW_CARD.read_text(encoding="utf-8"))
    if epochs:
        card["parameters"]["epochs"] = epochs
    race, rates = _stored_race(card)
    batch_sizes = _raced(card, best)
    for size in batch_sizes:
        race.run(size, rates(size), 0, NEVER, 2)  # start-up
    runs = [
        race.run(size, rates(size), seed) for seed in range(seeds) for size in batch_sizes
    ]
    return _summary(race, runs) | {"rates": {size: rates(size) for size in batch_sizes}}


def _summary(race, runs):
    """Runs with, for each batch size, the median seconds and steps to the target."""
    by_size: dict[int, list] = {}
    for run in runs:
        by_size.setdefault(run["batch_size"], []).append(run)
    rows = {}
    for size, own in by_size.items():
        there = [race.reached(run) for run in own]
        seconds = sorted(
            run["wall_seconds"][-1] if ok else float("inf")
            for run, ok in zip(own, there, strict=True)
        )
        rows[size] = {
            "reached": sum(there),
            "runs": len(own),
            "seconds": seconds,
            "median_seconds": median(seconds),
            "median_steps": median(
                race.steps(run) if ok else float("inf")
                for run, ok in zip(own, there, strict=True)
            ),
        }
    return {"sizes": rows, "runs": runs}


def whole_race(
    sizes: Mapping[str, Any],
    batch_sizes: Sequence[int],
    learning_rate: float,
    seeds: int = 5,
) -> dict:
    """Lab 03 at the scale of a GPU: find each size's rate, then race."""
    race, rates, trials = Race(sizes), {}, {}
    fifth = sizes["train_images"] // 5
    one_hot = np.eye(10, dtype="float32")
    split = (
        (race.x[fifth:], race.y[fifth:]),
        (race.x[:fifth], one_hot[race.y[:fifth]]),
    )
    for size in batch_sizes:
        race.run(size, learning_rate, 0, NEVER, 1)  # start-up

        def accuracies(rate, looks, size=size):
            return race.run(size, rate, 0, looks=looks, split=split)["val_accuracy"]

        first = learning_rate * (size / 32) ** 0.5
        target = sizes["target_accuracy"]
        trials[size] = ladder.climb(accuracies, first, race.most_looks(size), target)
        rates[size] = ladder.best_of(trials[size], target)["rate"]
    runs = [
        race.run(size, rates[size], seed) for seed in range(seeds) for size in batch_sizes
    ]
    return _summary(race, runs) | {"rates": rates, "trials": trials}
