"""Questions, verdicts and hints of lab 04: a custom training loop."""

import re
import time

import numpy as np

from helpers.checks.judges import tiny_network
from helpers.checks.judges.timing import numbers_after

TITLES = {
    "4.1": "one step moves the weights just as it should, and keeps count",
    "4.2": "validation measures, and changes nothing",
    "4.3": "every epoch trains, validates, and reports its own figures",
}

HINTS = {
    "4.1": {
        "unchanged": "You have gradients. Which object uses them to move the weights?",
        "inference": "Some layers behave differently in training. Which argument of the model's call tells them?",
        "sum": "With twice as many newswires in a batch, should a step be twice as long? Sum, or mean?",
        "optimizer": "Momentum, Nadam and the others remember earlier gradients. Who does the arithmetic in your step: you, or the optimizer?",
        "twice": "How often does your step call the model? Once is enough: predictions can be used twice.",
        "other": "Which loss is the gradient of, and for which variables? Is the tape still recording when the loss is computed?",
        "no_metrics": "Which two metrics are to be updated in training, and what does `update_state` take?",
        "valid_metrics": "Training and validation have metrics of their own. Which are yours here?",
        "average": "The last batch is smaller. If every batch's mean counts once, does every newswire?",
        "reset": "Who looks at the metrics, and when? When do they have to start from zero?",
        "metrics": "Are loss and accuracy those of the very predictions that the gradient came from?",
        "eager": "What stands above the line `def train_step`, so that Python runs once and not for every batch?",
        "raised": "Read Python's error above. Does the step take (model, optimizer, metrics, x, y), and nothing from outside?",
    },
    "4.2": {
        "changed": "Which line of yours changes a weight? Is there anything to learn in validation?",
        "training": "Dropout leaves out values in training. Shall it do so in validation? Which argument says so?",
        "nothing": "Which two metrics are to be updated here, and what does `update_state` take?",
        "train_metrics": "Training and validation have metrics of their own. Which are yours here?",
        "average": "The last batch is smaller. If every batch's mean counts once, does every newswire?",
        "reset": "Who looks at the metrics, and when? When do they have to start from zero?",
        "metrics": "Compute by hand what the loss and the accuracy of one batch are, and compare.",
        "eager": "What stands above the line `def valid_step`, so that Python runs once and not for every batch?",
        "raised": "Read Python's error above. Does the step take (model, metrics, x, y), and nothing from outside?",
    },
    "4.3": {
        "epochs": "Count: how often does your loop go through all of `train`?",
        "no_validation": "When is `valid_step` called, and with what?",
        "valid_on_train": "Validation asks how the network does on newswires that it has not seen. Which of the two sets are those?",
        "order": "Train on every batch of `train` once, then validate on every batch of `valid` once. What does your loop do?",
        "format": "Compare your line with the example, letter by letter: `Epoch=1, Loss:1.967, Accuracy:0.489, Valid Loss:1.641, Valid Accuracy:0.583`.",
        "numbering": "Readers count epochs from 1, `range` from 0. Is there one line for each?",
        "never_reset": "A metric counts until it is told to start anew. Where does your loop say `reset_state`, and to which metrics?",
        "reset_early": "Do you read the metrics before or after you reset them?",
        "average": "The last batch is smaller. A mean of the batches' means, is that the mean over all newswires?",
        "values": "Which metric belongs to which place in the line? Print one of them on its own.",
        "no_speed": "Compare with the example, letter by letter: `Newswires/sec: 812.35`, once an epoch.",
        "validation_counted": "When does your clock stop: before the validation, or after?",
        "batches": "Do you count newswires, or batches? How many are in the last batch?",
        "whole_training": "Does every epoch start the clock anew?",
        "speed": "Print the newswires and the seconds of one epoch. Are they those of its training?",
        "bar": "What shows a reader who looks at noon how long an epoch takes? One bar begins every epoch: `======== 10:02:03+0100`.",
        "zone": "Which clock would a reader elsewhere take that for? What does `astimezone()` add to a time, and `%z` to its text?",
        "history": "What does the function return? For each metric's name a list, with a value for every epoch.",
        "raised": "Read Python's error above. Are the arguments used as the text gives them: train_step(x, y), valid_step(x, y)?",
    },
}

LINE = re.compile(
    r"Epoch=(\d+), Loss:(\d+\.\d{3}), Accuracy:(\d\.\d{3}), "
    r"Valid Loss:(\d+\.\d{3}), Valid Accuracy:(\d\.\d{3})"
)
BAR = re.compile(r"=+.*?(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?: ?([+-]\d\d):?(\d\d))?\D*")
NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")
PRECISION = 1e-3  # float32 on any device, after a few steps


def step_question(rng):
    """Weights and batches for which training, inference and sloppy means all differ."""
    while True:
        question = {
            "weights": tiny_network.draw_weights(rng),
            "mask": rng.sample([0.0, 2.0, 2.0, 0.0], 4),
            "learning_rate": round(rng.uniform(0.05, 0.2), 3),
            "momentum": 0.9,
            # Smaller at the end; and more steps than a graph needs tracings.
            "batches": tiny_network.draw_batches(rng, [4, 4, 4, 4, 4, 2]),
        }
        mask = np.array(question["mask"])
        ways = [tiny_network.scores(question["weights"], question["batches"], mask)]
        ways += [tiny_network.scores(question["weights"], question["batches"], 1.0)]
        ways += [tiny_network.train(question, mask)[1:]]
        means = [
            [_mean(part), _mean_of_means(part), _mean(part[-1:])]
            for way in ways
            for part in way
        ]
        if all(np.diff(np.sort(row)).min() > 20 * PRECISION for row in means):
            return question


def judge_train_step(question, seen):
    """Weights and metrics after all steps are those that NumPy comes to."""
    mask = np.array(question["mask"])
    weights, losses, right = tiny_network.train(question, mask)
    if not _same_weights(seen["weights"], weights):
        return _wrong_weights(question, seen["weights"], mask)
    examples = sum(len(batch["y"]) for batch in question["batches"])
    if seen["trained_on"] > examples:
        reason = (
            f"of {examples} newswires the layers saw {seen['trained_on']:.0f} in training"
        )
        return reason, "twice"
    metrics = seen["metrics"]
    if metrics["valid_loss"] or metrics["valid_accuracy"]:
        return "it updated the metrics of validation", "valid_metrics"
    wrong = _wrong_metrics(metrics, "", losses, right)
    return wrong or _ran_in_python(question, seen)


def _wrong_weights(question, said, mask):
    """Which usual mistake leads to just these weights."""
    if _same_weights(said, question["weights"]):
        return "after all steps the weights are what they were", "unchanged"
    ways = {
        "inference": tiny_network.train(question, np.ones_like(mask)),
        "sum": tiny_network.train(question, mask, summed=True),
        "optimizer": tiny_network.train(question, mask, momentum=0.0),
    }
    reason = "after two steps and more the weights are not those of the reference"
    for hint, (weights, _, _) in ways.items():
        if _same_weights(said, weights):
            return reason, hint
    return reason, "other"


def judge_valid_step(question, seen):
    """Loss and accuracy are those of inference, and the network is as it was."""
    if not _same_weights(seen["weights"], question["weights"]):
        return "after validation the weights are others", "changed"
    metrics = seen["metrics"]
    if seen["trained_on"]:
        return "the layers ran as in training", "training"
    if not any(metrics.values()):
        return "after all steps every metric is still zero", "nothing"
    if metrics["loss"] or metrics["accuracy"]:
        return "it updated the metrics of training", "train_metrics"
    losses, right = tiny_network.scores(question["weights"], question["batches"], 1.0)
    wrong = _wrong_metrics(metrics, "valid_", losses, right)
    if wrong and wrong[1] == "no_metrics":
        wrong = (wrong[0], "nothing")
    return wrong or _ran_in_python(question, seen)


def _wrong_metrics(metrics, prefix, losses, right):
    for name, parts in (("loss", losses), ("accuracy", right)):
        said = metrics[prefix + name]
        if abs(said - _mean(parts)) <= PRECISION:
            continue
        reason = f"the metric `{prefix}{name}` is {said:.4f}, not {_mean(parts):.4f}"
        usual = {"no_metrics": 0.0, "average": _mean_of_means(parts)}
        usual["reset"] = _mean(parts[-1:])
        for hint, value in usual.items():
            if abs(said - value) <= PRECISION:
                return reason, hint
        return reason, "metrics"
    return None


def _ran_in_python(question, seen):
    steps = len(question["batches"])
    if seen["python_runs"] >= steps:
        return (
            f"its Python ran {seen['python_runs']} times for {steps} batches: no graph was kept"
        ), "eager"
    return None


def _same_weights(said, right):
    return all(
        np.allclose(said[name], right[name], rtol=PRECISION, atol=PRECISION)
        for name in tiny_network.NAMES
    )


def _mean(parts):
    return float(np.concatenate(parts).mean())


def _mean_of_means(parts):
    return float(np.mean([part.mean() for part in parts]))


def loop_question(rng):
    """A few rows whose losses are given, steps that take time, and a far time zone."""

    def rows(n):
        x = [round(rng.uniform(1, 9), 3) for _ in range(n)]
        return {"x": x, "y": [rng.randrange(3) for _ in range(n)]}

    minutes = rng.choice([-570, -210, 345, 525, 765])
    hours, rest = divmod(abs(minutes), 60)
    while True:
        question = {
            "batch_size": 4,
            "train": rows(9),
            "valid": rows(6),
            "epochs": 3,
            "batch_seconds": {"train": rng.uniform(0.01, 0.02), "valid": 0.015},
            "zone_minutes": minutes,
            # POSIX counts to the west.
            "time_zone": f"LAB{'-' if minutes > 0 else '+'}{hours}:{rest:02d}",
        }
        right, sloppy = _epochs(question, _mean), _epochs(question, _mean_of_means)
        if all(
            abs(a[name] - b[name]) > 0.01
            for a, b in zip(right, sloppy, strict=True)
            for name in NAMES
        ):
            return question


def _batches(question, name):
    size, rows = question["batch_size"], question[name]
    return [
        (np.array(rows["x"][at : at + size]), np.array(rows["y"][at : at + size]))
        for at in range(0, len(rows["x"]), size)
    ]


def _epochs(question, mean, reset=NAMES):
    """The metrics after every epoch; those not in `reset` go on counting."""
    epochs, seen = [], {name: [] for name in NAMES}
    trained = 0
    for _ in range(question["epochs"]):
        for name in reset:
            seen[name] = []
        for kind, prefix in (("train", ""), ("valid", "valid_")):
            for x, y in _batches(question, kind):
                seen[f"{prefix}loss"].append(x / (1 + trained))
                seen[f"{prefix}accuracy"].append(((y + trained) % 3 == 0).astype(float))
                trained += kind == "train"
        epochs.append({name: mean(parts) for name, parts in seen.items()})
    return epochs


def judge_loop(question, seen):
    """The right calls in the right order, then every line, then what was returned."""
    lines = [line for line in seen["printed"] if line.startswith("Epoch")]
    return (
        _wrong_calls(question, seen["calls"])
        or _wrong_lines(question, lines)
        or _wrong_speeds(question, seen)
        or _wrong_bars(question, seen["printed"])
        or _wrong_history(question, seen["history"])
    )


def _wrong_calls(question, calls):
    train, valid = (
        [[kind, x.tolist()] for x, _ in _batches(question, kind)]
        for kind in ("train", "valid")
    )
    epochs = question["epochs"]
    expected = (train + valid) * epochs
    said = [[kind, np.round(x, 3).tolist()] for kind, x in calls]
    if said == expected:
        return None
    kinds = [kind for kind, _ in said]
    if "valid" not in kinds:
        return "it never called valid_step", "no_validation"
    if any(kind == "valid" and ["train", x] in train for kind, x in said):
        return "it called valid_step with batches of `train`", "valid_on_train"
    trained = kinds.count("train") / len(train)
    if trained != epochs:
        return f"it went {trained:g} times through `train`, not {epochs} times", "epochs"
    return (
        "the steps did not get every batch once an epoch, `train` before `valid`",
        "order",
    )


def _wrong_lines(question, lines):
    epochs = question["epochs"]
    if not lines:
        return "no line begins with `Epoch`", "format"
    found = [LINE.fullmatch(line) for line in lines]
    if not all(found):
        return f"this line is not like the example: `{lines[found.index(None)]}`", "format"
    numbers = [int(match[1]) for match in found]
    if numbers != list(range(1, epochs + 1)):
        return f"the epochs printed are {numbers}", "numbering"
    said = [
        dict(zip(NAMES, map(float, match.groups()[1:]), strict=True)) for match in found
    ]
    return _wrong_values(question, said, 0.00051, "prints")


def _wrong_values(question, said, precision, does):
    right = _epochs(question, _mean)
    for number, (row, truth) in enumerate(zip(said, right, strict=True), start=1):
        for name in NAMES:
            if abs(row[name] - truth[name]) > precision:
                reason = (
                    f"epoch {number} {does} {name} {row[name]:.3f}, not {truth[name]:.3f}"
                )
                return reason, _value_hint(question, said)
    return None


def _value_hint(question, said):
    """Which usual mistake gives just these figures."""

    def like(epochs):
        return all(
            abs(row[name] - other[name]) <= 0.00051
            for row, other in zip(said, epochs, strict=True)
            for name in NAMES
        )

    if any(value == 0 for row in said for value in (row["loss"], row["valid_loss"])):
        return "reset_early"
    for kept in ((), NAMES[:2], NAMES[2:]):
        if like(_epochs(question, _mean, reset=kept)):
            return "never_reset"
    return "average" if like(_epochs(question, _mean_of_means)) else "values"


def _wrong_speeds(question, seen):
    """A rate must lie between all newswires by the outer and by the inner time."""
    speeds = numbers_after(seen["printed"], "Newswires/sec:")
    epochs, newswires = question["epochs"], len(question["train"]["x"])
    if len(speeds) != epochs:
        reason = f"{len(speeds)} lines read `Newswires/sec: 812.35`, not {epochs}"
        return reason, "no_speed"
    batches, checks = (len(_batches(question, name)) for name in ("train", "valid"))
    waits = seen["waits"]
    first = waits[0][1]
    for number, said in enumerate(speeds, start=1):
        at = 1 + (number - 1) * (batches + checks)
        before, began = waits[at - 1][1], waits[at][0]
        trained, after = waits[at + batches - 1][1], waits[at + batches][0]
        validated, next_one = (
            waits[at + batches + checks - 1][1],
            waits[at + batches + checks][0],
        )
        low, high = newswires / (after - before), newswires / (trained - began)
        if low - 0.01 <= said <= high + 0.01:
            continue
        reason = (
            f"epoch {number} trained {low:.0f} to {high:.0f} newswires/s, it says {said:g}"
        )
        # The clock, or also the count, was never started anew.
        since = [count / (after - first) for count in (newswires, number * newswires)]
        until = [count / (trained - first) for count in (newswires, number * newswires)]
        if number > 1 and any(
            a <= said + 0.01 and said - 0.01 <= b for a, b in zip(since, until, strict=True)
        ):
            return reason, "whole_training"
        full = batches * question["batch_size"] / newswires
        for part in (batches / newswires, full, 1 / newswires):
            if low * part <= said + 0.01 and said - 0.01 <= high * part:
                return reason, "batches"
        if (
            newswires / (next_one - before)
            <= said + 0.01
            <= newswires / (validated - began)
        ):
            return reason, "validation_counted"
        return reason, "speed"
    return None


def _wrong_bars(question, printed):
    """Before every epoch's line the local time, in the zone that the process is in."""
    bars, lines = 0, 0
    for line in printed:
        lines += line.startswith("Epoch=")
        if not (found := BAR.fullmatch(line)):
            continue
        bars += 1
        *clock, hours, minutes = found.groups()
        if bars != lines + 1:
            return f"bar {bars} does not stand before epoch {bars}", "bar"
        if hours is None:
            return f"`{line[-30:]}` does not say where its time holds", "zone"
        zone = int(hours) * 60 + int(minutes) * (-1 if hours[0] == "-" else 1)
        hour, minute, second = map(int, clock)
        ago = (time.time() - (hour * 60 + minute - zone) * 60 - second) % 86_400
        # A quarter of an hour for the judge to get here; zones differ by more.
        if zone != question["zone_minutes"] or not (ago < 600 or ago > 86_398):
            return (
                f"`{line[-30:]}` is not the local time in the computer's time zone",
                "zone",
            )
    if bars != question["epochs"]:
        return f"{bars} bars with a time were printed, not {question['epochs']}", "bar"
    return None


def _wrong_history(question, history):
    epochs = question["epochs"]
    if not history or sorted(history) != sorted(NAMES):
        return f"it did not return lists for {', '.join(NAMES)}", "history"
    if any(len(history[name]) != epochs for name in NAMES):
        return f"the lists that it returned do not have {epochs} values each", "history"
    rows = [{name: history[name][i] for name in NAMES} for i in range(epochs)]
    if wrong := _wrong_values(question, rows, PRECISION, "returns"):
        return wrong[0], "history"
    return None


CHALLENGES = {"4.1": step_question, "4.2": step_question, "4.3": loop_question}
JUDGES = {"4.1": judge_train_step, "4.2": judge_valid_step, "4.3": judge_loop}
