"""Questions, verdicts and hints of lab 06: many GPUs with a hand-written loop."""

from collections import Counter

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import draw_apart, near, which

LOGICAL_DEVICES = 4
# What must differ so that two ways of answering can be distinguished.
APART = 0.01
same = near(1e-3, 1e-3)  # float32 on any device, after a few steps
same_sum = near(3e-5, 1e-6)  # float32 without a step: of float16 only three digits are left


def _apart(one, other):
    return np.abs(one - other).max() > APART


def _flat(arrays):
    return np.concatenate([np.ravel(array) for array in arrays])


def _times(said, right, start):
    """How many times as far the weights moved as they should have."""
    moved = [np.linalg.norm(_flat(end) - _flat(start)) for end in (said, right)]
    return moved[0] / moved[1]


def parts(images, replicas):
    """How many images each replica gets: as many as fit, one after the other."""
    most = -(-images // replicas)
    return [max(0, min(most, images - most * i)) for i in range(replicas)]


def _share(divisor, replicas, times=1):
    """By what each image's gradient is multiplied, for `trainer.train`.

    `divisor` is a function of the images on a replica, those in the batch, and the
    number of replicas; its result is taken so many `times`.
    """

    def share(batch):
        images = len(batch["y"])
        sizes = batch.get("split") or parts(images, replicas)
        return [times / divisor(own, images, replicas) for own in sizes for _ in range(own)]

    return share


def _mean(own, images, replicas):
    return images


# The number by which a replica divides the sum of its losses.
DIVISORS = {
    "right": _mean,
    "start": lambda own, images, replicas: own,
    "ragged": lambda own, images, replicas: own * replicas,
    "two": lambda own, images, replicas: own * 2,
    "sum": lambda own, images, replicas: 1,
    "twice": lambda own, images, replicas: images * replicas,
    "averaged": lambda own, images, replicas: own * images,
    # An all-reduce has a gradient, too: that of every replica comes to each of them.
    "whole": lambda own, images, replicas: images / replicas,
}


def _make_loss(rng):
    splits = [[2, 2, 2], rng.sample([1, 2, 4], 3)]
    batches = trainer.draw_batches(rng, map(sum, splits), classes=0)
    return {
        "replicas": 3,
        "weights": [rng.uniform(-2, 2) for _ in range(3)],
        "learning_rate": round(rng.uniform(0.02, 0.04), 3),
        "batches": [b | {"split": s} for b, s in zip(batches, splits, strict=True)],
    }


def _loss_training(question, divisor):
    share = _share(divisor, question["replicas"])
    arguments = [question["weights"]], question["batches"], question["learning_rate"]
    return trainer.train(*arguments, share=share)


def loss_ways(question):
    """For each way of dividing, the weights after all batches."""
    return {
        name: _flat(_flat(weights) for weights in _loss_training(question, by).after)
        for name, by in DIVISORS.items()
    }


def loss_question(rng):
    """A batch split evenly and one split unevenly, over three replicas."""
    return draw_apart(rng, _make_loss, loss_ways, _apart)


def judge_loss(question, seen):
    """The weights after every batch are those of the mean, and each share is a share."""
    if seen["constant"]:
        return "no gradient flows from the losses to what it returned", "constant"
    for share in (share for shares in seen["shares"] for share in shares):
        if np.ndim(share):
            shape = np.shape(share)
            return f"a replica returned an array of shape {shape}, not a number", "number"
    right = _loss_training(question, _mean)
    hint = which(_flat(seen["weights"]), loss_ways(question), same)
    answers = zip(question["batches"], seen["weights"], seen["shares"], strict=True)
    for number, (batch, weights, said) in enumerate(answers):
        own, (due,) = batch["split"], right.after[number]
        if not same(weights, due):
            before = right.after[number - 1] if number else [question["weights"]]
            times = _times([weights], [due], before)
            return (
                f"with {', '.join(map(str, own))} examples on the replicas, a step of SGD "
                f"was {times:.2f} times as long as on one device with all {sum(own)}: the "
                f"learning rate {question['learning_rate']:g} acts like "
                f"{times * question['learning_rate']:.3g}"
            ), hint
        split = np.split(right.losses[number], np.cumsum(own)[:-1])
        shares = [losses.sum() / sum(own) for losses in split]
        if not same_sum(said, shares):
            if same(said, shares):
                return _coarse(said, shares), "coarse"
            shown, due = (
                ", ".join(f"{share:.3f}" for share in some) for some in (said, shares)
            )
            return f"the replicas returned {shown}, and their shares are {due}", "shares"
    return None


def _coarse(said, shares):
    share, due = max(
        zip(said, shares, strict=True), key=lambda pair: abs(pair[0] - pair[1])
    )
    return f"a replica returned {share:.7g}, and its share is {due:.7g}"


def _trainings(question, batches, **shares):
    """What each way of training is, as arguments of `trainer.train`; right ones first."""
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


def _network_question(rng, sizes):
    return {
        "logical_devices": LOGICAL_DEVICES,
        "weights": trainer.draw_weights(rng, 4, 3),
        "mask": rng.sample([0.0, 2.0, 2.0, 1.0], 4),
        "learning_rate": round(rng.uniform(0.1, 0.3), 3),
        "momentum": 0.9,
        "batches": trainer.draw_batches(rng, sizes, 4),
    }


def wrong_images(question, images, replicas, epochs=1):
    """Every image once an epoch, on one replica, and no replica with too many."""
    if any(replica < 0 for replica, _ in images):
        return "the network was called outside of `strategy.run`", "run"
    sizes = [len(batch["y"]) for batch in question["batches"]]
    often = Counter((replica, i) for replica, rows in images for i in rows)
    times = [sum(often[r, i] for r in range(replicas)) for i in range(sum(sizes))]
    if set(times) == {epochs}:
        most = sum(max(parts(size, replicas)) for size in sizes) * epochs
        by_replica = Counter()
        for replica, rows in images:
            by_replica[replica] += len(rows)
        if max(by_replica.values()) > most:
            return f"one replica got {max(by_replica.values())} images", "one_replica"
        return None
    per_epoch = " to ".join(f"{n / epochs:g}" for n in sorted({min(times), max(times)}))
    reason = f"on {replicas} replicas an image was seen {per_epoch} times in an epoch"
    order = [i for _, rows in images for i in rows]
    passes = [order[at : at + len(times)] for at in range(0, len(order), len(times))]
    # Where an image comes again before all have come, it is the same epoch.
    whole = all(len(set(one)) == len(times) for one in passes)
    if min(times) == 0 or (max(times) <= epochs and not whole):
        return reason, "remainder"
    if whole:
        return reason, "epochs"
    if (
        replicas > 1
        and set(often.values()) == {epochs}
        and set(times) == {epochs * replicas}
    ):
        return reason, "whole_batch"
    return reason, "twice"


def _keras_agrees(losses):
    """Whether Keras gives these losses: it cuts chances below 1e-7, a loss of 16.

    It does so where it cannot see that they come from a softmax, as behind a layer.
    """
    return all(part.max() < 12 for part in losses)


def _make_step(rng):
    """Draw one until Keras would train as the trainer here does."""
    while True:
        question = _draw_step(rng)
        right = trainer.train(**_step_trainings(question)["right"])
        if _keras_agrees(right.losses):
            return question


def _draw_step(rng):
    replicas = rng.choice([3, 4])
    return _network_question(rng, [2 * replicas] * 4) | {
        "replicas": replicas,
        # The given loss is the mean, but its gradient is steeper: who ignores it shows.
        "steeper": round(rng.uniform(3, 5), 2),
        "learning_rate": round(rng.uniform(0.04, 0.08), 3),
    }


def step_ways(question):
    """For each way of training, the weights at the end."""
    divisors = {
        "times_replicas": DIVISORS["start"],
        "divided": DIVISORS["twice"],
        "averaged": DIVISORS["averaged"],
        "averaged by Keras": lambda own, images, replicas: images * images,
    }
    # Of the given loss, or of one that the step has itself and is right but for this.
    own = {f"{name} by itself": by for name, by in divisors.items()}
    own |= {"own_loss": _mean, "sum": DIVISORS["sum"]}
    replicas, steeper = question["replicas"], question["steeper"]
    shares = {name: _share(by, replicas, steeper) for name, by in divisors.items()}
    shares |= {name: _share(by, replicas) for name, by in own.items()}
    ways = _step_trainings(question, **shares)
    return {name: _flat(trainer.train(**way).weights) for name, way in ways.items()}


def _step_trainings(question, **shares):
    steep = _share(_mean, question["replicas"], question["steeper"])
    ways = _trainings(question, question["batches"])
    return {name: way | {"share": steep} for name, way in ways.items()} | {
        name: ways["right"] | {"share": share} for name, share in shares.items()
    }


def step_question(rng):
    """A network, four batches for three or four replicas, and a mask as of dropout."""
    return draw_apart(rng, _make_step, step_ways, _apart)


def judge_step(question, seen):
    """Who saw which image, the weights, the returned losses, the metrics, the graph."""
    right = trainer.train(**_step_trainings(question)["right"])
    rows = len({len(values) for values in seen["returned"]} - {1})
    if rows and same(_flat(seen["weights"]), _flat(question["weights"])):
        return "the step returns a value of every replica, and trains nothing", "start"
    return (
        wrong_images(question, seen["images"], question["replicas"])
        or _wrong_weights(question, seen["weights"], right.weights)
        or _wrong_returned(question, seen["returned"], right.losses)
        or _wrong_metrics(question, seen["metrics"], seen["counts"], right)
        or _wrong_use(question, seen)
    )


def _wrong_weights(question, said, right):
    hint = which(_flat(said), step_ways(question), same)
    if hint == "right":
        return None
    if hint == "unchanged":
        return "after all steps the weights have not changed", hint
    if hint == "own_loss":
        return "the gradient is not that of the `global_loss` that was given", hint
    start = question["weights"]
    if any(same(one, other) for one, other in zip(said, start, strict=True)):
        return "some of the network's variables have not changed", "some_variables"
    reason = (
        f"after {len(question['batches'])} steps on {question['replicas']} replicas the "
        "weights are not those of one device: they have moved "
        f"{_times(said, right, start):.2f} times as far"
    )
    return reason, hint.partition(" ")[0]


def _wrong_returned(question, returned, losses):
    if any(value is None for values in returned for value in values):
        return "the step returns nothing", "nothing"
    for values in returned:
        if len(values) != 1 or np.ndim(values[0]):
            return f"the step returns {values}, not one number", "not_reduced"
    said, replicas = [values[0] for values in returned], question["replicas"]
    means = np.array([row.mean() for row in losses])
    ways = {
        "right": means,
        "reduce": means / replicas,
        "one_share": [row[: len(row) // replicas].sum() / len(row) for row in losses],
        "so_far": np.cumsum(means) / np.arange(1, len(means) + 1),
        "added": means * replicas,
        "added one by one": [row.sum() for row in losses],
    }
    if (hint := which(said, ways, same)) == "right":
        return None
    number = int(np.argmax(np.abs(said - means)))
    reason = f"step {number + 1} returns {said[number]:.4f}, and the mean loss was"
    return f"{reason} {means[number]:.4f}", hint.partition(" ")[0]


def _wrong_metrics(question, metrics, counts, right):
    if any(metrics[name] != 0.75 for name in ("valid_loss", "valid_accuracy")):
        return "it changed the metrics of validation", "valid_metrics"
    for name, rows in (("loss", right.losses), ("accuracy", right.right)):
        mean = trainer.mean(rows)
        ways = {
            "right": mean,
            "no_metrics": 0.0,
            "metric_share": mean / question["replicas"],
            "reset": rows[-1].mean(),
        }
        if (hint := which(metrics[name], ways, same, "metrics")) != "right":
            return f"the metric `{name}` is {metrics[name]:.4f}, not {mean:.4f}", hint
        images = sum(map(len, rows))
        if counts[name] != images:
            return f"the metric `{name}` got {counts[name]:g} values for {images} images", (
                "metric_share"
            )
    return None


def _wrong_use(question, seen):
    steps = len(question["batches"])
    if seen["python_runs"] >= steps * question["replicas"]:
        reason = f"its Python ran {seen['python_runs']} times for {steps} batches"
        return f"{reason}: no graph was kept", "eager"
    if seen["eager_runs"] >= steps:
        reason = f"Python called `strategy.run` {seen['eager_runs']} times"
        return f"{reason} for {steps} batches: not all of the step is a graph", "eager"
    return _wrong_optimizer(seen["optimizer_steps"], steps)


def _wrong_optimizer(said, steps):
    if said != steps:
        return (
            f"the optimizer that was given made {said} steps, not {steps}",
            "own_optimizer",
        )
    return None


def _make_devices(rng):
    """Draw one until Keras would train as the trainer here does, from any pass on."""
    while True:
        question = _draw_devices(rng)
        epochs = question["epochs"]
        # Who looks at the data before training begins with a later pass.
        passes = [range(first, first + epochs) for first in range(_count(question))]
        rights = [trainings(question, 1, some)["right"] for some in passes]
        if all(_keras_agrees(trainer.train(**right).losses) for right in rights):
            return question


def _draw_devices(rng):
    names = [f"CPU:{i}" for i in range(LOGICAL_DEVICES)]
    size = rng.choice([5, 7, 8])
    # Never only the first devices, and never two: the number must not be fixed.
    devices = [rng.sample(names[1:], 3), [rng.choice(names[1:])]]
    # A small last batch leaves a replica without images.
    sizes = [size, rng.randint(1, size - 2)]
    return _network_question(rng, sizes) | {
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
    shares = {name: _share(by, replicas) for name, by in divisors.items()}
    batches = [batch for number in passes for batch in _batches_of_pass(question, number)]
    return _trainings(question, batches, **shares)


def _all_ways(question, passes):
    """By the name of the mistake: the weights and the losses of each training."""
    found = {}
    for names, own in zip(question["devices"], passes, strict=True):
        for name, training in trainings(question, len(names), own).items():
            trained = trainer.train(**training)
            weights, losses = (
                _flat(trained.weights),
                losses_by_epoch(question, trained, names),
            )
            found.setdefault(name, []).append((weights, losses.pop("right")))
            for kind, wrong in losses.items() if name == "right" else ():
                found.setdefault(kind, []).append((weights, wrong))
    return found


def devices_question(rng):
    """Two trainings of a softmax layer, on other devices, with a smaller last batch."""
    return draw_apart(
        rng,
        _make_devices,
        lambda question: {
            name: np.concatenate([numbers for run in runs for numbers in run])
            for name, runs in _all_ways(question, [range(question["epochs"])] * 2).items()
        },
        _apart,
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


def judge_devices(question, seen):
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
    said = [_flat(run["weights"]) for run in seen["runs"]]
    trained = zip(question["devices"], seen["runs"], said, dues, strict=True)
    for names, run, weights, due in trained:
        if not same(weights, _flat(due.weights)):
            off = np.abs(weights - _flat(due.weights)).max()
            reason = f"after training on {', '.join(names)} a weight differs by {off:.2g}"
            every = _all_ways(question, passes).items()
            ways = {name: [weights for weights, _ in runs] for name, runs in every}
            return f"{reason} from that of one device", which(said, ways, same)
        steps = epochs * len(question["batches"])
        if verdict := _wrong_optimizer(run["optimizer_steps"], steps) or _wrong_result(
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


EXERCISES = {
    "6.1": Exercise(
        title="the shares of all replicas add up to the mean over the global batch",
        requirements={
            "mean": "The sum of what all replicas return is the mean over the global batch.",
            "replicas": "It holds for any number of replicas.",
            "ragged": "The replicas may have different numbers of images.",
            "share": "A replica's share is what its own images contribute.",
            "number": "It returns one number.",
            "gradient": "The gradient flows through it.",
        },
        question=loss_question,
        judge=judge_loss,
        hints={
            "start": "The gradients of all replicas are added up. If each of them is that of a mean already, what is their sum? By how many examples do you divide?",
            "ragged": "One replica got fewer examples. Does each of its examples count as much as one on another replica? By which number do all replicas divide?",
            "two": "Here are three replicas. Which number in your code is right for two only?",
            "sum": "With twice as many images in a batch, should a step be twice as long? What is the second argument for?",
            "twice": "The global batch already has the images of all replicas. Why divide by the number of replicas once more?",
            "averaged": "A mean has been divided already. What do you divide by `global_batch`: a sum, or a mean?",
            "whole": "The optimizer adds up what all replicas have. Why do you add it up here, too?",
            "shares": "The gradient is right, the number is not. What did the losses of this replica alone add to the mean?",
            "coarse": "The first digits are right. In which type of number do you compute, and how many digits does it keep?",
            "number": "The exercise asks for one number from many losses. Which operation of TensorFlow makes one number of many?",
            "constant": "The tape follows TensorFlow's operations from the weights to the loss. Where does your code leave them?",
            "other": "Work it out by hand: losses 1 and 2 on one replica, 6 on the other. What is their mean, and what does each replica contribute?",
            "raised": "Read Python's error above. Are the arguments `losses`, a tensor, and `global_batch`, a number?",
        },
    ),
    "6.2": Exercise(
        title="all replicas together train as one, and keep count",
        requirements={
            "own_part": "Every replica works on its part of the batch, and on no other.",
            "one_pass": "Each image goes through the network once.",
            "training": "That pass is in training mode.",
            "mean": "The step follows the gradient of the sum of the shares, for all variables.",
            "optimizer": "The given optimizer makes the step.",
            "global_loss": "The share is that of the given `global_loss`.",
            "loss": 'The metric "loss" gets the losses of the images.',
            "accuracy": 'The metric "accuracy" gets the same predictions.',
            "two_metrics": "Other metrics stay as they are.",
            "returned": "It returns the mean loss of the batch, one number.",
            "graph": "`train_step` is a `tf.function`: Python does not run for every batch.",
        },
        question=step_question,
        judge=judge_step,
        hints={
            "start": "Every replica works out its share, and nobody uses it. Which four lines are missing in `replica_step`, and which one in `train_step`?",
            "run": "Who calls the network? A replica does, in the function that you give to `strategy.run`.",
            "whole_batch": "Does each replica get its part, or all of them the whole batch? What does `strategy.run` do with a distributed `x`?",
            "one_replica": "Some replicas wait while others do the work. What does `strategy.run` do with a distributed `x`?",
            "remainder": "Which images does nobody work on? Do all replicas use their part of the batch?",
            "twice": "The network works on some images twice. Can you use the result of the first pass again?",
            "unchanged": "You have gradients. Which object uses them to move the weights, and is that part of what `strategy.run` runs?",
            "some_variables": "Which variables do you take the gradient for, and which does the optimizer get?",
            "times_replicas": "`optimizer.apply` adds up the gradients of all replicas, once. What is each of them the gradient of, and does anything else add them up?",
            "divided": "The loss is a share of the global mean already. Which code divides by the number of replicas once more?",
            "sum": "With twice as many images in a batch, should a step be twice as long? What makes a share of the losses?",
            "averaged": "`global_loss` takes one loss for each image. What does it get from you? Lab 06 says what Keras' loss objects return.",
            "inference": "Some layers behave differently in training. Which argument of the model's call tells them?",
            "momentum": "Momentum and Adam remember earlier gradients. Who does the arithmetic in your step: you, or the optimizer that you were given?",
            "own_optimizer": "Which optimizer makes the step: the one that you were given? Does it make one step for each batch?",
            "own_loss": "The caller may pass another `global_loss`, and this lab will. Which line of yours calls it, and is the gradient that of what it returns?",
            "nothing": "What does your step return? The mean loss of the batch is asked for.",
            "not_reduced": "Every replica has its own value. Which method of the strategy makes one value of them?",
            "reduce": "Each value is a share. What makes the whole from its shares: their sum, or their mean?",
            "one_share": "That is the share of the first replica. What about the others?",
            "so_far": "A metric averages over all steps since its reset. Which batch does the caller ask about?",
            "added": "You add up what the replicas return. Is that a share of each, or a mean or a sum of its own?",
            "no_metrics": "Which two metrics are to be updated in training, and in which of the two functions do you have what `update_state` takes?",
            "metric_share": "The metric computes a mean itself. Do you give it one value for each image, on every replica, once?",
            "reset": "Who decides when an epoch begins: the step, or its caller? What does your step forget?",
            "valid_metrics": "Training and validation have metrics of their own. Which are yours here?",
            "metrics": "Do loss and accuracy come from the same predictions as the gradient?",
            "eager": "Python ran for every batch. What stands above the line `def` of the function that calls `strategy.run`, and how often is that function made?",
            "other": "Which loss is the gradient of, and for which variables? Is the tape still recording when the loss is computed?",
            "raised": "Read Python's error above. The optimizer belongs in the function that `strategy.run` runs; and `jit_compile=True` does not work under a strategy.",
        },
    ),
    "6.3": Exercise(
        title="on any devices it trains what one device would train, remainder and all",
        requirements={
            "devices": "It makes a `MirroredStrategy` over exactly these devices.",
            "all_reduce": "Its all-reduce is `ReductionToOneDevice()`.",
            "build": "`build` is called once, inside the strategy's scope.",
            "once": "Each image goes through the network once an epoch.",
            "each_pass": "Every epoch goes through `data`, which may shuffle each time.",
            "own_part": "It does so on one replica, in `strategy.run`; each replica gets its part.",
            "training": "It does so in training mode.",
            "optimizer": "Each batch is one step of the optimizer that `build` made.",
            "mean": "The step follows the mean over the images that are in this batch.",
            "losses": "An epoch's loss is the mean over all its images.",
            "reset": "Each epoch's loss starts again.",
            "returned": "It returns the network and a list with a loss for each epoch, as floats.",
        },
        question=devices_question,
        judge=judge_devices,
        hints={
            "start": "Which object puts one network on several devices? Make it first; `build` is called inside its scope.",
            "all_reduce": "Which all-reduce does the exercise name? It is the argument `cross_device_ops` of `MirroredStrategy`.",
            "scope": "Where do variables have to be made, so that every replica has a copy? Is `build()` called there?",
            "build": "One network is trained for all epochs. How often do you call `build()`?",
            "devices": "Which devices does your strategy use, and which were asked for? Print `strategy.extended.worker_devices`.",
            "run": "Who calls the network? A replica does, in the function that you give to `strategy.run`.",
            "whole_batch": "Does each replica get its part, or all of them the whole batch? What has to be done with `data` before the loop?",
            "one_replica": "Some replicas wait while others do the work. Who cuts a batch into one part for each?",
            "remainder": "Which images does your loop leave out? The last batch may be smaller than the others.",
            "epochs": "How often does your loop go through all of `data`?",
            "same_batches": "Data that are shuffled come in another order in each epoch. What do you keep from the first pass, and where is `data` asked again?",
            "twice": "The network works on some images twice in an epoch. Can you use the result of the first pass again?",
            "unchanged": "You have gradients. Which object uses them to move the weights, and is that part of what `strategy.run` runs?",
            "inference": "Some layers behave differently in training. Which argument of the network's call tells them?",
            "momentum": "The optimizer remembers earlier gradients. Is it the one that `build` gave you, and does it do the arithmetic?",
            "own_optimizer": "Which optimizer makes the steps: the one that `build` gave you? Does it make one for each batch?",
            "default": "Without `global_batch_size` each replica believes that all have as many images as itself. How many images do all have together, in this batch?",
            "fixed": "The last batch has fewer images than the others. By how many do you divide there?",
            "per_replica": "The gradients of all replicas are added up. If each is a mean already, what is their sum?",
            "divided": "The share is divided by all images of the batch already. Which code divides by the number of replicas once more?",
            "sum": "With twice as many images in a batch, should a step be twice as long?",
            "all_images": "A step follows the mean of its own batch. Do you divide by the images of the batch, or of all `data`?",
            "own_network": "Which network is it that you return? The caller wants the one that `build` made and you trained.",
            "returned": "What does the function return? The network, and a list with a number for each epoch. What makes a float of a tensor?",
            "never_reset": "Each epoch has a loss of its own. What starts again with it?",
            "batch_means": "A small batch counts as much as a large one in a mean of means. What has to be divided by what?",
            "last_batch": "Is it the mean over the epoch, or that of the last batch?",
            "loss_share": "Each replica saw a part of the losses. What puts them together?",
            "other": "Train on one device, then on two with the same images. From which step on do the weights differ?",
            "raised": "Read Python's error above. Which lines does `strategy.run` have to run, and which stay outside?",
        },
    ),
}
