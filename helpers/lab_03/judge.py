"""Questions, verdicts and hints of lab 03: time to accuracy."""

import statistics

from helpers.checks.judging.timing import numbers_after, training_spans

TITLES = {
    "3.1": "training stops after enough good epochs in a row",
    "3.2": "the time since training began, after every epoch and at the end",
    "3.3": "median and spread of the time to accuracy, failures counted",
}

HINTS = {
    "3.1": {
        "never": "What does Keras look at after every epoch to decide whether it goes on?",
        "early": "How many good epochs in a row does `patience` ask for?",
        "late": "After how many good epochs in a row is it enough: `>` or `>=` patience?",
        "reset": "A good epoch, a bad one, a good one: how many in a row is that?",
        "exceed": "Is an accuracy equal to the target above the target?",
        "metric": "Which of the keys in `logs` is the accuracy on images not trained on?",
        "message": "Is the line printed once, letter by letter, when training stops? Keras counts epochs from 0, readers from 1.",
        "unasked": "The accuracy was never good in enough epochs in a row. Which code prints the line, and when?",
        "raised": "Read Python's error above. Is every `self.` name set before it is used? Do your methods take what Keras gives, such as `on_epoch_end(self, epoch, logs=None)`?",
    },
    "3.2": {
        "nothing": "Which callback methods are called after each epoch, and after the last?",
        "format": "Compare your lines with the example, letter by letter, with the colon.",
        "from_zero": "Keras counts epochs from 0. What should a reader see?",
        "constructor": "When is `__init__` called, and when does training begin?",
        "per_epoch": "Is it the time of one epoch, or all the time since training began?",
        "again": "On a second `fit` the clock must start again. Which method does Keras call then?",
        "raised": "Read Python's error above. Is every `self.` name set before it is used? Do your methods take what Keras gives, such as `on_epoch_end(self, epoch, logs=None)`?",
        "other": "Which two moments does the printed time lie between?",
    },
    "3.3": {
        "sizes": "Which batch sizes are in `runs`? Each of them gets a row.",
        "counts": "How many runs are there of this size, and how many reached the target?",
        "first": "The time of which epoch counts: the first that reaches the target, or the last?",
        "dropped": "Two of three runs never reached the target. Is the third one's time typical?",
        "mean": "Which one does not change when one run is very slow: the mean or the median?",
        "at_target": "If an accuracy is equal to the target, has the run reached it?",
        "raised": "Try it by hand with one run. What do you do when it never reaches the target?",
        "other": "Work out one batch size by hand and compare.",
    },
}


def stopping_question(rng):
    """One training that has to be stopped, and one that is never good for long."""
    target, patience = round(rng.uniform(0.5, 0.9), 3), rng.randint(2, 3)
    low, high = target - 0.1, target + 0.05
    almost = [high] * (patience - 1) + [low]
    stopped = [low] * rng.randint(0, 1) + almost + [high, low, target] + almost
    return {
        "target": target,
        "patience": patience,
        "trainings": [
            [
                {
                    "batch_seconds": [0],
                    # Training looks better than validation: the answer must not use it.
                    "metrics": {"val_accuracy": value, "accuracy": high, "loss": 0.1},
                }
                for value in accuracies
            ]
            for accuracies in (stopped + [high] * (patience + 2), [*almost, target])
        ],
    }


def stopping_epoch(accuracies, target, patience):
    """The number of the epoch after which training stops, or None."""
    met = 0
    for number, accuracy in enumerate(accuracies, start=1):
        met = met + 1 if accuracy > target else 0
        if met >= patience:
            return number
    return None


def judge_stopping(question, observation):
    """Each training stopped after the right epoch or not at all, and said so once."""
    for epochs, seen in zip(question["trainings"], observation["trainings"], strict=True):
        if verdict := _judge_one_stop(question, epochs, seen):
            return verdict
    return None


def _judge_one_stop(question, epochs, seen):
    target, patience = question["target"], question["patience"]
    accuracies = [epoch["metrics"]["val_accuracy"] for epoch in epochs]
    right = stopping_epoch(accuracies, target, patience)
    [ran], [by_epoch] = seen["epochs_run"], seen["printed"]
    if ran != (right or len(epochs)):
        shown = ", ".join(f"{accuracy:.3f}" for accuracy in accuracies)
        said = "did not stop" if ran == len(epochs) else f"stopped after epoch {ran}"
        due = f"had to stop after {right}" if right else "had to go on"
        reason = (
            f"it {said} and {due} (target {target}, patience {patience}, "
            f"validation accuracies {shown})"
        )
        return reason, _stop_hint(question, epochs, right, ran)
    lines = [line for part in by_epoch for line in part]
    said = numbers_after(lines, "Early stopping after epoch")
    if right is None and said:
        return "it says `Early stopping`, though nothing was stopped", "unasked"
    if right is not None and said != [right]:
        shown = f"`{lines[-1]}`" if lines else "nothing"
        return f"it printed {shown}, not `Early stopping after epoch {right}`", "message"
    return None


def _stop_hint(question, epochs, right, ran):
    target, patience = question["target"], question["patience"]
    accuracies = [epoch["metrics"]["val_accuracy"] for epoch in epochs]
    training = [epoch["metrics"]["accuracy"] for epoch in epochs]
    if ran == len(epochs):
        return "never"
    if right is not None and ran > right:
        return "late"
    if ran == stopping_epoch(training, target, patience):
        return "metric"
    if ran == stopping_epoch(accuracies, target - 1e-9, patience):
        return "exceed"
    above = [i for i, accuracy in enumerate(accuracies, 1) if accuracy > target]
    return "reset" if above[patience - 1 : patience] == [ran] else "early"


def total_time_question(rng):
    """Two fits of a few short epochs, some time after the callback was made."""
    return {
        "seconds_before_fit": rng.uniform(0.15, 0.25),
        "fits": [True, True],
        "epochs": [
            {
                "batch_seconds": [rng.uniform(0.03, 0.06) for _ in range(2)],
                "validation_seconds": 0.02,
            }
            for _ in range(3)
        ],
    }


def judge_total_time(question, observation):
    """Each printed time lies between training's time from inside and from outside."""
    label = "Cumulative training time after epoch"
    epochs = len(question["epochs"])
    # The wait between construction and fit came first.
    waits = observation["waits"][1:]
    for fit, by_epoch in enumerate(observation["printed"]):
        lines = [line for part in by_epoch for line in part]
        spans = training_spans(question, waits)[fit]
        if not lines:
            return "it printed nothing", "nothing"
        for number, span in enumerate(spans, start=1):
            printed = numbers_after(lines, f"{label} {number}:")
            if number == 1 and numbers_after(lines, f"{label} 0:"):
                return "it calls the first epoch 0", "from_zero"
            if len(printed) != 1:
                if not any(line.startswith("Cumulative") for line in lines):
                    return f"`{lines[0]}` is not the line that was asked for", "format"
                return f"no line for epoch {number} of {epochs}", "format"
            if verdict := _judge_total(printed[0], number, span, spans, fit):
                return verdict
        last = numbers_after(lines, "Cumulative training time:")
        if len(last) != 1:
            return "no line `Cumulative training time: 40.21` at the end", "nothing"
        if verdict := _judge_total(last[0], epochs, spans[-1], spans, fit):
            return verdict
    return None


def _judge_total(seconds, number, span, spans, fit):
    low = span["validated"] - spans[0]["began"]
    high = span["after"] - spans[0]["before"]
    # Half a hundredth, for the rounding to two decimals.
    if low - 0.006 <= seconds <= high + 0.006:
        return None
    reason = (
        f"after epoch {number} training had run for {low:.2f} to {high:.2f} s, "
        f"it says {seconds:.2f}"
    )
    if seconds > high:
        return (
            (f"when fit was called again, {reason}", "again")
            if fit
            else (
                reason,
                "constructor",
            )
        )
    # The longest of all so far: the first may be slow, and it is part of a mean.
    longest = max(s["after"] - s["before"] for s in spans[:number])
    if number > 1 and seconds <= longest + 0.006:
        return reason, "per_epoch"
    return reason, "other"


def summary_question(rng):
    """Runs that always, mostly, seldom and never reach the target."""
    target, epochs = round(rng.uniform(0.7, 0.9), 3), 5
    runs = []
    # How many reach it, of how many: medians of odd and even numbers differ.
    for batch_size, (reaching, repeats) in zip(
        sorted(rng.sample([8, 16, 32, 64, 128, 256, 512, 1024], 5)),
        rng.sample([(5, 5), (4, 4), (4, 5), (3, 7), (0, 3)], 5),
        strict=True,
    ):
        for seed in range(repeats):
            pace = rng.uniform(1, 9)
            first = rng.randint(1, 2)
            accuracy = [target - 0.1] * epochs
            if seed < reaching:
                # Exactly at the target, and later below it again.
                accuracy[first] = target
                accuracy[first + 1] = target + 0.02
            runs.append(
                {
                    "batch_size": batch_size,
                    "seed": seed,
                    "wall_seconds": [round(pace * (e + 1), 3) for e in range(epochs)],
                    "val_accuracy": accuracy,
                }
            )
    rng.shuffle(runs)
    return {"target": target, "runs": runs}


def time_to_accuracy(run, target):
    """Seconds until a run first reached the target, infinite if it never did."""
    for seconds, accuracy in zip(run["wall_seconds"], run["val_accuracy"], strict=True):
        if accuracy >= target:
            return seconds
    return float("inf")


def judge_summary(question, observation):
    """Median over all runs; runs that never reach the target count as the slowest."""
    summary, target = observation["summary"], question["target"]
    sizes = sorted({run["batch_size"] for run in question["runs"]})
    if sorted(map(int, summary)) != sizes:
        return f"it has rows for {sorted(map(int, summary))}, not {sizes}", "sizes"
    for size in sizes:
        runs = [run for run in question["runs"] if run["batch_size"] == size]
        times = sorted(time_to_accuracy(run, target) for run in runs)
        got_there = [seconds for seconds in times if seconds < float("inf")]
        row = summary[str(size)]
        if (row["reached"], row["runs"]) != (len(got_there), len(runs)):
            strict = sum(any(a > target for a in run["val_accuracy"]) for run in runs)
            hint = "at_target" if strict != len(got_there) == 0 else "counts"
            return (
                f"batch {size}: {len(got_there)} of {len(runs)} runs reached {target}, "
                f"it says {row['reached']} of {row['runs']}"
            ), hint
        median = statistics.median(times)
        for name, right in (
            ("median_seconds", median),
            ("fastest_seconds", min(got_there, default=None)),
            ("slowest_seconds", max(got_there, default=None)),
        ):
            right = None if right == float("inf") else right
            said = row[name]
            if said == right or (said and right and abs(said - right) <= 0.01 * right):
                continue
            shown = "None" if right is None else f"{right:.2f}"
            reason = f"batch {size}: {name} is {shown}, it says {said}"
            return reason, _summary_hint(said, runs, got_there, target)
    return None


def _summary_hint(said, runs, got_there, target):
    """The usual mistake that gives exactly this number."""
    if said is None or not got_there:
        return "other"
    never = float("inf")
    last = [
        run["wall_seconds"][-1] if time_to_accuracy(run, target) < never else never
        for run in runs
    ]
    above = [time_to_accuracy(run, target + 1e-9) for run in runs]
    mistakes = [
        ("dropped", [statistics.median(got_there)]),
        ("mean", [statistics.mean(got_there)]),
        ("first", [min(last), statistics.median(last), max(t for t in last if t < never)]),
        ("at_target", [min(above), statistics.median(above)]),
    ]
    for hint, numbers in mistakes:
        if any(abs(said - number) <= 0.006 for number in numbers):
            return hint
    return "other"


CHALLENGES = {
    "3.1": stopping_question,
    "3.2": total_time_question,
    "3.3": summary_question,
}
JUDGES = {"3.1": judge_stopping, "3.2": judge_total_time, "3.3": judge_summary}
