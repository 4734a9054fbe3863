"""Questions, verdicts and hints of lab 03: time to accuracy."""

import re
import statistics

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.lines import LONGEST, Template, numbers_after
from helpers.checks.judging.timing import constant, training_spans, unclear
from helpers.checks.judging.verdicts import (
    between,
    draw_apart,
    first_wrong,
    near,
    quoted,
    which,
)

NEVER = float("inf")


def make_stopping(rng):
    """Trainings that must stop and that must not, some with a second `fit`."""

    def case(accuracies, target, patience, fits=(True,)):
        # Training looks better than validation: the answer must not use it.
        metrics = [
            {"accuracy": target + 0.06, "loss": 0.1}
            | ({} if value is None else {"val_accuracy": value})
            for value in accuracies
        ]
        return {"target": target, "patience": patience, "metrics": metrics, "fits": fits}

    def drawn(above=0.0002):  # as two of 10,000 images
        target = round(rng.uniform(0.5, 0.9), 2)
        return target, round(target - 0.1, 3), round(target + above, 4), rng.randint(2, 3)

    cases = []
    target, low, high, patience = drawn()
    almost = [high] * (patience - 1)
    # Good enough, but worse from epoch to epoch.
    enough = [round(high + 0.0001 * i, 4) for i in reversed(range(patience))]
    # Whoever missed those stops here, if it asks for more but not for better ones.
    late = [round(high + 0.01 * (9 - i), 4) for i in range(patience)]
    first = [*almost, low, *almost, target, *enough, *late, low]
    cases.append(case(first, target, patience))
    target, low, high, patience = drawn()
    almost = [high] * (patience - 1)
    never = [low, *almost, target, *almost]
    cases.append(case(never, target, patience))
    cases.append(case([*almost, low, *almost], target, patience, [True, True]))
    target, low, high, _ = drawn(above=0.05)
    patience = rng.choice([1, 4])
    stopped = [high] * (patience + 2)
    cases.append(case(stopped, target, patience, [True, True]))
    cases.append(case([None] * (patience + 1), target, patience, [False]))
    rng.shuffle(cases)
    return {"cases": cases}


def stopping_epochs(case, mistake=""):
    """For each `fit` the epoch after which training stops, or None."""
    patience = case["patience"] + {"early": -1, "late": 1}.get(mistake, 0)
    stops, met = [], 0
    for _ in case["fits"]:
        met, stopped, before = met if mistake == "again" else 0, None, 0
        for number, metrics in enumerate(case["metrics"], start=1):
            accuracy = metrics.get("accuracy" if mistake == "metric" else "val_accuracy", 2)
            shift = {"exceed": -1e-9, "coarse": 0.005}.get(mistake, 0)
            above = accuracy > case["target"] + shift
            above = above and (mistake != "falling" or accuracy >= before)
            before = accuracy
            kept = mistake == "reset" or (
                mistake == "at_target" and accuracy == case["target"]
            )
            if accuracy <= 1:  # else there is none
                met = met + 1 if above else met if kept else 0
            if met >= patience:
                # After the last epoch nobody sees whether it was stopped.
                stopped = number if number < len(case["metrics"]) else None
                break
        stops.append(stopped)
    return stops


STOP_MISTAKES = [
    "exceed",
    "coarse",
    "at_target",
    "falling",
    "metric",
    "reset",
    "again",
    "early",
    "late",
]


def stopping_ways(question):
    """For each way of stopping, the last epochs of all cases."""
    ways = {"right": [stopping_epochs(case) for case in question["cases"]]}
    ways["start"] = [[None] * len(case["fits"]) for case in question["cases"]]
    return ways | {
        name: [stopping_epochs(case, name) for case in question["cases"]]
        for name in STOP_MISTAKES
    }


def stopping_question(rng):
    """Trainings in which every usual mistake stops somewhere else."""
    return draw_apart(rng, make_stopping, stopping_ways, lambda one, other: one != other)


def judge_stopping(question, observation):
    """Each training stopped after the right epoch or not at all, and said so once."""
    ways, cases = stopping_ways(question), question["cases"]
    said = [
        [ran if ran < len(case["metrics"]) else None for ran in seen["epochs_run"]]
        for case, seen in zip(cases, observation["cases"], strict=True)
    ]
    hint = which(said, ways, lambda one, other: one == other)
    lines = [
        [[line for part in fit for line in part] for fit in seen["printed"]]
        for seen in observation["cases"]
    ]
    told = any("Early stopping" in line for fits in lines for fit in fits for line in fit)
    if hint == "start" and told:
        hint = "never"
    for case, ends, due in zip(cases, said, ways["right"], strict=True):
        if ends != due:
            reason = f"it stopped after epoch {_epochs(ends)}, not {_epochs(due)}"
            return f"{reason} ({_case(case)})", hint
    pairs = [
        (stop, fit)
        for due, printed in zip(ways["right"], lines, strict=True)
        for stop, fit in zip(due, printed, strict=True)
    ]
    return _wrong_message(pairs) or first_wrong(cases, lines, _says_what_is_missing)


def _wrong_message(pairs):
    """The line is there once where training stopped, and nowhere else."""
    line = Template("Early stopping after epoch {epoch:d}")
    told = [
        [found["epoch"] for one in fit if (found := line.read(one))] for _, fit in pairs
    ]
    for (stop, fit), numbers in zip(pairs, told, strict=True):
        if stop is None and numbers:
            return f"it says {quoted(fit[-1])}, and training went on", "unasked"
    for (stop, fit), numbers in zip(pairs, told, strict=True):
        if stop is not None and numbers != [stop]:
            said = " and ".join(map(quoted, fit[-2:])) or "nothing"
            return f"it printed {said}, not `Early stopping after epoch {stop}`", "message"
    return None


def _says_what_is_missing(case, printed):
    if case["fits"] == [False] and "val" not in str(printed).lower():
        return f"it says nothing about what is missing ({_case(case)})", "missing"
    return None


def _case(case):
    shown = ", ".join(
        f"{metrics.get('val_accuracy', 'none')}" for metrics in case["metrics"]
    )
    what = f"target {case['target']}, patience {case['patience']}"
    return f"{what}, validation accuracies {shown}"


def _epochs(stops):
    return " and ".join("none" if stop is None else str(stop) for stop in stops)


def total_time_question(rng):
    """A `fit` of a few short epochs, and a second one that is stopped early."""
    bases = rng.sample([0.01, 0.04, 0.12], 3)
    if bases[0] == min(bases):  # its first batch must not be too short to be missed
        bases.reverse()
    return {
        "seconds_before_fit": rng.uniform(0.15, 0.2),
        "stopped_after": len(bases) - 1,
        # Of another callback, after the first epoch: they belong to no epoch.
        "seconds_between_epochs": rng.uniform(0.12, 0.16),
        "epochs": [
            {
                "batch_seconds": [rng.uniform(0.8, 1.2) * base for _ in range(2)],
                "validation_seconds": 0.06,
            }
            for base in bases
        ],
    }


EVERY, END = "Cumulative training time after epoch", "Cumulative training time:"
BOTH = END.rstrip(":")
TOTAL = re.compile(rf"{BOTH}(?: after epoch \d+)?: *-?[\d.,]+")

EPOCH = re.compile(rf"{EVERY} (\d{{1,9}}):")


def judge_total_time(question, observation):
    """Each printed time lies between training's time from inside and from outside."""
    printed = [[line for part in fit for line in part] for fit in observation["printed"]]
    if not any(printed):
        return "it printed nothing", "start"
    if verdict := _too_few_decimals(question, printed):
        return verdict
    fits = _spans_of_fits(question, observation["waits"])
    said, said_steps = [], []  # of both fits: in the second two epochs can be alike
    for number, (spans, parts) in enumerate(zip(fits, observation["printed"], strict=True)):
        lines = [line for part in parts for line in part]
        if verdict := _wrong_lines(spans, lines, parts):
            reason, hint = verdict
            if not number:
                return verdict
            return f"{reason} of the second fit, which is stopped early", hint
        epochs = range(1, len(spans) + 1)
        total = [numbers_after(lines, f"{EVERY} {epoch}:")[0] for epoch in epochs]
        shown = ", ".join(f"{seconds:g}" for seconds in total)
        said += total
        said_steps += np.diff([0, *total]).tolist()
        is_constant = constant(said) or constant(said_steps)
        for epoch, span in enumerate([*spans, spans[-1]], start=1):
            label = f"{EVERY} {epoch}:" if epoch <= len(spans) else END
            [seconds] = numbers_after(lines, label)
            low, high = _total(spans, span)
            if abs(100 * seconds - round(100 * seconds)) > 1e-6:
                return f"`{label} {seconds}` has more than two decimals", "decimals"
            # However long the machine lets it wait, the end comes after the last epoch.
            early = label == END and seconds < total[-1] - 0.011
            # Two decimals are rounded, by half a hundredth, or the rest is cut off.
            if between(seconds, low - 0.005, high, 0.006) and not early:
                continue
            if is_constant:
                return (
                    f"after epochs that last very differently it says {shown}",
                    "constant",
                )
            reason = f"`{label} {seconds}` was printed after {low:.2f} to {high:.2f} s"
            if number:
                reason += " of the second fit"
            if label == END and _coarse(lines, total[-1]):
                return f"{reason}, and after the last epoch {total[-1]}", "decimals"
            if label != END and _epochs_only(total, spans):
                return reason, "between"
            hint = _time_hint(seconds, epoch, spans, span, number)
            # Who misses validation is right without it, who starts too early is not.
            known = {True: "validation", False: "constructor"}
            right = _right_without(fits[1], printed[1])
            if hint in known.values() and hint != known[right]:
                hint = "other"
            return reason, hint
        # What is waited before a fit moves all of its times, and none of their steps.
        steps = zip(np.diff([0, *total]), _steps(spans), strict=True)
        if wrong := [step for step, own in steps if not between(step, *own, 0.011)]:
            hint = "between" if _epochs_only(total, spans) else "other"
            hint = "constant" if is_constant else hint
            return f"its epochs took other times than {shown} say: {wrong[0]:.2f}", hint
    return unclear([step for spans in fits for step in _steps(spans)])


def _steps(spans):
    """By epoch the shortest and the longest time since the line before, or the beginning."""
    since = [(spans[0]["before"], spans[0]["began"])]
    since += [(span["validated"], span["after"]) for span in spans[:-1]]
    return [
        (span["validated"] - latest, span["after"] - earliest)
        for span, (earliest, latest) in zip(spans, since, strict=True)
    ]


def _epochs_only(total, spans):
    """Whether each epoch counts as long as it took, and what came between does not."""
    own = [(s["validated"] - s["began"], s["after"] - s["before"]) for s in spans]
    steps = zip(np.diff([0, *total]), own, strict=True)
    return all(between(step, *bounds, 0.011) for step, bounds in steps)


def _too_few_decimals(question, printed):
    """Seconds that are whole, or of one decimal, after every epoch."""
    lines = [line for fit in printed for line in fit if line.startswith(EVERY)]
    whole = [line for line in lines if re.fullmatch(rf"{EVERY} \d+: *\d+", line)]
    if whole:
        return f"{quoted(whole[0])} has no decimals", "decimals"
    said = [
        n
        for fit in printed
        for epoch in range(1, len(question["epochs"]) + 1)
        for n in numbers_after(fit, f"{EVERY} {epoch}:")
    ]
    if any(said) and all(abs(10 * n - round(10 * n)) < 1e-6 for n in said):
        shown = ", ".join(f"{n:g}" for n in said[:9])
        return f"the seconds after its epochs are {shown}", "decimals"
    return None


def _coarse(lines, last):
    """Whether the line at the end gives the last epoch's time with fewer decimals."""
    pattern = re.compile(rf"{END} *(\d{{1,9}}(\.\d)?) *")
    found = (pattern.fullmatch(line[:LONGEST]) for line in lines)
    return any(m and abs(float(m[1]) - last) < (0.11 if m[2] else 1) for m in found)


def _spans_of_fits(question, waits):
    """When the epochs ran: all of the first `fit`, with validation, and some of the second."""
    epochs, at, fits = question["epochs"], 0, []
    for validated, ran in (True, epochs), (False, epochs[: question["stopped_after"]]):
        # Before each fit there is a wait, and within it one more at each end.
        counts = [len(epoch["batch_seconds"]) + validated for epoch in ran]
        count = 2 + sum(counts) + 1
        own = waits[at + 1 : at + 1 + count]
        # The one between the first two epochs is in neither.
        between_epochs = own.pop(1 + counts[0])
        [spans] = training_spans({"epochs": ran, "fits": [validated]}, own)
        spans[0]["after"], spans[1]["before"] = between_epochs
        fits.append(spans)
        at += 1 + count
    if at != len(waits):
        raise ValueError(f"{len(waits)} waits where {at} were due")
    return fits


def _right_without(spans, lines):
    """Whether the first epoch is right in the `fit` without validation."""
    said = numbers_after(lines, f"{EVERY} 1:")
    low, high = _total(spans, spans[0])
    return len(said) == 1 and between(said[0], low, high, 0.015)


def _total(spans, span):
    return span["validated"] - spans[0]["began"], span["after"] - spans[0]["before"]


def _wrong_lines(spans, lines, parts):
    alike = [line for line in lines if line.startswith(BOTH)]
    every = any(line.startswith(EVERY) for line in lines)
    if lines and not every and not lines[0].startswith(END):
        return f"{quoted(lines[0])} is not such a line", "format"
    if other := [line for line in alike if not TOTAL.fullmatch(line[:LONGEST])]:
        return f"{quoted(other[0])} is not such a line", "format"
    if numbers_after(lines, f"{EVERY} 0:"):
        return "it calls the first epoch 0", "from_zero"
    last = max((int(n) for line in alike for n in EPOCH.findall(line)), default=0)
    if last > len(spans):
        return f"it printed a line for epoch {last}", "again"
    for epoch in range(1, len(spans) + 1):
        label = f"{EVERY} {epoch}:"
        count = len(numbers_after(lines, label))
        if count != 1:
            return f"it printed {count} lines for epoch {epoch}", "each_epoch"
        if not numbers_after([*parts[epoch - 1], *parts[epoch]], label):
            return f"it printed `{label}` not then, but later", "each_epoch"
    if sum(line.startswith(EVERY) for line in lines) != len(spans):
        return f"it printed more lines than {len(spans)} epochs need", "each_epoch"
    if len(numbers_after(lines, END)) != 1:
        return "no line `Cumulative training time: 40.21` at the end, or several", "end"
    return None


def _time_hint(seconds, epoch, spans, span, fit):
    low, high = _total(spans, span)
    if between(seconds, 900 * low, 1100 * high):
        return "units"
    if seconds > high:
        return "again" if fit else "constructor"
    # The longest of all so far: the first may be slow, and it is part of a mean.
    longest = max(high for _, high in _steps(spans)[:epoch])
    if epoch > 1 and 0 < seconds <= longest + 0.006:
        return "per_epoch"
    trained = sum(s["trained"] - s["began"] for s in spans[:epoch])
    validated = sum(s["validated"] - s["stopped"] for s in spans[:epoch])
    return "validation" if validated > 0.01 and seconds > 0.9 * trained else "other"


def make_summary(rng):
    """Runs that always, mostly, seldom and never reach the target."""
    target, runs = round(rng.uniform(0.7, 0.9), 2), []
    # How many reach it, of how many: medians of odd and even numbers differ.
    counts = rng.sample([(5, 5), (4, 4), (4, 5), (3, 7), (0, 3), (3, 6), (4, 6)], 7)
    sizes = rng.sample([8, 16, 32, 64, 128, 256, 512, 1024], len(counts))
    for batch_size, (reaching, repeats) in zip(sizes, counts, strict=True):
        for seed in range(repeats):
            pace, first = rng.uniform(1, 9), rng.randint(1, 2)
            low, near_it, high = (round(target + d, 3) for d in (-0.1, -0.002, 0.02))
            accuracy = [rng.choice([low, near_it]) for _ in range(rng.randint(5, 6))]
            if seed < reaching:
                # Exactly at it, then above and below it; or above it at single looks.
                looks = [[target, high, target], [high, low, high]][seed % 2]
                accuracy[first : first + 3] = looks
            runs.append(
                {
                    "batch_size": batch_size,
                    "seed": seed,
                    "wall_seconds": [
                        round(pace * (e + 1), 3) for e in range(len(accuracy))
                    ],
                    "val_accuracy": accuracy,
                }
            )
    rng.shuffle(runs)
    return {"target": target, "runs": runs}


def summary(question, mistake=""):
    """The rows of the table in the order of the sizes, if one makes this mistake."""
    shift = {"at_target": 1e-9, "close": -0.005}.get(mistake, 0)
    target, times = question["target"] + shift, {}
    for run in question["runs"]:
        looks = list(zip(run["wall_seconds"], run["val_accuracy"], strict=True))
        reached = [t for t, accuracy in looks if accuracy >= target]
        first = min(reached, default=NEVER)
        if reached and mistake == "first":
            first = looks[-1][0]
        if reached and mistake == "last":
            first = max(reached)
        if mistake in ("start", "all_reach"):
            first = looks[-1][0] if mistake == "start" or not reached else first
        times.setdefault(run["batch_size"], []).append(first)
    return [_row(times[size], mistake) for size in sorted(times)]


def _row(times, mistake):
    reached = sorted(t for t in times if t < NEVER)
    counted = reached if mistake == "dropped" else sorted(times)
    if mistake in ("start", "mean"):
        middle = statistics.mean(reached) if reached else NEVER
    elif mistake == "upper":
        middle = counted[len(counted) // 2]
    else:
        middle = statistics.median(counted) if counted else NEVER
    return [
        len(times) if mistake == "all_counted" else len(reached),
        len(reached) if mistake == "runs" else len(times),
        None if middle == NEVER else middle,
        min(reached, default=None),
        max(reached, default=None),
    ]


SUMMARY_MISTAKES = [
    "start", "first", "last", "dropped", "mean", "at_target", "upper", "all_counted", "runs",
    "all_reach", "close",
]  # fmt: skip


def summary_ways(question):
    """For each way of summing up, the rows."""
    return {name: summary(question, name) for name in ("right", *SUMMARY_MISTAKES)}


def summary_question(rng):
    """Runs of which every usual mistake makes other rows."""
    return draw_apart(rng, make_summary, summary_ways, lambda one, other: one != other)


def same_rows(said, right):
    """Whether two tables agree, up to rounding to two decimals."""
    return len(said) == len(right) and all(map(_same_row, said, right))


def _same_row(said, right):
    def same(one, other):
        if one is None or other is None:
            return one is other
        return near(1e-6, 0.0051)(one, other)

    return len(said) == len(right) and all(map(same, said, right))


def judge_summary(question, observation):
    """Median over all runs; runs that never reach the target count as the slowest."""
    rows, sizes = observation["rows"], sorted({r["batch_size"] for r in question["runs"]})
    keys = [key for key, _ in rows]
    if any(isinstance(key, str) for key in keys):
        return f"its keys are {', '.join(map(str, keys))[:100]}, not whole numbers", "keys"
    if sorted(keys) != sizes:
        return f"it has rows for {sorted(keys)}, not {sizes}", "sizes"
    said, ways = [row for _, row in sorted(rows)], summary_ways(question)
    hint = which(said, ways, same_rows)
    for size, row, due in zip(sizes, said, ways["right"], strict=True):
        if not _same_row(row, due):
            count = sum(run["batch_size"] == size for run in question["runs"])
            return (
                f"for the {count} runs of batch size {size} it gave {row}, not {due}",
                hint,
            )
    return None


EXERCISES = {
    "3.1": Exercise(
        title="training stops after enough good epochs in a row",
        requirements={
            "stops": "It ends training after `patience` epochs whose accuracy is above `target`.",
            "in_a_row": "An epoch below the target sets the count back to zero.",
            "at_target": "So does an epoch at the target.",
            "metric": "The accuracy is that of validation.",
            "new_fit": "A new `fit` sets the count back.",
            "message": "It prints `Early stopping after epoch 7` once when it stops; the first epoch is 1.",
            "missing": "Without `val_accuracy` it prints what is missing and goes on.",
        },
        question=stopping_question,
        judge=judge_stopping,
        hints={
            "start": "Nothing looks at the epochs yet. Which method does Keras call after each, and what does `logs` hold?",
            "never": "What does Keras look at after every epoch to decide whether it goes on?",
            "early": "How many good epochs in a row does `patience` ask for?",
            "late": "After how many good epochs in a row is it enough: `>` or `>=` patience?",
            "reset": "A good epoch, a bad one, a good one: how many in a row is that?",
            "exceed": "Is an accuracy equal to the target above the target?",
            "falling": "An epoch above the target counts, also if the one before was better. What do you compare with what?",
            "coarse": "An accuracy that is a little above the target is above it. Do you round, or ask for more?",
            "at_target": "A good epoch, one exactly at the target, a good one: how many in a row are above it?",
            "again": "What does your callback still hold of the first `fit` when the second begins? Which method does Keras call then?",
            "metric": "Which of the keys in `logs` is the accuracy on images not trained on?",
            "message": "Is the line printed once, letter by letter, when training stops? Keras counts epochs from 0, readers from 1.",
            "unasked": "Training was not stopped here. Which code prints the line, and when?",
            "missing": "Who trains without validation reads nothing and waits in vain. What could your callback tell them?",
            "raised": "Read Python's error above. Is every `self.` name set before it is used? Does `logs` always have `val_accuracy`? Do your methods take what Keras gives, such as `on_epoch_end(self, epoch, logs=None)`?",
            "other": "Write down the accuracies of the line above, and count by hand: how many in a row are above the target after each?",
        },
    ),
    "3.2": Exercise(
        title="the time since training began, after every epoch and at the end",
        requirements={
            "each_epoch": "It prints `Cumulative training time after epoch 3: 12.34` after every epoch.",
            "from_one": "The first epoch is 1.",
            "end": "It prints `Cumulative training time: 40.21` once more at the end, also of a training that is stopped early.",
            "decimals": "The seconds have two decimals.",
            "began": "The time runs since training began, not since the callback was made.",
            "total": "It is all the time so far, also what passes between two epochs.",
            "validation": "Validation is included.",
            "new_fit": "Each call of `fit` starts again from zero.",
        },
        question=total_time_question,
        judge=judge_total_time,
        hints={
            "start": "Nothing is printed yet. Which callback methods are called when training begins, after each epoch, and after the last?",
            "each_epoch": "Is there one line for each epoch? Which method does Keras call after every one?",
            "end": "Which method does Keras call once, when training is over, however many epochs were asked for?",
            "format": "Compare your lines with the example, letter by letter: the colon, and the number at the end.",
            "from_zero": "Keras counts epochs from 0. What should a reader see?",
            "constructor": "When is `__init__` called, and when does training begin?",
            "constant": "Does each number come from a clock? The epochs of this training are not equally long.",
            "per_epoch": "Is it the time of one epoch, or all the time since training began?",
            "between": "Between two epochs other callbacks may be at work. Do you add up what each epoch took, or does your clock go on?",
            "validation": "After an epoch comes its validation. When does your clock stop?",
            "units": "Seconds, or milliseconds?",
            "decimals": "With how many decimals does the example give the seconds?",
            "again": "On a second `fit` the clock and the number of the epoch must start again. Which method does Keras call then?",
            "raised": "Read Python's error above. Is every `self.` name set before it is used? Do your methods take what Keras gives, such as `on_epoch_end(self, epoch, logs=None)`?",
            "other": "Which two moments does the printed time lie between? Print both clock readings.",
        },
    ),
    "3.3": Exercise(
        title="median and spread of the time to accuracy, failures counted",
        requirements={
            "rows": "There is a row for every batch size, under the batch size itself.",
            "counts": "`reached` counts the runs that reach the target, `runs` all of them.",
            "first": "The time of a run is the wall time at its first look with the target.",
            "at_least": "An accuracy equal to the target has reached it.",
            "median": "`median_seconds` is the median of the times.",
            "infinite": "A run that never arrives counts in the median as infinitely slow.",
            "spread": "It never counts in `fastest_seconds` and `slowest_seconds`.",
            "none": "Where a figure does not exist, or is infinite, it is `None`.",
        },
        question=summary_question,
        judge=judge_summary,
        hints={
            "start": "It takes the end of every run, whether it reached the target or not, and a mean. Which look of a run counts, and what if there is none?",
            "sizes": "Which batch sizes are in `runs`? Each of them gets a row.",
            "keys": 'Are `32` and `"32"` the same key? Which one does a run have under `batch_size`?',
            "all_counted": "Which runs have reached the target? Is that all of them?",
            "runs": "How many runs are there of this size, with those that never arrived?",
            "all_reach": "Which time does a run get that never reached the target: the time at which it ended?",
            "first": "Is the last look of a run the one that counts?",
            "last": "Several looks of a run may be at the target. Which of them counts?",
            "dropped": "Two of three runs never reached the target. Is the third one's time typical?",
            "mean": "Which one does not change when one run is very slow: the mean or the median?",
            "upper": "Four times: which one is in the middle? What does `statistics.median` do?",
            "close": "Has a run reached the target at an accuracy a little below it? Do you round?",
            "at_target": "If an accuracy is equal to the target, has the run reached it?",
            "raised": "Try it by hand with one run. What do you do when it never reaches the target?",
            "other": "Work out one batch size by hand and compare.",
        },
    ),
}
