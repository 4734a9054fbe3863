"""Judge an epoch loop: what it called, printed and returned, and how long that took."""

import re
import time

import numpy as np

from helpers.checks.judging.timing import numbers_after
from helpers.checks.judging.tiny_network import mean, mean_of_means

LINE = re.compile(
    r"Epoch=(\d+), Loss:(\d+\.\d{3}), Accuracy:(\d\.\d{3}), "
    r"Valid Loss:(\d+\.\d{3}), Valid Accuracy:(\d\.\d{3})"
)
BAR = re.compile(r"=+.*?(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?: ?([+-]\d\d):?(\d\d))?\D*")
NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")
PRECISION = 1e-3


def loop_question(rng):
    """A few rows with given losses, steps that take time, and a distant time zone."""

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
            # Long enough that other work on the machine cannot hide a mistake.
            "batch_seconds": {"train": rng.uniform(0.05, 0.08), "valid": 0.06},
            "zone_minutes": minutes,
            # POSIX counts zones west of UTC as positive.
            "time_zone": f"LAB{'-' if minutes > 0 else '+'}{hours}:{rest:02d}",
        }
        right, sloppy = _epochs(question, mean), _epochs(question, mean_of_means)
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


def _epochs(question, average, reset=NAMES):
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
        epochs.append({name: average(parts) for name, parts in seen.items()})
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
    right = _epochs(question, mean)
    for number, (row, truth) in enumerate(zip(said, right, strict=True), start=1):
        for name in NAMES:
            if abs(row[name] - truth[name]) > precision:
                reason = (
                    f"epoch {number} {does} {name} {row[name]:.3f}, not {truth[name]:.3f}"
                )
                return reason, _value_hint(question, said)
    return None


def _value_hint(question, said):
    """The usual mistake that gives exactly these numbers."""

    def like(epochs):
        return all(
            abs(row[name] - other[name]) <= 0.00051
            for row, other in zip(said, epochs, strict=True)
            for name in NAMES
        )

    if any(value == 0 for row in said for value in (row["loss"], row["valid_loss"])):
        return "reset_early"
    for kept in ((), NAMES[:2], NAMES[2:]):
        if like(_epochs(question, mean, reset=kept)):
            return "never_reset"
    return "average" if like(_epochs(question, mean_of_means)) else "values"


def _wrong_speeds(question, seen):
    """A rate must lie between all newswires over the outer and over the inner time."""
    speeds = numbers_after(seen["printed"], "Newswires/sec:")
    epochs, newswires = question["epochs"], len(question["train"]["x"])
    if len(speeds) != epochs:
        reason = f"{len(speeds)} lines look like `Newswires/sec: 812.35`, not {epochs}"
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
        # The clock, or the clock and the count, never started again.
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
    """Before every epoch's line a bar with the local time, in the process's time zone."""
    bars, lines = 0, 0
    for line in printed:
        lines += line.startswith("Epoch=")
        if not (found := BAR.fullmatch(line)):
            continue
        bars += 1
        *clock, hours, minutes = found.groups()
        if bars != lines + 1:
            return f"bar {bars} does not come before epoch {bars}", "bar"
        if hours is None:
            return f"`{line[-30:]}` does not name its time zone", "zone"
        zone = int(hours) * 60 + int(minutes) * (-1 if hours[0] == "-" else 1)
        hour, minute, second = map(int, clock)
        ago = (time.time() - (hour * 60 + minute - zone) * 60 - second) % 86_400
        # The judge may get here minutes later; zones differ by more.
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
