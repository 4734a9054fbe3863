"""Code that the judges of lab 06 share."""

from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import near
from helpers.verdict import Wrong, wrong

LOGICAL_DEVICES = 4
# Two ways of answering can be told apart if their numbers differ by so much.
APART = 0.01
same = near(1e-3, 1e-3)  # float32 on any device, after a few steps


def clearly_apart(one: list, other: list) -> bool:
    return np.abs(one - other).max() > APART


def flat_array(arrays: list) -> np.ndarray:
    return np.concatenate([np.ravel(array) for array in arrays])


def step_ratio(said: object, right: object, start: object) -> float:
    """How many times as far the weights moved as they should have."""
    moved = [np.linalg.norm(flat_array(end) - flat_array(start)) for end in (said, right)]
    return moved[0] / moved[1]


def parts(images: int, replicas: int) -> list[int]:
    """How many images each replica gets: as many as fit, one after the other."""
    most = -(-images // replicas)
    return [max(0, min(most, images - most * i)) for i in range(replicas)]


def gradient_share(divisor: object, replicas: int, times: int = 1) -> Callable:
    """The factor of each image's gradient, for `trainer.train`.

    `divisor` is a function of the images on a replica, those in the batch, and the
    number of replicas; its result is taken so many `times`.
    """

    def share(batch):
        images = len(batch["y"])
        sizes = batch.get("split") or parts(images, replicas)
        return [times / divisor(own, images, replicas) for own in sizes for _ in range(own)]

    return share


def mean_divisor(own: list, images: int, replicas: int) -> object:
    return images


# The number by which a replica divides the sum of its losses.
DIVISORS = {
    "right": mean_divisor,
    "start": lambda own, images, replicas: own,
    "ragged": lambda own, images, replicas: own * replicas,
    "two": lambda own, images, replicas: own * 2,
    "sum": lambda own, images, replicas: 1,
    "twice": lambda own, images, replicas: images * replicas,
    "averaged": lambda own, images, replicas: own * images,
    # An all-reduce has a gradient, too: each replica receives the gradients of all.
    "whole": lambda own, images, replicas: images / replicas,
}


def ways_to_train(question: dict, batches: list, **shares) -> dict:
    """Each way of training, as arguments of `trainer.train`; the right one first."""
    right = {
        "weights": question["weights"],
        "batches": batches,
        "learning_rate": question["learning_rate"],
        "momentum": question["momentum"],
        "mask": np.array(question["mask"]),
    }
    return {
        "right": right,
        "unchanged": right | {"learning_rate": 0.0},
        "inference": right | {"mask": 1.0},
        "momentum": right | {"momentum": 0.0},
    } | {name: right | {"share": share} for name, share in shares.items()}


def draw_network(rng: Random, sizes: list) -> dict:
    return {
        "logical_devices": LOGICAL_DEVICES,
        "weights": trainer.draw_weights(rng, 4, 3),
        "mask": rng.sample([0.0, 2.0, 2.0, 1.0], 4),
        "learning_rate": round(rng.uniform(0.1, 0.3), 3),
        "momentum": 0.9,
        "batches": trainer.draw_batches(rng, sizes, 4),
    }


def wrong_images(
    question: dict, images: list, replicas: int, epochs: int = 1
) -> Wrong | None:
    """Every image once an epoch, on one replica, and no replica with too many."""
    if any(replica < 0 for replica, _ in images):
        return wrong("run", "outside_run")
    sizes = [len(batch["y"]) for batch in question["batches"]]
    often = Counter((replica, i) for replica, rows in images for i in rows)
    times = [sum(often[r, i] for r in range(replicas)) for i in range(sum(sizes))]
    if set(times) == {epochs}:
        return _wrong_replica(sizes, images, replicas, epochs)
    order = [i for _, rows in images for i in rows]
    passes = [order[at : at + len(times)] for at in range(0, len(order), len(times))]
    # If an image comes again before all images have come, the epoch is the same.
    whole = all(len(set(one)) == len(times) for one in passes)
    on_all = set(often.values()) == {epochs} and set(times) == {epochs * replicas}
    if min(times) == 0 or (max(times) <= epochs and not whole):
        mistake = "remainder"
    elif whole:
        mistake = "epochs"
    else:
        mistake = "whole_batch" if replicas > 1 and on_all else "twice"
    fewest, most = min(times) / epochs, max(times) / epochs
    return wrong(
        mistake, "times" if fewest == most else "different_times",
        replicas=replicas, fewest=fewest, most=most,
    )  # fmt: skip


def _wrong_replica(sizes, images, replicas, epochs):
    by_replica = Counter()
    for replica, rows in images:
        by_replica[replica] += len(rows)
    most = max(by_replica.values())
    if most <= sum(max(parts(size, replicas)) for size in sizes) * epochs:
        return None
    return wrong("one_replica", "most_images", images=most)


def keras_agrees(losses: list) -> bool:
    """Whether Keras gives these losses: it cuts chances below 1e-7, a loss of 16.

    It does so where it cannot see that they come from a softmax, as behind a layer.
    """
    return all(part.max() < 12 for part in losses)


def wrong_optimizer(optimizer_steps: int, steps: int) -> Wrong | None:
    if optimizer_steps == steps:
        return None
    return wrong(
        "own_optimizer", "optimizer_steps", optimizer_steps=optimizer_steps, steps=steps
    )
