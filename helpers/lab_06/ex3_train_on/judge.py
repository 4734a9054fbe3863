"""Exercise 6.3: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import draw_apart, which
from helpers.lab_06.judging import (
    DIVISORS,
    LOGICAL_DEVICES,
    clearly_apart,
    draw_network,
    flat_array,
    gradient_share,
    keras_agrees,
    same,
    ways_to_train,
    wrong_images,
    wrong_optimizer,
)
from helpers.verdict import Wrong, wrong


def _make_devices(rng):
    """Draw one until Keras would train as the trainer here does, from any pass on."""
    while True:
        question = _draw_devices(rng)
        epochs = question["epochs"]
        # An answer that looks at the data first begins to train with a later pass.
        passes = [range(first, first + epochs) for first in range(_count(question))]
        rights = [trainings(question, 1, some)["right"] for some in passes]
        if all(keras_agrees(trainer.train(**right).losses) for right in rights):
            return question


def _draw_devices(rng):
    names = [f"CPU:{i}" for i in range(LOGICAL_DEVICES)]
    size = rng.choice([5, 7, 8])
    # Never only the first devices, and never two: the number must not be fixed.
    devices = [rng.sample(names[1:], 3), [rng.choice(names[1:])]]
    # A small last batch leaves a replica without images.
    sizes = [size, rng.randint(1, size - 2)]
    return draw_network(rng, sizes) | {
        "devices": devices,
        "epochs": rng.choice([2, 3]),
    }


def _count(question):
    return sum(len(batch["y"]) for batch in question["batches"])


def _batches_of_pass(question, number):
    """The batches of a pass over the data: each begins one row further on."""
    batches = question["batches"]
    ends = np.cumsum([len(batch["y"]) for batch in batches])[:-1]
    x, y = (
        np.split(np.roll([one for b in batches for one in b[name]], -number, axis=0), ends)
        for name in ("x", "y")
    )
    return [{"x": rows, "y": labels} for rows, labels in zip(x, y, strict=True)]


def trainings(question: dict, replicas: int, passes: int) -> dict:
    """Each way of training on these replicas, as arguments of `trainer.train`.

    `passes` says for each epoch which pass over the data it is, from 0.
    """
    sizes = [len(batch["y"]) for batch in question["batches"]]
    divisors = {
        "default": DIVISORS["ragged"],
        "per_replica": DIVISORS["start"],
        "divided": DIVISORS["twice"],
        "fixed": lambda own, images, replicas: sizes[0],
        "sum": DIVISORS["sum"],
        "all_images": lambda own, images, replicas: sum(sizes),
    }
    shares = {name: gradient_share(by, replicas) for name, by in divisors.items()}
    batches = [batch for number in passes for batch in _batches_of_pass(question, number)]
    return ways_to_train(question, batches, **shares)


def _all_ways(question, passes):
    """By the name of the mistake: the weights and the losses of each training."""
    found = {}
    for names, own in zip(question["devices"], passes, strict=True):
        for name, training in trainings(question, len(names), own).items():
            trained = trainer.train(**training)
            weights, losses = (
                flat_array(trained.weights),
                losses_by_epoch(question, trained, names),
            )
            found.setdefault(name, []).append((weights, losses.pop("right")))
            for kind, others in losses.items() if name == "right" else ():
                found.setdefault(kind, []).append((weights, others))
    return found


def draw_question(rng: Random) -> dict:
    """Two trainings of a softmax layer, on other devices, with a smaller last batch."""
    return draw_apart(
        rng,
        _make_devices,
        lambda question: {
            name: np.concatenate([numbers for run in runs for numbers in run])
            for name, runs in _all_ways(question, [range(question["epochs"])] * 2).items()
        },
        clearly_apart,
    )


def losses_by_epoch(question: dict, trained: list, names: list[str]) -> dict[str, list]:
    """What each way of averaging an epoch's losses gives, the right one first."""
    epochs, steps = question["epochs"], len(question["batches"])
    rows = [trained.losses[steps * i : steps * (i + 1)] for i in range(epochs)]
    so_far = [trained.losses[: steps * (i + 1)] for i in range(epochs)]
    right = [trainer.mean(row) for row in rows]
    return {
        "right": right,
        "never_reset": [trainer.mean(row) for row in so_far],
        "batch_means": [trainer.mean_of_means(row) for row in rows],
        "last_batch": [float(row[-1].mean()) for row in rows],
        "loss_share": [loss / len(names) for loss in right],
    }


def judge(question: dict, observation: dict) -> Wrong | None:
    """The scope, who saw which image, the weights, the losses."""
    epochs, count, runs = question["epochs"], _count(question), observation["runs"]
    passes = []  # of each training: those of which the network saw images
    for names, run in zip(question["devices"], runs, strict=True):
        images = [(replica, [n % count for n in rows]) for replica, rows in run["images"]]
        if verdict := _wrong_set_up(names, run) or wrong_images(
            question, images, len(names), epochs
        ):
            return verdict
        own = sorted({n // count for _, rows in run["images"] for n in rows})
        if len(own) < epochs:
            return wrong("same_batches", "passes", epochs=epochs, passes=len(own))
        passes.append(own[:epochs])
    dues = [trainer.train(**trainings(question, 1, own)["right"]) for own in passes]
    steps = epochs * len(question["batches"])
    for names, run, due in zip(question["devices"], runs, dues, strict=True):
        weights, right = flat_array(run["weights"]), flat_array(due.weights)
        if not same(weights, right):
            mistake = _mistake_in_training(question, passes, runs)
            off = np.abs(weights - right).max()
            return wrong(mistake, "weights", devices=names, off=off)
        if verdict := wrong_optimizer(run["optimizer_steps"], steps) or _wrong_result(
            question, names, run, due
        ):
            return verdict
    return None


def _mistake_in_training(question, passes, runs):
    ways = {
        name: [weights for weights, _ in trained]
        for name, trained in _all_ways(question, passes).items()
    }
    return which([flat_array(run["weights"]) for run in runs], ways, same)


def _wrong_set_up(names, run):
    if len(run["scopes"]) != 1:
        return wrong("build", "builds", calls=len(run["scopes"]))
    [scope] = run["scopes"]
    if not scope and any(replica < 0 for replica, _ in run["images"]):
        return wrong("start", "no_strategy")
    if not scope:
        return wrong("scope", "no_scope")
    if sorted(scope) != sorted(names):
        return wrong("devices", "devices", devices=scope, asked=names)
    return None


def _wrong_result(question, names, run, due):
    epochs, losses = question["epochs"], run["losses"]
    if losses is None or np.shape(losses) != (epochs,):
        return wrong("returned", "returned", epochs=epochs)
    if not run["own_network"]:
        return wrong("own_network", "other_network")
    ways = losses_by_epoch(question, due, names)
    mistake = which(losses, ways, same)
    if mistake == "right":
        return None
    worst = np.abs(np.subtract(losses, ways["right"])).argmax()
    return wrong(
        mistake, "loss", epoch=worst + 1, loss=losses[worst], due=ways["right"][worst]
    )
