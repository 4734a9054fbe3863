"""What labs 00, 02, 03 and 08 measure, for one GPU, with Keras on JAX.

The networks, recipes, laws and sizes are the labs' own. Each function is a job of
`kit.bench.gpu`, which runs it in a process of its own and stores what it returns.
"""

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import accumulate, pairwise
from statistics import median
from typing import Any

import jax
import keras
import numpy as np
from jax import numpy as jnp
from keras import layers, optimizers

from callbacks import EpochRecorder
from helpers.data.fashion_mnist import fashion_mnist
from helpers.files import REPOSITORY
from helpers.lab_02.reference import fit_throughput
from helpers.lab_03 import ladder
from helpers.lab_03.reference import best_batch_size
from helpers.lab_08.original import ImageByImage
from helpers.network.models import conv_bn_relu, wide_resnet
from helpers.network.pipelines import with_preprocessing
from helpers.network.recipes import fast_loss, fast_network, fast_optimizer

MIB, GIB = 2**20, 2**30
LAW_CARD = REPOSITORY / "docs" / "run_cards" / "03_time_to_accuracy.json"
BATCH = 256  # lab 08 at the scale of a GPU
NEVER = 2.0  # an accuracy that no network reaches


def limits(size: int = 8192, array_bytes: int = GIB) -> dict:
    """Products, sums, copies and empty calls: what no training can beat."""
    products = {}
    for name, dtype, precision in (
        ("float32", "float32", "highest"),
        ("float32 as Keras asks", "float32", None),
        ("bfloat16", "bfloat16", None),
    ):
        left, right = jax.random.normal(jax.random.key(0), (2, size, size), dtype)
        product = jax.jit(lambda a, b, p=precision: jnp.matmul(a, b, precision=p))
        products[name] = 2 * size**3 / seconds_of(lambda: product(left, right), min)  # noqa: B023
    values = jnp.zeros(array_bytes // 4)
    total = jax.jit(jnp.add)
    more = jnp.ones_like(values)
    empty, one = jax.jit(lambda x: x + 1), jnp.zeros(())
    images = np.zeros(array_bytes, "uint8")
    return {
        "product_operations_per_second": products,
        "sum_bytes_per_second": 3
        * array_bytes
        / seconds_of(lambda: total(values, more), min),
        "copy_to_device_bytes_per_second": array_bytes
        / seconds_of(lambda: jax.device_put(images), min),
        "empty_call_seconds": seconds_of(lambda: empty(one)),
        "empty_call_returned_seconds": _returned(lambda: empty(one)),
    }


def seconds_of(
    call: Callable[[], Any], choose: Callable[[list[float]], float] = median
) -> float:
    """Seconds of a call until its result is there, without the first two calls."""
    took: list[float] = []
    while len(took) < 7 or sum(took) < 0.3:
        began = time.perf_counter()
        jax.block_until_ready(call())
        took.append(time.perf_counter() - began)
    return choose(took[2:])


def _returned(call):
    """Median seconds until a call returns, whether or not its result is there."""
    took = []
    for _ in range(20):
        began = time.perf_counter()
        result = call()
        took.append(time.perf_counter() - began)
        jax.block_until_ready(result)
    return median(took)


def products(largest: int = 8192, rows: int = 10_000, columns: int = 100_000) -> dict:
    """Lab 00: the product of square matrices in float32, on the GPU and on the CPU."""
    sizes = [2**i for i in range(4, largest.bit_length())]
    product = jax.jit(lambda a, b: jnp.matmul(a, b, precision="highest"))
    found: dict[str, Any] = {"sizes": sizes}
    for kind, device in (("gpu", jax.devices()[0]), ("cpu", jax.devices("cpu")[0])):
        seconds = []
        for size in sizes:
            left, right = _random(device, (size, size), (size, size))
            seconds.append(seconds_of(lambda a=left, b=right: product(a, b)))
        found[f"{kind}_seconds"] = seconds
    square = round((100 * rows * columns) ** (1 / 3))
    for name, shapes in (
        ("flat", ((rows, 100), (100, columns))),
        ("square", ((square, square), (square, square))),
    ):
        left, right = _random(jax.devices()[0], *shapes)
        took = seconds_of(lambda a=left, b=right: product(a, b))
        found[f"{name}_operations_per_second"] = (
            2 * shapes[0][0] * shapes[0][1] * shapes[1][1] / took
        )
    left, right = _random(jax.devices()[0], (1000, 1000), (1000, 1000))
    finished = seconds_of(lambda: product(left, right))
    return found | {
        "finished_over_returned": finished / _returned(lambda: product(left, right))
    }


def _random(device, *shapes):
    rng = np.random.default_rng(0)
    return [jax.device_put(rng.standard_normal(s, "float32"), device) for s in shapes]


def image_batches(
    images: np.ndarray, labels: np.ndarray, batch_size: int, seed: int
) -> Generator[tuple[np.ndarray, np.ndarray]]:
    """Whole batches without end, in a new random order each time, as the labs serve them.

    Yields
    ------
    tuple of array
        uint8 images, and float32 one-hot labels (batch, 10).
    """
    one_hot, rng = np.eye(10, dtype="float32")[labels], np.random.default_rng(seed)
    waiting = np.empty(0, "int64")
    while True:
        while len(waiting) < batch_size:
            waiting = np.concatenate([waiting, rng.permutation(len(images))])
        now, waiting = waiting[:batch_size], waiting[batch_size:]
        yield images[now], one_hot[now]


def timed_steps(model: keras.Model, data: Any, steps: int) -> float:
    """Train so many steps; the seconds that they took."""
    recorder = EpochRecorder()
    model.fit(data, steps_per_epoch=steps, callbacks=[recorder], verbose=0)
    return recorder.epochs["train_seconds"][0]


def sweep(
    depth: int,
    width: int,
    policy: str,
    batch_sizes: Sequence[int] = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    fitted_up_to: int = 128,
    images: int = 10_000,
    rounds: int = 3,
) -> dict:
    """Lab 02: images per second by batch size, the law of the small ones, and memory."""
    data = fashion_mnist()
    x, y = data.x_train[:images], data.y_train[:images]
    keras.config.set_dtype_policy(policy)
    keras.utils.set_random_seed(0)
    network = wide_resnet(depth, width, dropout=0.01)
    model = with_preprocessing(network, x, seed=0)
    sgd = optimizers.SGD(0.01, weight_decay=5e-6)
    model.compile(sgd, "categorical_crossentropy", metrics=["accuracy"])
    speeds: dict[int, list[float]] = {size: [] for size in batch_sizes}
    first_seconds, peak_bytes = {}, {}
    for one_round in range(rounds):
        for size in batch_sizes:
            if one_round and size not in peak_bytes:
                continue
            batches = image_batches(x, y, size, one_round)
            try:
                first = timed_steps(model, batches, 1)
                steps = max(10, round(images / size))
                speeds[size].append(steps * size / timed_steps(model, batches, steps))
            except (RuntimeError, ValueError) as error:  # out of memory
                print(f"batch {size}: {str(error)[:300]}")
                break
            if not one_round:
                first_seconds[size] = first
                peak_bytes[size] = (jax.devices()[0].memory_stats() or {}).get(
                    "peak_bytes_in_use"
                )
    points = {size: median(found) for size, found in speeds.items() if found}
    t0, peak = fit_throughput({b: r for b, r in points.items() if b <= fitted_up_to})
    return {
        "network": network.name,
        "policy": policy,
        "parameters": network.count_params(),
        "operations_per_image": operations_per_image(network),
        "images_per_second": points,
        "rounds": speeds,
        "first_step_seconds": first_seconds,
        "peak_bytes": peak_bytes,
        "fit": {"up_to": fitted_up_to, "t0_seconds": t0, "peak": peak},
    }


def operations_per_image(network: keras.Model) -> int:
    """Operations of the convolutions in a training step, forward and two backward."""
    operations = 0
    for layer in network.layers:
        if isinstance(layer, layers.Conv2D):
            passes = 3 - (layer.input is network.input)
            uses = 2 * np.prod(layer.output.shape[1:3])
            operations += passes * uses * np.prod(layer.kernel.shape)
    return int(operations)


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


def changes(
    sizes: Mapping[str, Any], steps: int = 40, rounds: int = 5, slow_steps: int = 16
) -> dict:
    """Lab 08: what each change gains in the speed of a step, in turn with the one below."""
    data = fashion_mnist()
    x, y = data.x_train[: steps * BATCH], data.y_train[: steps * BATCH]
    rungs = _rungs(sizes, x, y)
    counts = dict.fromkeys(rungs, steps) | {"original": slow_steps}
    first_seconds = {
        name: timed_steps(model, feed(), 8) for name, (model, feed) in rungs.items()
    }
    speeds: dict[str, list[float]] = {name: [] for name in rungs}
    for _ in range(rounds):
        for name, (model, feed) in rungs.items():
            took = timed_steps(model, feed(), counts[name])
            speeds[name].append(counts[name] * BATCH / took)
    gains = {
        above: median(a / b for a, b in zip(speeds[above], speeds[below], strict=True))
        for below, above in pairwise(rungs)
    }
    return {
        "images_per_second": {name: median(found) for name, found in speeds.items()},
        "rounds": speeds,
        "gains": gains,
        "first_steps_seconds": first_seconds,
    }


def _rungs(sizes, x, y):
    """Lab 08's ladder without what Keras on JAX does not have: models and their data."""
    crossentropy, shape = "categorical_crossentropy", {"stem_pool": sizes["stem_pool"]}

    def network(dropout):
        return wide_resnet(
            sizes["depth"], sizes["width"], dropout=dropout, unit=conv_bn_relu, **shape
        )

    def rung(dropout, policy="float32"):
        keras.config.set_dtype_policy(policy)
        model = with_preprocessing(network(dropout), x, 0.2, True, 0)
        model.compile(optimizers.SGD(0.01), crossentropy, metrics=["accuracy"])
        keras.config.set_dtype_policy("float32")
        return model

    original = network(0.01)
    original.compile(optimizers.SGD(0.01), crossentropy, metrics=["accuracy"])
    recipe = {"x": x, "sizes": sizes, "steps": 1000, "seed": 0}

    def whole():
        return image_batches(x, y, BATCH, 0)

    return {
        "original": (original, lambda: ImageByImage(x, y, BATCH, 0.2, True, 0)),
        "whole batches": (rung(0.01), whole),
        "no dropout": (rung(0.0), whole),
        "fewer bits": (rung(0.0, "mixed_bfloat16"), whole),
        "fewer steps": (_recipe(**recipe), whole),
        "steps together": (_recipe(**recipe, steps_per_execution=8), whole),
    }


def _recipe(x, sizes, steps, seed, **options):
    """The fast network with the fast recipe, in 16 bits, compiled."""
    keras.utils.set_random_seed(seed)
    keras.config.set_dtype_policy("mixed_bfloat16")
    network = fast_network(sizes["depth"], sizes["width"], stem_pool=sizes["stem_pool"])
    model = with_preprocessing(network, x, shift=0, flip=False)
    keras.config.set_dtype_policy("float32")
    peak_rate = 0.1 * (BATCH / 32) ** 0.5
    model.compile(
        fast_optimizer(steps, peak_rate), fast_loss(), metrics=["accuracy"], **options
    )
    return model


def recipes(sizes: Mapping[str, Any], seeds: Sequence[int] = (0, 1)) -> dict:
    """Lab 08: the accuracy of both recipes after each epoch, and their seconds."""
    data, n = fashion_mnist(), sizes["train_images"]
    x, y = data.x_train[:n], data.y_train[:n]
    valid = data.x_test, np.eye(10, dtype="float32")[data.y_test]
    steps = n // BATCH
    runs = []
    for seed in seeds:
        fast = _recipe(x, sizes, steps * sizes["fast_epochs"], seed)
        keras.utils.set_random_seed(seed)
        keras.config.set_dtype_policy("mixed_bfloat16")
        network = wide_resnet(sizes["depth"], sizes["width"], dropout=0.01)
        slow = with_preprocessing(network, x, 0.2, True, seed)
        keras.config.set_dtype_policy("float32")
        slow.compile(optimizers.SGD(0.01), "categorical_crossentropy", metrics=["accuracy"])
        for name, model, epochs in (
            ("fast", fast, sizes["fast_epochs"]),
            ("original", slow, sizes["epochs"]),
        ):
            recorder = EpochRecorder()
            model.fit(
                image_batches(x, y, BATCH, seed),
                validation_data=valid,
                validation_batch_size=500,
                steps_per_epoch=steps,
                epochs=epochs,
                callbacks=[recorder],
                verbose=0,
            )
            runs.append({"recipe": name, "seed": seed} | recorder.epochs)
    return {"runs": runs}
