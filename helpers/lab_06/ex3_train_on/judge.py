"""Exercise 6.3: the questions, and the verdict on what the probe saw."""

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


def _make_devices(rng):
    """Draw one until Keras would train as the trainer here does, from any pass on."""
    while True:
        question = _draw_devices(rng)
        epochs = question["epochs"]
        # Who looks at the data before training begins with a later pass.
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


def trainings(question, replicas, passes):
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
            for kind, wrong in losses.items() if name == "right" else ():
                found.setdefault(kind, []).append((weights, wrong))
    return found


def draw_question(rng):
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


def losses_by_epoch(question, trained, names):
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


def judge(question, seen):
    """The strategy and its scope, who saw which image, the weights, the losses."""
    epochs, count = question["epochs"], _count(question)
    passes = []  # of each training: those of which the network saw images
    for names, run in zip(question["devices"], seen["runs"], strict=True):
        images = [(replica, [n % count for n in rows]) for replica, rows in run["images"]]
        if verdict := _wrong_set_up(names, run) or wrong_images(
            question, images, len(names), epochs
        ):
            return verdict
        own = sorted({n // count for _, rows in run["images"] for n in rows})
        if len(own) < epochs:
            times = "once" if len(own) == 1 else f"{len(own)} times"
            return f"for {epochs} epochs it goes {times} through `data`", "same_batches"
        passes.append(own[:epochs])
    dues = [trainer.train(**trainings(question, 1, own)["right"]) for own in passes]
    said = [flat_array(run["weights"]) for run in seen["runs"]]
    trained = zip(question["devices"], seen["runs"], said, dues, strict=True)
    for names, run, weights, due in trained:
        if not same(weights, flat_array(due.weights)):
            off = np.abs(weights - flat_array(due.weights)).max()
            reason = f"after training on {', '.join(names)} a weight differs by {off:.2g}"
            every = _all_ways(question, passes).items()
            ways = {name: [weights for weights, _ in runs] for name, runs in every}
            return f"{reason} from that of one device", which(said, ways, same)
        steps = epochs * len(question["batches"])
        if verdict := wrong_optimizer(run["optimizer_steps"], steps) or _wrong_result(
            question, names, run, due
        ):
            return verdict
    return None


def _wrong_set_up(names, run):
    if not run["all_reduces"]:
        return "it makes no MirroredStrategy", "start"
    if run["all_reduces"] != ["ReductionToOneDevice"]:
        return "a strategy was not made with `ReductionToOneDevice()`", "all_reduce"
    if len(run["scopes"]) != 1:
        return f"it called `build` {len(run['scopes'])} times, not once", "build"
    [scope] = run["scopes"]
    if not scope:
        return "it called `build` outside of a strategy's scope", "scope"
    if sorted(scope) != sorted(names):
        return f"it used {', '.join(scope)}, not {', '.join(names)}", "devices"
    return None


def _wrong_result(question, names, run, due):
    epochs, said = question["epochs"], run["losses"]
    if said is None or np.shape(said) != (epochs,):
        return f"it does not return a network and {epochs} losses as floats", "returned"
    if not run["own_network"]:
        return "it does not return the network that `build` made", "own_network"
    ways = losses_by_epoch(question, due, names)
    way = which(said, ways, same)
    if way == "right":
        return None
    number = int(np.argmax(np.abs(np.subtract(said, ways["right"]))))
    reason = f"the loss of epoch {number + 1} is {said[number]:.4f}, "
    return f"{reason}not {ways['right'][number]:.4f}", way
