"""Questions, verdicts and hints of lab 06: many GPUs with a hand-written loop."""

import re

import numpy as np

TITLES = {
    "6.1": "the shares of all replicas add up to the mean over the global batch",
    "6.2": "all replicas together train as one, and keep count",
    "6.3": "every epoch trains, shows how it goes, validates, and starts counting again",
}

HINTS = {
    "6.1": {
        "per_replica": "The gradients of all replicas are added up. If each of them is a mean already, what is their sum? By how many examples do you divide?",
        "ragged": "One replica got fewer examples. Does each of its examples count as much as one on another replica? By which number do all replicas divide?",
        "sum": "With twice as many images in a batch, should a step be twice as long? What is the second argument for?",
        "twice": "The global batch already has the images of all replicas. Why divide by the number of replicas once more?",
        "scalar": "The exercise asks for one number from many losses. Which operation of TensorFlow makes one number of many?",
        "constant": "The tape follows TensorFlow's operations from the weights to the loss. Where does your code leave them?",
        "other": "Work it out by hand: losses 1 and 2 on one replica, 6 on the other. What is their mean, and what does each replica contribute?",
        "raised": "Read Python's error above. Are the arguments `losses`, a tensor, and `global_batch`, a number?",
    },
    "6.2": {
        "unchanged": "You have gradients. Which object uses them to move the weights, and is that part of what `strategy.run` runs?",
        "times_replicas": "Gradients of all replicas are added up. Which loss makes that sum a mean? You have written it in 6.1.",
        "divided": "The loss is a share of the global mean already. Which code divides by the number of replicas once more?",
        "inference": "Some layers behave differently in training. Which argument of the model's call tells them?",
        "optimizer": "Momentum and Adam remember earlier gradients. Who does the arithmetic in your step: you, or the optimizer?",
        "nothing": "What does your step return? The mean loss of the batch is asked for.",
        "not_reduced": "Every replica has its own value. Which method of the strategy makes one value of them?",
        "reduce": "Each value is a share. What makes the whole from its shares: their sum, or their mean?",
        "no_metrics": "Which two metrics are to be updated in training, and in which of the two functions do you have what `update_state` takes?",
        "metric_share": "The metric computes a mean itself. Do you give it every image's loss, or this replica's share?",
        "valid_metrics": "Training and validation have metrics of their own. Which are yours here?",
        "metrics": "Do loss and accuracy come from the same predictions as the gradient?",
        "eager": "Python ran for every batch. What stands above the line `def` of the function that calls `strategy.run`?",
        "other": "Which loss is the gradient of, and for which variables? Is the tape still recording when the loss is computed?",
        "raised": "Read Python's error above. The optimizer belongs in the function that `strategy.run` runs; and `jit_compile=True` does not work under a strategy.",
    },
    "6.3": {
        "epochs": "Count: how often does your loop go through all of `train`?",
        "no_validation": "When is `valid_step` called, and with what?",
        "order": "Train on every batch of `train` once, then validate on every batch of `valid` once. What does your loop do?",
        "format": "Compare your line with the example, letter by letter: `Epoch 1: loss 0.512, accuracy 0.834, valid_loss 0.311, valid_accuracy 0.905`.",
        "numbering": "Readers count epochs from 1, `range` from 0. Is there one line for each?",
        "never_reset": "A metric counts until it is reset. Where does your loop call `reset_state`, and on which metrics?",
        "reset_early": "Do you read the metrics before or after you reset them?",
        "values": "Which metric belongs to which place in the line? Print one of them on its own.",
        "no_bar": "`progress(train, total=steps)` gives the batches of `train` one by one and draws a bar. Does every epoch have one?",
        "bar_values": "What does `bar.set_postfix(loss=..., accuracy=...)` show, and does every epoch call it? Which metrics are those of training?",
        "validation_counted": "When does your clock stop: before the validation, or after?",
        "seconds": "Every epoch restarts the clock before its first batch. When does it stop?",
        "history": "What does the function return? A list with a value for every epoch, for each metric's name and for `train_seconds`.",
        "raised": "Read Python's error above. A distributed data set has no `len()`: `steps` says how many batches it has.",
    },
}

PRECISION = 1e-3  # float32 on any device, after a few steps


def loss_question(rng):
    """A weight vector, a batch split evenly, and a batch split unevenly."""

    def batch(split):
        n = sum(split)
        return {
            "x": [[round(rng.uniform(-2, 2), 3) for _ in range(3)] for _ in range(n)],
            "y": [round(rng.uniform(2, 6), 3) for _ in range(n)],
            "split": split,
        }

    return {
        "replicas": 2,
        "weights": [round(rng.uniform(-1, 1), 3) for _ in range(3)],
        "learning_rate": round(rng.uniform(0.01, 0.03), 3),
        "batches": [batch([3, 3]), batch(rng.choice([[4, 1], [1, 4], [5, 2]]))],
    }


# The number by which a replica divides the sum of its losses. It has `own` examples, and
# the global batch has `all_`, on `replicas`.
DIVISORS = {
    "right": lambda own, all_, replicas: all_,
    "per_replica": lambda own, all_, replicas: own,
    "ragged": lambda own, all_, replicas: own * replicas,
    "sum": lambda own, all_, replicas: 1,
    "twice": lambda own, all_, replicas: all_ * replicas,
}


def trained_weights(question, divisor):
    """The weights after every batch, if each replica divides like this."""
    weights, after = np.array(question["weights"]), []
    for batch in question["batches"]:
        x, y = np.array(batch["x"]), np.array(batch["y"])
        divided = [
            1 / divisor(own, len(y), question["replicas"])
            for own in batch["split"]
            for _ in range(own)
        ]
        slopes = 2 * (x @ weights - y) * divided
        weights = weights - question["learning_rate"] * x.T @ slopes
        after.append(weights)
    return after


def judge_loss(question, seen):
    """Weights after every batch, and the sum of the shares, are those of the mean."""
    if seen["constant"]:
        return "no gradient flows from the losses to what it returned", "constant"
    if any(np.ndim(share) for shares in seen["shares"] for share in shares):
        shape = np.shape(seen["shares"][0][0])
        return f"a replica returned an array of shape {shape}, not a number", "scalar"
    ways = {name: trained_weights(question, divisor) for name, divisor in DIVISORS.items()}
    right, said = ways["right"], seen["weights"]
    for number, (batch, got, due) in enumerate(
        zip(question["batches"], said, right, strict=True)
    ):
        if np.allclose(got, due, rtol=PRECISION, atol=PRECISION / 10):
            continue
        before = question["weights"] if number == 0 else right[number - 1]
        times = np.linalg.norm(np.subtract(got, before)) / np.linalg.norm(
            np.subtract(due, before)
        )
        rate, (first, second) = question["learning_rate"], batch["split"]
        reason = (
            f"with {first} examples on one replica and {second} on the other, a step of "
            f"SGD was {times:.2f} times as long as on one device with all {first + second}"
        )
        if number == 0:
            reason += (
                f": the learning rate {rate:g} acts like {times * rate:.3g}, and weight 0 "
                f"moved by {got[0] - before[0]:+.4f} instead of {due[0] - before[0]:+.4f}"
            )
        for hint, way in ways.items():
            if hint != "right" and np.allclose(said, way, rtol=PRECISION):
                return reason, hint
        return reason, "other"
    return None


def step_question(rng):
    """A network, six batches, and a mask that distinguishes training from inference."""
    inputs, classes, global_batch, steps = 4, 3, 4, 6
    while True:
        question = {
            "replicas": 2,
            "weights": [[rng.gauss(0, 0.8) for _ in range(classes)] for _ in range(inputs)],
            "bias": [rng.gauss(0, 0.5) for _ in range(classes)],
            "mask": rng.sample([0.0, 2.0, 2.0, 1.0], inputs),
            "learning_rate": round(rng.uniform(0.1, 0.3), 3),
            "momentum": 0.9,
            "global_batch": global_batch,
            "x": [
                [rng.uniform(-2, 2) for _ in range(inputs)]
                for _ in range(global_batch * steps)
            ],
            "y": [rng.randrange(classes) for _ in range(global_batch * steps)],
        }
        weights, losses, accuracy = train_softmax(question)
        ends = [
            question["weights"],
            *(train_softmax(question, **way)[0][0] for way in WAYS.values()),
        ]
        clear = all(np.abs(np.subtract(weights[0], end)).max() > 0.02 for end in ends)
        if clear and 0.1 < accuracy < 0.9 and min(losses) > 0.05:
            return question


# What usual mistakes do to the step.
WAYS = {
    "times_replicas": {"times": 2.0},
    "divided": {"times": 0.5},
    "inference": {"mask": 1.0},
    "optimizer": {"momentum": 0.0},
}


def train_softmax(question, times=1.0, mask=None, momentum=None):
    """Train a softmax layer on all batches in NumPy.

    Parameters
    ----------
    question : dict
        As from `step_question`.
    times : float
        Multiplies the gradient.
    mask : array or float, optional
        Instead of the question's.
    momentum : float, optional
        Instead of the question's.

    Returns
    -------
    tuple
        Weights and bias at the end, the mean loss of every batch as seen before
        its step, and the accuracy over all of them.
    """
    mask = np.array(question["mask"] if mask is None else mask)
    momentum = question["momentum"] if momentum is None else momentum
    weights, bias = np.array(question["weights"]), np.array(question["bias"])
    speeds = [np.zeros_like(weights), np.zeros_like(bias)]
    losses, right, size = [], [], question["global_batch"]
    for at in range(0, len(question["y"]), size):
        x = np.array(question["x"][at : at + size]) * mask
        y = np.array(question["y"][at : at + size])
        logits = x @ weights + bias
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities = powers / powers.sum(axis=1, keepdims=True)
        losses.append(float(-np.log(probabilities[np.arange(size), y]).mean()))
        right += (probabilities.argmax(axis=1) == y).tolist()
        slopes = times * (probabilities - np.eye(len(bias))[y]) / size
        steps = [question["learning_rate"] * g for g in (x.T @ slopes, slopes.sum(axis=0))]
        speeds = [momentum * v - s for v, s in zip(speeds, steps, strict=True)]
        weights, bias = weights + speeds[0], bias + speeds[1]
    return [weights, bias], losses, float(np.mean(right))


def judge_step(question, seen):
    """Weights, returned losses and metrics are those that NumPy computes on one device."""
    weights, losses, accuracy = train_softmax(question)
    return (
        _wrong_weights(question, seen["weights"], weights)
        or _wrong_returned(question, seen["returned"], losses)
        or _wrong_metrics(question, seen["metrics"], np.mean(losses), accuracy)
        or _ran_in_python(question, seen)
    )


def _same(said, right):
    return all(
        np.allclose(a, b, rtol=PRECISION, atol=PRECISION)
        for a, b in zip(said, right, strict=True)
    )


def _wrong_weights(question, said, right):
    if _same(said, right):
        return None
    start = [question["weights"], question["bias"]]
    if _same(said, start):
        return "after all steps the weights have not changed", "unchanged"
    times = np.linalg.norm(np.subtract(said[0], start[0])) / np.linalg.norm(
        np.subtract(right[0], start[0])
    )
    steps = len(question["y"]) // question["global_batch"]
    reason = (
        f"after {steps} steps on {question['replicas']} replicas the weights are not those "
        f"of one device: they have moved {times:.2f} times as far"
    )
    for hint, way in WAYS.items():
        if _same(said, train_softmax(question, **way)[0]):
            return reason, hint
    return reason, "other"


def _wrong_returned(question, returned, losses):
    if any(value is None for values in returned for value in values):
        return "the step returns nothing", "nothing"
    if any(len(values) != 1 for values in returned):
        return f"the step returns {len(returned[0])} values, one for each replica", (
            "not_reduced"
        )
    if any(np.ndim(values[0]) for values in returned):
        return f"the step returns {returned[0][0]}, not one number", "not_reduced"
    said = [values[0] for values in returned]
    if np.allclose(said, losses, atol=PRECISION):
        return None
    reason = f"the first step returns {said[0]:.4f}; the mean loss was {losses[0]:.4f}"
    shares = np.divide(losses, question["replicas"])
    return reason, "reduce" if np.allclose(said, shares, atol=PRECISION) else "other"


def _wrong_metrics(question, metrics, loss, accuracy):
    if metrics["valid_loss"] or metrics["valid_accuracy"]:
        return "it updated the metrics of validation", "valid_metrics"
    for name, right in (("loss", loss), ("accuracy", accuracy)):
        said = metrics[name]
        if abs(said - right) <= PRECISION:
            continue
        reason = f"the metric `{name}` is {said:.4f}, not {right:.4f}"
        if said == 0:
            return reason, "no_metrics"
        share = abs(said - right / question["replicas"]) <= PRECISION
        return reason, "metric_share" if share else "metrics"
    return None


def _ran_in_python(question, seen):
    steps = len(question["y"]) // question["global_batch"]
    if seen["python_runs"] < steps * question["replicas"]:
        return None
    reason = f"its Python ran {seen['python_runs']} times for {steps} batches"
    return f"{reason}: no graph was kept", "eager"


NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")
LINE = re.compile(
    r"Epoch (\d+): loss (\d+\.\d{3}), accuracy (\d\.\d{3}), "
    r"valid_loss (\d+\.\d{3}), valid_accuracy (\d\.\d{3})"
)


def loop_question(rng):
    """Batches whose losses are given, and steps that take time."""

    def batches(n):
        return [
            {
                "x": [round(rng.uniform(1, 9), 3) for _ in range(4)],
                "y": [rng.randrange(3) for _ in range(4)],
            }
            for _ in range(n)
        ]

    while True:
        question = {
            "train": batches(12),
            "valid": batches(3),
            "epochs": 3,
            "batch_seconds": {"train": rng.uniform(0.002, 0.004), "valid": 0.01},
        }
        right = epochs_of(question)
        others = [epochs_of(question, NAMES[:2]), epochs_of(question, NAMES[2:])]
        # Different from metrics that are never reset, and from each other.
        if all(
            abs(row[name] - other[name]) > 0.01
            for epochs in others
            for row, other in list(zip(right, epochs, strict=True))[2:]
            for name in NAMES
            if row[name] != other[name]
        ) and all(
            abs(np.diff(sorted(row[n] for n in NAMES))).min() > 0.01 for row in right
        ):
            return question


def epochs_of(question, reset=NAMES):
    """The metrics after every epoch; those not in `reset` go on counting."""
    epochs, seen, trained = [], {name: [] for name in NAMES}, 0
    for _ in range(question["epochs"]):
        for name in reset:
            seen[name] = []
        row = {"running": []}
        for kind, prefix in (("train", ""), ("valid", "valid_")):
            for batch in question[kind]:
                losses = np.array(batch["x"]) / (1 + trained)
                right = (np.array(batch["y"]) + trained) % 3 == 0
                seen[f"{prefix}loss"].append(losses.mean())
                seen[f"{prefix}accuracy"].append(right.mean())
                trained += kind == "train"
                if kind == "train":
                    row["running"].append(
                        {
                            "losses": (np.mean(seen["loss"]), losses.mean()),
                            "accuracies": (np.mean(seen["accuracy"]), right.mean()),
                        }
                    )
        epochs.append(row | {name: float(np.mean(seen[name])) for name in NAMES})
    return epochs


def judge_loop(question, seen):
    """The right calls in the right order, then lines, bars, seconds and what it returned."""
    return (
        _wrong_calls(question, seen["calls"])
        or _wrong_lines(question, seen["printed"])
        or _wrong_bars(question, seen)
        or _wrong_history(question, seen["history"])
        or _wrong_seconds(question, seen)
    )


def _wrong_calls(question, calls):
    train, valid = (
        [[kind, batch["x"]] for batch in question[kind]] for kind in ("train", "valid")
    )
    said = [[kind, np.round(x, 3).tolist()] for kind, x in calls]
    if said == (train + valid) * question["epochs"]:
        return None
    kinds = [kind for kind, _ in said]
    if "valid" not in kinds:
        return "it never called valid_step", "no_validation"
    trained = kinds.count("train") / len(train)
    if trained != question["epochs"]:
        times = question["epochs"]
        return f"it went {trained:g} times through `train`, not {times} times", "epochs"
    return (
        "the steps did not get every batch once an epoch, `train` before `valid`",
        "order",
    )


def _wrong_lines(question, printed):
    lines = [line for line in printed if LINE.search(line)]
    if not lines:
        begun = [line for line in printed if line.startswith("Epoch") and "|" not in line]
        shown = f": `{begun[-1]}`" if begun else ""
        return f"no line is like the example{shown}", "format"
    found = [LINE.search(line) for line in lines]
    numbers = [int(match[1]) for match in found]
    if numbers != list(range(1, question["epochs"] + 1)):
        return f"the epochs printed are {numbers}", "numbering"
    said = [
        dict(zip(NAMES, map(float, match.groups()[1:]), strict=True)) for match in found
    ]
    return _wrong_values(question, said, "prints")


def _wrong_values(question, said, does):
    right = epochs_of(question)
    for number, (row, truth) in enumerate(zip(said, right, strict=True), start=1):
        for name in NAMES:
            if abs(row[name] - truth[name]) > 0.00051:
                reason = f"epoch {number} {does} {name} {row[name]:.3f}, "
                return f"{reason}not {truth[name]:.3f}", _value_hint(question, said)
    return None


def _value_hint(question, said):
    """The usual mistake that gives exactly these numbers."""
    if any(row["loss"] == 0 or row["valid_loss"] == 0 for row in said):
        return "reset_early"
    for kept in ((), NAMES[:2], NAMES[2:]):
        epochs = epochs_of(question, kept)
        if all(
            abs(row[name] - other[name]) <= 0.00051
            for row, other in zip(said, epochs, strict=True)
            for name in NAMES
        ):
            return "never_reset"
    return "values"


def _wrong_bars(question, seen):
    """Each epoch has a bar that goes through it, and shows loss and accuracy."""
    steps = len(question["train"])
    for number, row in enumerate(epochs_of(question), start=1):
        end = number * steps
        if [end, steps] not in seen["finished"]:
            return f"no bar goes through the {steps} steps of epoch {number}", "no_bar"
        shown = [(at, text) for at, text in seen["shown"] if end - steps < at <= end]
        if not any(
            _shows(text, row["running"][at - end + steps - 1]) for at, text in shown
        ):
            last = f"it shows `{shown[-1][1].strip()}`" if shown else "it shows neither"
            reason = f"in epoch {number} the bar has no loss and accuracy of that epoch"
            return f"{reason}: {last}", "bar_values"
    return None


def _shows(text, running):
    """Whether a text has the loss and the accuracy so far, or of the batch, rounded."""
    for word, values in (("loss", running["losses"]), ("acc", running["accuracies"])):
        found = re.search(word + r"[a-z]*\W*?(\d+(?:\.(\d+))?(?:e-\d+)?)", text, re.I)
        if not found:
            return False
        rounding = 0.51 * 10.0 ** -len(found[2] or "")
        # Without decimals only a whole number is meant.
        rounding = min(rounding, 0.051)
        if all(abs(float(found[1]) - value) > rounding for value in values):
            return False
    return True


def _wrong_history(question, history):
    names, epochs = (*NAMES, "train_seconds"), question["epochs"]
    if not history or not set(names) <= set(history):
        return f"it did not return lists for {', '.join(names)}", "history"
    if any(len(history[name]) != epochs for name in names):
        return f"the lists that it returned do not have {epochs} values each", "history"
    rows = [{name: history[name][i] for name in NAMES} for i in range(epochs)]
    return _wrong_values(question, rows, "returned")


def _wrong_seconds(question, seen):
    """Seconds must lie between those that the steps took and those around them."""
    batches, checks = len(question["train"]), len(question["valid"])
    waits = seen["waits"]
    for number, said in enumerate(seen["history"]["train_seconds"], start=1):
        at = 1 + (number - 1) * (batches + checks)
        low = waits[at + batches - 1][1] - waits[at][0]
        high = waits[at + batches][0] - waits[at - 1][1]
        if low - 0.001 <= said <= high + 0.001:
            continue
        reason = f"epoch {number} trained {low:.3f} to {high:.3f} s, it says {said:.3f}"
        whole = waits[at + batches + checks - 1][1] - waits[at][0]
        ended = waits[at + batches + checks][0] - waits[at - 1][1]
        counted = whole - 0.001 <= said <= ended + 0.001
        return reason, "validation_counted" if counted else "seconds"
    return None


CHALLENGES = {"6.1": loss_question, "6.2": step_question, "6.3": loop_question}
JUDGES = {"6.1": judge_loss, "6.2": judge_step, "6.3": judge_loop}
