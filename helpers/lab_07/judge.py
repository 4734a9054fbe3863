"""Questions, verdicts and hints of lab 07: the cores of a TPU."""

import math
import re
from collections import Counter

from helpers.checks.judging.timing import numbers_after

TITLES = {
    "7.1": "every core has images of its own, and no image comes twice in an epoch",
    "7.2": "the learning rate grows with the replicas, and SGD has momentum",
    "7.3": "a log line for each core and interval, accuracy, and the total time",
}

HINTS = {
    "7.1": {
        "shape": "How many whole steps are there if each takes a batch for every core? What shape holds one core's part?",
        "remainder": "How many images are left when every core has the same number of whole batches? What happens to them?",
        "range": "Are these places in the training set, from 0 to images - 1?",
        "twice": "Does one core see an image again before the epoch is over?",
        "overlap": "Do all cores use the same order, and take different parts of it?",
        "unseeded": "Each core computes its part by itself, maybe on another machine. What makes them all draw the same order?",
        "epoch": "What changes the order from one epoch to the next?",
        "seed": "A user wants another run with another order. Which argument should change the order?",
        "never_seen": "Which images are left out in each epoch? Do you cut before or after you shuffle?",
        "raised": "Call it by hand: core_indices(0, 2, 10, 2, 0, 0). Which line fails?",
    },
    "7.2": {
        "scale": "The global batch is `replicas` times a core's. What does the linear rule say about the learning rate?",
        "root": "The square root is a rule too (lab 03). Which rule does this lab follow?",
        "fixed": "What is the learning rate on 2 cores, and what on 16? Does your code contain a fixed number?",
        "momentum": "Which part of the last step stays in the next one, and which argument sets it?",
        "nesterov": "Momentum comes in two kinds. Which argument of SGD switches the other one on?",
        "raised": "Read Python's error above. Does the function return a Keras optimizer?",
        "other": "Print `optimizer.learning_rate` and `optimizer.momentum`. Is it plain SGD otherwise?",
    },
    "7.3": {
        "steps": "Is every batch of every epoch trained on once, and tested once after its last?",
        "nothing": "Which code prints, and when? Look at the example.",
        "format": "Compare your lines with the example letter by letter: `[core 3](20) Loss=0.48317`.",
        "zero": "Which number does the first step of an epoch have: 0 or 1? After how many steps is the first line due?",
        "interval": "How do you find out that a step's number is a multiple of `log_interval`?",
        "whole_training": "Does every epoch count its steps from 1?",
        "cores": "`train_step` returns one loss for every core. Which of them do you print?",
        "mean": "The mean of all cores hides the one that goes wrong. Which core's loss belongs in which line?",
        "accuracy": "Epochs are counted from 0 in Python and from 1 for readers. Is the accuracy that of this epoch?",
        "per_epoch": "Is it the time of the last epoch, or all the time since `train` was called?",
        "time": "Which two moments does the total time lie between? Are the tests part of it?",
        "returned": 'Compare what you return with `{"accuracy": [...], "wall_seconds": [...]}`.',
        "raised": "Read Python's error above. What `batches_of` returns may have no length, and you can go through it only once.",
    },
}


def indices_question(rng):
    """A set that leaves a remainder; every core in three epochs, one call repeated."""
    replicas, batch_size, steps = (
        rng.choice([2, 3, 4]),
        rng.randint(4, 6),
        rng.randint(2, 4),
    )
    whole = replicas * batch_size
    # More than a batch is left: enough for some cores, but not for all.
    images = steps * whole + rng.randint(batch_size + 1, whole - 1)
    seed = rng.randrange(2**16)
    calls = [[core, epoch, seed] for core in range(replicas) for epoch in range(3)]
    rng.shuffle(calls)
    return {
        "replicas": replicas,
        "images": images,
        "batch_size": batch_size,
        "calls": [*calls, calls[0], [*calls[0][:2], seed + 1]],
    }


def judge_indices(question, observation):
    """Shapes first, then what the cores of each epoch have in common."""
    replicas, images, batch_size = (
        question[name] for name in ("replicas", "images", "batch_size")
    )
    steps = images // (replicas * batch_size)
    asked = f"{images} images on {replicas} cores with batches of {batch_size}"
    for (core, *_), seen in zip(question["calls"], observation["calls"], strict=True):
        reason = f"{asked}: core {core} gives"
        if seen["shape"] is None or seen["kind"] == "O":
            return f"{reason} batches of different sizes", "remainder"
        if seen["indices"] is None:
            return f"{reason} no whole numbers in rows and columns", "shape"
        if seen["shape"] != [steps, batch_size]:
            rows, columns = seen["shape"]
            hint = "remainder" if columns == batch_size and rows == steps + 1 else "shape"
            return f"{reason} shape ({rows}, {columns}), not ({steps}, {batch_size})", hint
        flat = [i for row in seen["indices"] for i in row]
        if min(flat) < 0 or max(flat) >= images:
            return f"{reason} indices from {min(flat)} to {max(flat)}", "range"
        if len(set(flat)) < len(flat):
            return f"{reason} an image twice in one epoch", "twice"
    parts = [tuple(map(tuple, seen["indices"])) for seen in observation["calls"]]
    return _judge_epochs(question, parts)


def _judge_epochs(question, parts):
    *calls, again, other_seed = zip(question["calls"], parts, strict=True)
    if again[1] != calls[0][1]:
        return "the same call gives other images the second time", "unseeded"
    by_epoch = {}
    for (core, epoch, _), part in calls:
        by_epoch.setdefault(epoch, {})[core] = part
    for epoch, cores in sorted(by_epoch.items()):
        seen = Counter(i for part in cores.values() for row in part for i in row)
        index, times = seen.most_common(1)[0]
        if times > 1:
            return f"in epoch {epoch} image {index} is given to {times} cores", "overlap"
    if len(set(map(str, (sorted(cores.items()) for cores in by_epoch.values())))) < 3:
        return "two epochs have the same order", "epoch"
    if other_seed[1] == calls[0][1]:
        return "another seed gives the same order", "seed"
    trained = {
        frozenset(i for part in cores.values() for row in part for i in row)
        for cores in by_epoch.values()
    }
    if len(trained) == 1:
        return "the same images are left out in every epoch", "never_seen"
    return None


def optimizer_question(rng):
    """A number of replicas, and a small regression to train on."""

    def case(replicas):
        weights = [rng.uniform(-1, 1) for _ in range(3)]
        x = [[rng.gauss(0, 1) for _ in weights] for _ in range(6)]
        return {
            "base_learning_rate": round(rng.uniform(0.002, 0.006), 5),
            "momentum": rng.choice([0.3, 0.4, 0.6, 0.7, 0.8]),
            "replicas": replicas,
            "weights": weights,
            "x": x,
            "y": [rng.gauss(0, 1) for _ in x],
            "steps": 3,
        }

    return {"cases": [case(rng.choice([2, 3, 4, 16]))]}


def sgd(case, learning_rate, momentum, nesterov=False):
    """The weights after each step of gradient descent on the mean squared error."""
    weights, velocity, after = list(case["weights"]), [0.0] * len(case["weights"]), []
    for _ in range(case["steps"]):
        errors = [
            sum(w * value for w, value in zip(weights, row, strict=True)) - y
            for row, y in zip(case["x"], case["y"], strict=True)
        ]
        for j in range(len(weights)):
            pairs = zip(errors, case["x"], strict=True)
            gradient = 2 * sum(error * row[j] for error, row in pairs) / len(errors)
            velocity[j] = momentum * velocity[j] - learning_rate * gradient
            step = velocity[j]
            if nesterov:
                step = momentum * velocity[j] - learning_rate * gradient
            weights[j] += step
        after.append(list(weights))
    return after


def judge_optimizer(question, observation):
    """Every weight after every step, against the same steps computed here."""
    for case, seen in zip(question["cases"], observation["cases"], strict=True):
        base, momentum, replicas = (
            case[name] for name in ("base_learning_rate", "momentum", "replicas")
        )
        due = sgd(case, base * replicas, momentum)
        if _close(seen["weights"], due):
            continue
        reason = (
            f"new_optimizer({base}, {momentum}, {replicas}) moves a weight from "
            f"{case['weights'][0]:.4f} to {seen['weights'][-1][0]:.4f} in {case['steps']} "
            f"steps, not to {due[-1][0]:.4f}"
        )
        rates = {"scale": base, "root": base * math.sqrt(replicas), "fixed": base * 8}
        mistakes = {
            hint: sgd(case, rate, kept)
            for hint, rate in rates.items()
            for kept in (momentum,)
        }
        # Without momentum, at any rate: the student should fix the momentum first.
        for rate in (base * replicas, *rates.values()):
            for kept in (0.0, 0.5, 0.9):
                mistakes |= {f"momentum {rate} {kept}": sgd(case, rate, kept)}
        mistakes["nesterov"] = sgd(case, base * replicas, momentum, nesterov=True)
        for hint, weights in mistakes.items():
            if _close(seen["weights"], weights):
                return reason, hint.split()[0]
        return reason, "other"
    return None


def _close(seen, due):
    """Equal up to the rounding of float32, which is far finer than one small step."""
    pairs = [
        (s, d) for a, b in zip(seen, due, strict=True) for s, d in zip(a, b, strict=True)
    ]
    return all(abs(s - d) <= 1e-5 for s, d in pairs)


def training_question(rng):
    """Some epochs, starting after the first, with losses that are all different."""
    # Three epochs: even without the tests, training takes longer than one epoch.
    epochs, cores, interval = 3, rng.randint(2, 4), rng.randint(2, 3)
    steps = 2 * interval + 1
    return {
        "first_epoch": rng.randint(1, 4),
        "epochs": epochs,
        "steps": steps,
        "log_interval": interval,
        "losses": [
            # Five decimals: what is printed does not depend on rounding.
            [round(rng.uniform(0.1, 3), 5) for _ in range(cores)]
            for _ in range(epochs * steps)
        ],
        "accuracies": [round(rng.uniform(0.2, 0.9), 7) for _ in range(epochs)],
        "batch_seconds": 0.01,
        "test_seconds": 0.04,
        "seconds_before": 0.05,
    }


def judge_training(question, observation):
    """The steps made, then the lines of the cores, the accuracies, and the time."""
    if _events_due(question) != observation["events"]:
        counts = Counter(event[0] for event in observation["events"])
        return (
            f"{question['epochs']} epochs of {question['steps']} steps: it trained "
            f"{counts['step']} steps in {counts['epoch']} epochs, tested {counts['test']} "
            "times, or not in this order"
        ), "steps"
    lines = observation["lines"]
    if not lines:
        return "it printed nothing", "nothing"
    return (
        _judge_lines(question, lines)
        or _judge_accuracies(question, lines)
        or _judge_seconds(question, observation)
        or _judge_history(question, observation)
    )


def _events_due(question):
    due = []
    for epoch in _epochs(question):
        due.append(["epoch", epoch])
        due += [["step", f"{epoch}:{i}"] for i in range(question["steps"])]
        due.append(["test"])
    return due


def _epochs(question):
    return range(question["first_epoch"], question["first_epoch"] + question["epochs"])


def _lines_due(question, number_of):
    """The log lines, where `number_of(epoch, step)` returns the number or None."""
    due, steps = [], question["steps"]
    for i, losses in enumerate(question["losses"]):
        if (number := number_of(i // steps, i % steps + 1)) is not None:
            due += [f"[core {c}]({number}) Loss={x:.5f}" for c, x in enumerate(losses)]
    return due


def _judge_lines(question, lines):
    steps, interval = question["steps"], question["log_interval"]

    def at_multiples(epoch, step):
        return step if step % interval == 0 else None

    due = _lines_due(question, at_multiples)
    seen = [line for line in lines if line.startswith("[")]
    if sorted(seen) == sorted(due):
        return None
    mistakes = {
        "zero": _lines_due(
            question, lambda _, s: s - 1 if (s - 1) % interval == 0 else None
        ),
        "interval": _lines_due(question, lambda _, s: s),
        "whole_training": _lines_due(
            question, lambda e, s: n if (n := e * steps + s) % interval == 0 else None
        ),
        # Printed at the right moments, but numbered from 0.
        "zero-based": _lines_due(
            question, lambda _, s: s - 1 if s % interval == 0 else None
        ),
    }
    if not seen:
        return f"no line begins with `[core 0]({interval})`", "format"
    missing = [line for line in due if line not in seen]
    unasked = [line for line in seen if line not in due]
    reason = f"the line `{missing[0]}` is missing" if missing else "a line comes twice"
    if unasked:
        reason += f", and `{unasked[0]}` was not asked for"
    for hint, wrong in mistakes.items():
        if sorted(seen) == sorted(wrong):
            return reason, hint.split("-")[0]
    if not unasked:
        return reason, "cores"
    losses = re.findall(r"Loss=(\S+)", "\n".join(seen))
    cores = len(question["losses"][0])
    groups = [losses[i : i + cores] for i in range(0, len(losses), cores)]
    one_for_all = len(losses) == len(due) and all(len(set(group)) == 1 for group in groups)
    return reason, "mean" if one_for_all else "format"


def _judge_accuracies(question, lines):
    pairs = zip(_epochs(question), question["accuracies"], strict=True)
    for epoch, accuracy in pairs:
        label = f"Epoch {epoch + 1}: accuracy"
        said = numbers_after(lines, label)
        if len(said) != 1 or abs(said[0] - accuracy) > 0.00006:
            shown = ", ".join(f"`{label} {x:g}`" for x in said) or "nothing like it"
            return f"`{label} {accuracy:.4f}` was due, it printed {shown}", "accuracy"
    return None


def _judge_seconds(question, observation):
    said = numbers_after(observation["lines"], "Total training time:")
    if len(said) != 1:
        return "no line `Total training time: 41.27` at the end, or several", "format"
    before, *inside, after = observation["waits"]
    low, high = inside[-1][1] - inside[0][0], after[0] - before[1]
    # Half a hundredth, for the rounding to two decimals.
    if low - 0.006 <= said[0] <= high + 0.006:
        return None
    reason = f"training took {low:.2f} to {high:.2f} s, it says {said[0]:.2f}"
    # Checked before the last epoch, which may take as long on a busy machine.
    steps = question["steps"]
    first, last, tests = (inside[i :: steps + 1] for i in (0, steps - 1, steps))
    least = sum(b[1] - a[0] for a, b in zip(first, last, strict=True))
    most = high - sum(ended - began for began, ended in tests)
    if least - 0.006 <= said[0] <= most + 0.006:
        return reason, "time"
    last_epoch = after[0] - inside[-steps - 2][1]
    return reason, "per_epoch" if said[0] <= last_epoch + 0.006 else "time"


def _judge_history(question, observation):
    history, epochs = observation["history"], question["epochs"]
    if history is None:
        return "it does not return a dict with `accuracy` and `wall_seconds`", "returned"
    for name in ("accuracy", "wall_seconds"):
        if len(history[name]) != epochs:
            return (
                f"`{name}` has {len(history[name])} entries for {epochs} epochs",
                "returned",
            )
    pairs = zip(history["accuracy"], question["accuracies"], strict=True)
    if any(abs(said - right) > 0.00006 for said, right in pairs):
        return f"`accuracy` is {history['accuracy']}, not what the tests gave", "returned"
    before, *inside, after = observation["waits"]
    for i, said in enumerate(history["wall_seconds"]):
        last = (i + 1) * (question["steps"] + 1) - 1
        low = inside[last][1] - inside[0][0]
        high = [*inside, after][last + 1][0] - before[1]
        if not low - 0.006 <= said <= high + 0.006:
            reason = (
                f"after its epoch number {i + 1} training had run for {low:.2f} s or a "
            )
            return f"{reason}little more, `wall_seconds` says {said:.2f}", "returned"
    return None


CHALLENGES = {"7.1": indices_question, "7.2": optimizer_question, "7.3": training_question}
JUDGES = {"7.1": judge_indices, "7.2": judge_optimizer, "7.3": judge_training}
