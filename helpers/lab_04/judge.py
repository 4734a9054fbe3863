"""Questions, verdicts and hints of lab 04: a custom training loop."""

import re
import time

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging import trainer
from helpers.checks.judging.lines import Template
from helpers.checks.judging.timing import constant, unclear
from helpers.checks.judging.trainer import mean, mean_of_means
from helpers.checks.judging.verdicts import (
    all_near,
    between,
    draw_apart,
    near,
    number_of,
    quoted,
    which,
)

PRECISION = 1e-3  # float32 on any device, after a few steps
NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")
LINE = Template(
    "Epoch={epoch:d}, Loss:{loss:.3f}, Accuracy:{accuracy:.3f}, "
    "Valid Loss:{valid_loss:.3f}, Valid Accuracy:{valid_accuracy:.3f}"
)
SPEED = re.compile(r"Newswires/sec: *(\d[\d,]{0,15}\.\d\d+)")
# One `=`: those after it are in the next class, and two repeats of one sign are slow.
BAR = re.compile(
    r"=[^\w+-]*(\d\d):(\d\d):(\d\d)(?:\.\d+)?"
    r"(?: ?([+-]\d\d):?(\d\d))?(?: [A-Z]+)?\W*"
)
BARS = "======== 10:02:03+0100"
PRINTED = 0.00051  # what three digits leave open
LETTERS = {"train": "T", "valid": "V", "busy": "r", "read": "r"}
TRAINING, VALIDATION = NAMES[:2], NAMES[2:]
STEPS_SEEN = {
    "weights", "saw", "trained_on", "network_runs", "trainable", "metrics",
    "optimizer_runs", "graphs_apart", "changed",
}  # fmt: skip
same_weights = all_near(PRECISION, PRECISION)


def make_steps(rng):
    """As `_draw_steps`, with a gradient that clipping at 5, as many do, makes shorter."""
    while _longest_gradient(question := _draw_steps(rng)) < 5.2:
        pass
    return question


def _longest_gradient(question):
    weights = [[np.array(w) for w in question["weights"]], *trained(question).after]
    mask = np.array(question["mask"])
    return max(
        np.sqrt(sum(np.square(g).sum() for g in trainer.backward(before, batch, mask)[2]))
        for before, batch in zip(weights, question["batches"], strict=False)
    )


def _draw_steps(rng):
    """Weights, batches of several sizes, and metrics that have counted before."""
    return {
        "weights": trainer.draw_weights(rng, 3, 4, 3),
        "mask": rng.sample([0.0, 2.0, 2.0, 0.0], 4),
        "learning_rate": round(rng.uniform(0.05, 0.2), 3),
        "momentum": 0.9,
        # More steps than a graph needs tracings.
        "batches": trainer.draw_batches(rng, [4, 4, 1, 4, 4, 4, 2]),
        "metrics": {
            name: [rng.choice([2.0, 3.0]), rng.choice([5.0, 7.0])]
            for name in TRAINING + VALIDATION
        },
    }


def trained(question, mask=None, **mistake):
    """The weights, losses and right answers of right training, or with a mistake."""
    mistake = {"momentum": question["momentum"]} | mistake
    mask = np.array(question["mask"]) if mask is None else mask
    weights, batches = question["weights"], question["batches"]
    return trainer.train(weights, batches, question["learning_rate"], mask=mask, **mistake)


def weight_ways(question):
    """For each way of training, the weights that it leads to."""
    return {
        "right": trained(question).weights,
        "inference": trained(question, mask=1.0).weights,
        "sum": trained(question, share=lambda batch: 1).weights,
        "optimizer": trained(question, momentum=0.0).weights,
        "unchanged": [np.array(w) for w in question["weights"]],
    }


def metric_ways(before, parts):
    """For each way of counting, what a metric then shows."""
    total, count = before
    values = np.concatenate(parts)
    return {
        "right": (total + values.sum()) / (count + len(values)),
        "no_metrics": total / count,
        "average": (total + sum(p.mean() for p in parts)) / (count + len(parts)),
        "summed": (total + values.sum()) / (count + len(parts)),
        "reset": mean(parts[-1:]),
    }


def step_ways(question):
    """All ways, each with what it changes: only those of one kind are compared."""
    ways = {name: ("weights", way) for name, way in weight_ways(question).items()}
    training, inference = trained(question), _inferred(question)
    for run, pair in (("training", (training.losses, training.right)), ("", inference)):
        for kind, parts in zip(TRAINING, pair, strict=True):
            for name in (kind, f"valid_{kind}"):
                found = metric_ways(question["metrics"][name], parts)
                if kind == "accuracy":  # nobody sums these
                    del found["summed"]
                ways |= {
                    (run, name, way): ((run, name), value) for way, value in found.items()
                }
    return ways


def _inferred(question):
    return trainer.evaluate(question["weights"], question["batches"])


def _apart(one, other):
    if one[0] != other[0]:
        return True
    if one[0] == "weights":
        return not all_near(20 * PRECISION, 20 * PRECISION)(one[1], other[1])
    return abs(one[1] - other[1]) > 10 * PRECISION


def step_question(rng):
    """Steps that show each usual mistake."""
    return draw_apart(rng, make_steps, step_ways, _apart)


def judge_train_step(question, seen):
    """Weights and metrics after all steps are those that NumPy computes."""
    _want_all(seen)
    right, batches = trained(question), question["batches"]
    before, metrics = question["metrics"], seen["metrics"]
    if seen["trainable"] != len(question["weights"]):
        return _now_trainable(seen), "frozen"
    if not same_weights(seen["weights"], right.weights):
        hint = which(seen["weights"], weight_ways(question), same_weights)
        if hint == "unchanged" and metrics["loss"] == before["loss"]:
            hint = "start"
        still = [
            near(0, 1e-6)(said, was)
            for said, was in zip(seen["weights"], question["weights"], strict=True)
        ]
        if hint == "other" and any(still):
            hint = "frozen"
        moved = f"{len(still) - sum(still)} of {len(still)} weights moved"
        return f"after all steps the weights are wrong ({moved})", hint
    examples = sum(len(batch["y"]) for batch in batches)
    if seen["saw"] > examples:
        return f"of {examples} newswires the layers saw {seen['saw']:.0f}", "twice"
    if any(metrics[name] != before[name] for name in VALIDATION):
        return "it changed the metrics of validation", "valid_metrics"
    pairs = zip(TRAINING, (right.losses, right.right), strict=True)
    if wrong := _wrong_metrics(question, seen, pairs) or _ran_in_python(question, seen):
        return wrong
    if not seen["optimizer_runs"]:
        return "the optimizer that was given made no step", "optimizer"
    if seen["graphs_apart"]:
        return "the network runs in one graph, and the optimizer in another", "eager"
    return None


def judge_valid_step(question, seen):
    """Loss and accuracy are those of inference, and the network is unchanged."""
    _want_all(seen)
    before, metrics = question["metrics"], seen["metrics"]
    if seen["trained_on"] and metrics["valid_loss"] == before["valid_loss"]:
        return "the layers ran as in training, and `valid_loss` stayed as it was", "start"
    if not all_near(0, 1e-6)(seen["weights"], question["weights"]):
        return "validation changed the weights", "learned"
    if seen["trainable"] != len(question["weights"]):
        return _now_trainable(seen), "frozen"
    if seen["trained_on"]:
        return "the layers ran as in training", "training"
    if any(metrics[name] != before[name] for name in TRAINING):
        return "it changed the metrics of training", "train_metrics"
    pairs = zip(VALIDATION, _inferred(question), strict=True)
    if wrong := _wrong_metrics(question, seen, pairs) or _ran_in_python(question, seen):
        return wrong
    if seen["saw"] < sum(len(batch["y"]) for batch in question["batches"]):
        return "validation changed a variable of the model that is not trained", "learned"
    return None


def _want_all(seen):
    """Both exercises have the same probe, and each judge needs only a part of what it says."""
    if missing := STEPS_SEEN - set(seen):
        raise ValueError(f"a reply without {missing}")


def _now_trainable(seen):
    return f"afterwards the model has {number_of(seen['trainable'], 'trainable weight')}"


def _wrong_metrics(question, seen, pairs):
    for name, parts in pairs:
        total, count = seen["metrics"][name]
        said = total / count if count else 0.0
        ways = metric_ways(question["metrics"][name], parts)
        hint = which(said, ways, near(0, PRECISION), "metrics")
        if hint != "right":
            return f"the metric `{name}` is {said:.4f}, not {ways['right']:.4f}", hint
    return None


def _ran_in_python(question, seen):
    steps = len(question["batches"])
    for what in ("network", "optimizer"):
        if (runs := seen[f"{what}_runs"]) >= steps:
            return (
                f"Python ran the {what} {runs} times for {steps} batches: no graph was kept"
            ), "eager"
    return None


def make_loop(rng):
    """A few rows with given losses, steps that take time, and a distant time zone."""

    def rows(n):
        x = [round(rng.uniform(1, 9), 3) for _ in range(n)]
        return {"x": x, "y": [rng.randrange(4) for _ in range(n)]}

    zones = _afternoons()
    # Not `choice`: how often that draws depends on the list, and so on the time of day.
    minutes = zones[int(rng.random() * len(zones))]
    hours, rest = divmod(abs(minutes), 60)
    return {
        "batch_size": 4,
        "train": rows(rng.choice([9, 10, 11])),
        "valid": rows(rng.choice([5, 6, 7])),
        "epochs": rng.choice([3, 4]),
        "seconds": {
            "train": rng.uniform(0.015, 0.025),
            # One epoch is many times as long as another: no rate is that of both. And
            # between the first bar and the last a clock moves on by a second.
            "device": rng.choice([[0.9, 0.03, 0.12, 0.03], [0.06, 0.9, 0.03, 0.12]]),
            "valid": 0.02,
        },
        "secret": {"zone_minutes": minutes},
        # POSIX counts zones west of UTC as positive.
        "time_zone": f"LAB{'-' if minutes > 0 else '+'}{hours}:{rest:02d}",
    }


def _afternoons():
    """Time zones, in minutes, in which it is 13 to 22 o'clock: no hour of a morning."""
    past = time.time() // 60
    zones = range(-690, 780, 75)
    return [zone for zone in zones if 13 <= (past + zone) // 60 % 24 < 22]


def loop_question(rng):
    """Rows of which every usual mistake makes other figures."""
    return draw_apart(
        rng, make_loop, loop_ways,
        lambda a, b: a[0] != b[0] or np.abs(np.subtract(a[1], b[1])).max() > 4 * PRINTED,
    )  # fmt: skip


def loop_ways(question):
    """For each metric and each way of keeping it, its value after every epoch."""
    return {
        (name, way): (name, column)
        for name in NAMES
        for way, column in column_ways(question, name).items()
    }


def batches(question, kind):
    """The batches of `train` or `valid`: rows and labels."""
    size, rows = question["batch_size"], question[kind]
    return [
        (np.array(rows["x"][at : at + size]), np.array(rows["y"][at : at + size]))
        for at in range(0, len(rows["x"]), size)
    ]


def column_ways(question, name):
    """For each way of keeping a metric, its value after every epoch."""
    kind = "valid" if name.startswith("valid") else "train"
    per_epoch = len(batches(question, "train"))
    epochs = []
    for epoch in range(question["epochs"]):
        parts = []
        for number, (x, y) in enumerate(batches(question, kind)):
            trained = epoch * per_epoch + (per_epoch if kind == "valid" else number)
            # Neither falls nor rises in every epoch.
            loss, right = x / (1 + trained % 5), ((y + trained) % 4 == 0).astype(float)
            parts.append(loss if "loss" in name else right)
        epochs.append(parts)
    return {
        "right": [mean(parts) for parts in epochs],
        "average": [mean_of_means(parts) for parts in epochs],
        "never_reset": [
            mean([part for parts in epochs[: i + 1] for part in parts])
            for i in range(len(epochs))
        ],
        "last_batch": [mean(parts[-1:]) for parts in epochs],
    }


def judge_loop(question, seen):
    """The right calls in the right order, then every line, then what was returned."""
    printed = [line for part in seen["printed"] for line in part]
    return (
        _wrong_calls(question, seen, printed)
        or _wrong_reads(seen["events"])
        or _wrong_lines(question, printed)
        or _wrong_moments(question, seen)
        or _wrong_speeds(question, seen, printed)
        or _wrong_bars(question, seen, printed)
        or _wrong_history(question, seen["history"])
        or unclear(
            [
                (span["trained"] - span["began"], span["after"] - span["before"])
                for span in _spans(question, seen)
            ]
        )
    )


def _wrong_calls(question, seen, printed):
    train, valid = (
        [[kind, x.tolist()] for x, _ in batches(question, kind)]
        for kind in ("train", "valid")
    )
    said = [event for event in seen["events"] if event[0] in ("train", "valid")]
    kinds, epochs = [kind for kind, _ in said], question["epochs"]
    if said == (train + valid) * epochs:
        return None
    if "valid" not in kinds:
        start = not any(map(LINE.read, printed)) and not seen["history"]
        return "it never called valid_step", "start" if start else "no_validation"
    if any(kind == "valid" and ["train", x] in train for kind, x in said):
        return "it called valid_step with batches of `train`", "valid_on_train"
    times = kinds.count("train") / len(train)
    if times != epochs:
        went = f"it went {number_of(times, 'time')} through `train`"
        return f"{went}, not {number_of(epochs, 'time')}", "epochs"
    return "the steps did not get every batch once an epoch, `train` first", "order"


def _wrong_reads(events):
    """One reading waits for the device, at the end of each training; none between."""
    kinds = re.sub("r+", "r", "".join(LETTERS[kind] for kind, _ in events))
    if re.search("TrT|VrV", kinds):
        return "metrics were read between two batches of an epoch", "reads_often"
    if "TV" in kinds:
        return "between training and validation no metric was read", "device"
    return None


def _wrong_lines(question, printed):
    lines = [line for line in printed if line.startswith("Epoch")]
    if not lines:
        return "no line begins with `Epoch`", "format"
    found = [LINE.read(line) for line in lines]
    if None in found:
        return f"not like the example: {quoted(lines[found.index(None)], 90)}", "format"
    numbers = [int(one["epoch"]) for one in found]
    if numbers != list(range(1, question["epochs"] + 1)):
        return f"the epochs printed are {numbers}", "numbering"
    columns = {name: [one[name] for one in found] for name in NAMES}
    return _wrong_values(question, columns, "prints", PRINTED)


def _wrong_values(question, columns, does, rounding):
    for name in NAMES:
        said, ways = columns[name], column_ways(question, name)
        hint = which(said, ways, near(0, rounding), "values")
        if hint == "right":
            continue
        if "loss" in name and 0 in said:
            hint = "reset_early"
        right = ways["right"]
        i = next(i for i, value in enumerate(said) if abs(value - right[i]) > rounding)
        return f"epoch {i + 1} {does} {name} {said[i]:.5g}, not {right[i]:.5g}", hint
    return None


def _wrong_moments(question, seen):
    """A bar, the training, the validation and two lines, in every epoch."""
    steps = [LETTERS[kind] for kind, _ in seen["events"] if kind in ("train", "valid")]
    moments = ""
    for lines, step in zip(seen["printed"], [*steps, ""], strict=True):
        moments += "".join(map(_letter, lines)) + step
    moments = re.sub("T+", "T", re.sub("V+", "V", moments))
    epochs = question["epochs"]
    for letter, hint, what in (
        ("s", "no_speed", "Newswires/sec: 812.35"),
        ("b", "bar", BARS),
    ):
        if (count := moments.count(letter)) != epochs:
            lines = number_of(count, "line")
            return f"it printed {lines} like `{what}`, not {epochs}", hint
    if re.sub("[es]", "", moments) != "bTV" * epochs:
        return "a bar did not come just before its epoch", "bar"
    if not re.fullmatch("(bTVes|bTVse|bTsVe)+", moments):
        return "an epoch's lines came before it was over, or after the next began", "late"
    return None


def _letter(line):
    kinds = {"e": LINE.read(line), "s": SPEED.fullmatch(line), "b": BAR.fullmatch(line)}
    return next((letter for letter, found in kinds.items() if found), "")


def _spans(question, seen):
    """When each epoch's training ran, from inside and from outside."""
    steps, checks = (len(batches(question, kind)) for kind in ("train", "valid"))
    waits, at = seen["waits"], 1
    for _ in range(question["epochs"]):
        last, busy = waits[at + steps - 1], waits[at + steps]
        end = at + steps + 1 + checks
        yield {
            "before": waits[at - 1][1],
            "began": waits[at][0],
            "returned": last[1],
            "busy": busy[0],
            "trained": busy[1],
            "after": waits[at + steps + 1][0],
            "validated": waits[end - 1][1],
            "next": waits[end][0],
        }
        at = end
    if len(waits) != at + 1:
        raise ValueError(f"{len(waits)} waits where {at + 1} were due")


def _wrong_speeds(question, seen, printed):
    """A rate must lie between all newswires over the outer and over the inner time."""
    newswires, spans = len(question["train"]["x"]), list(_spans(question, seen))
    found = [match for line in printed if (match := SPEED.fullmatch(line))]
    rates = [float(match[1].replace(",", "")) for match in found]
    # A sleep makes room for it between the bounds.
    if constant(rates, spread=0.15):
        # Without the device's time the epochs are equally long, but not that long.
        steps = min(newswires / (span["returned"] - span["began"]) for span in spans)
        if rates[0] > 0.3 * steps:
            return f"it says {rates[0]:g}: the device was still busy", "device"
        return f"it says {rates[0]:g} of epochs that last very differently", "constant"
    for number, (said, span) in enumerate(zip(rates, spans, strict=True), start=1):
        low = newswires / (span["after"] - span["before"])
        high = newswires / (span["trained"] - span["began"])
        if between(said, low, high, 0.01):
            continue
        reason = (
            f"epoch {number} trained {low:.1f} to {high:.1f} newswires/s, it says {said:g}"
        )
        return reason, _speed_hint(question, said, spans[:number])
    return None


def _speed_hint(question, said, spans):
    """The usual mistake whose bounds hold the printed rate."""
    newswires, per_epoch = len(question["train"]["x"]), len(batches(question, "train"))
    number, first, span = len(spans), spans[0], spans[-1]

    def rate(before, after, began, ended, count=newswires):
        return count / (after - before), count / (ended - began)

    usual = span["before"], span["after"], span["began"], span["trained"]
    since = first["before"], span["after"], first["began"], span["trained"]
    low, high = rate(*usual)
    ways = {
        "device": [rate(span["before"], span["busy"], span["began"], span["returned"])],
        "whole_training": [
            rate(*since), rate(*since, number * newswires), rate(*usual, number * newswires),
            rate(0, sum(one["after"] - one["before"] for one in spans),
                 0, sum(one["trained"] - one["began"] for one in spans),
                 number * newswires),
        ],
        "batches": [rate(*usual, count) for count in
                    (per_epoch, per_epoch * question["batch_size"], 1)],
        "validation_counted": [
            rate(span["before"], span["next"], span["began"], span["validated"])
        ],
        "inverted": [(1 / high, 1 / low)],
    }  # fmt: skip
    if number == 1:  # in the first epoch this is no mistake
        del ways["whole_training"]
    return which(
        said, ways, lambda said, pairs: any(between(said, *pair, 0.01) for pair in pairs),
        "speed",
    )  # fmt: skip


def _wrong_bars(question, seen, printed):
    """Each bar has the local time of its moment, in the process's time zone."""
    times = []
    for line in printed:
        if not (found := BAR.fullmatch(line)):
            continue
        *clock, hours, minutes = found.groups()
        if hours is None:
            return f"`{line[-30:]}` does not name its time zone", "zone"
        zone = int(hours) * 60 + int(minutes) * (-1 if hours[0] == "-" else 1)
        hour, minute, second = map(int, clock)
        times.append((hour * 60 + minute - zone) * 60 + second)
        ago = (time.time() - times[-1]) % 86_400
        if zone == question["secret"]["zone_minutes"] and 43_198 < ago < 43_800:
            return f"`{line[-30:]}` is twelve hours away from the local time", "noon"
        # The judge may get here minutes later; zones differ by more.
        if zone != question["secret"]["zone_minutes"] or not (ago < 600 or ago > 86_398):
            return f"`{line[-30:]}` is not the local time in the local time zone", "zone"
    spans = list(_spans(question, seen))
    for number, (at, span) in enumerate(zip(times, spans, strict=True), start=1):
        least, most = span["before"] - spans[0]["began"], span["began"] - spans[0]["before"]
        seconds = (at - times[0] + 43_200) % 86_400 - 43_200
        if not between(seconds, least, most, 1):
            return (
                f"bar {number} says that {seconds} s have passed since the first one, but "
                f"it was {least:.1f} to {most:.1f} s"
            ), "stale"
    return None


def _wrong_history(question, history):
    epochs = question["epochs"]
    if not history or sorted(history) != sorted(NAMES):
        return f"it did not return lists for {', '.join(NAMES)}", "history"
    if any(len(history[name]) != epochs for name in NAMES):
        return f"the lists that it returned do not have {epochs} values each", "history"
    if any(None in values for values in history.values()):
        return "the lists that it returned hold something else than numbers", "history"
    if wrong := _wrong_values(question, history, "returns", 1e-5):
        return wrong[0], "history"
    return None


EXERCISES = {
    "4.1": Exercise(
        title="one step moves the weights just as it should, and keeps count",
        requirements={
            "gradient": "It moves the weights along the gradient of the batch's mean loss.",
            "all_weights": "It moves all of the model's trainable variables, and leaves them trainable.",
            "optimizer": "The optimizer does the moving.",
            "training": "The model runs in training.",
            "once": "It calls the model once.",
            "loss": '`metrics["loss"]` becomes the mean over all newswires so far.',
            "accuracy": '`metrics["accuracy"]` takes topics and probabilities.',
            "only_these": "The other metrics stay as they are.",
            "graph": "It is a graph.",
        },
        question=step_question,
        judge=judge_train_step,
        hints={
            "start": "It counts the right answers, and nothing learns yet. Which line of your step shall move the weights, and what does it need?",
            "unchanged": "You have gradients. Which object uses them to move the weights?",
            "frozen": "Which variables does your step move, and which may still learn afterwards? Compare with `model.trainable_variables`.",
            "inference": "Some layers behave differently in training. Which argument of the model's call tells them?",
            "sum": "With twice as many newswires in a batch, should a step be twice as long? Sum, or mean?",
            "optimizer": "Momentum, Nadam and the others remember earlier gradients. Who does the arithmetic in your step: you, or the optimizer?",
            "twice": "How often does your step call the model? Can predictions be used a second time?",
            "no_metrics": "Which two metrics are to be updated in training, and what does `update_state` take?",
            "valid_metrics": "Training and validation have metrics of their own. Which are yours here?",
            "average": "The last batch may be smaller. If every batch's mean counts once, does every newswire count once, too?",
            "summed": "A metric of this kind divides by how many values it got. How many do you give it for a batch, and what are they?",
            "reset": "The metric is to hold all newswires so far. Which of your lines makes it forget those of earlier batches?",
            "metrics": "What do you give to `update_state`: the same losses and probabilities as the gradient comes from, each newswire once?",
            "eager": "Which of your lines does Python run again for every batch? What stands above the line `def train_step`, so that all of them become one graph?",
            "raised": "Read Python's error above. Does the step take (model, optimizer, metrics, x, y), and nothing from outside?",
            "other": "Which loss is the gradient of, and for which variables? In which direction do you go, and how often?",
        },
    ),
    "4.2": Exercise(
        title="validation measures, and changes nothing",
        requirements={
            "weights": "It changes no weight of the model.",
            "trainable": "It changes nothing else in the model: what could be trained still can.",
            "inference": "The model does not run as in training.",
            "loss": '`metrics["valid_loss"]` becomes the mean over all newswires so far.',
            "accuracy": '`metrics["valid_accuracy"]` becomes the share of right answers so far.',
            "only_these": "The other metrics stay as they are.",
            "graph": "It is a graph.",
        },
        question=step_question,
        judge=judge_valid_step,
        hints={
            "start": "Two things are still to do: a second metric, and what the layers do. What does dropout do when you say `training=True`?",
            "learned": "Which line of yours changes a weight? Is there anything to learn in validation?",
            "frozen": "The next training step uses the same model. What can it still train, after your step?",
            "training": "Dropout leaves out values in training. Should it do so in validation? Which argument says so?",
            "no_metrics": "Which two metrics are to be updated here, and what does `update_state` take?",
            "train_metrics": "Training and validation have metrics of their own. Which do you update or reset here?",
            "average": "The last batch may be smaller. If every batch's mean counts once, does every newswire count once, too?",
            "summed": "A metric of this kind divides by how many values it got. How many do you give it for a batch, and what are they?",
            "reset": "The metric is to hold all newswires so far. Which of your lines makes it forget those of earlier batches?",
            "metrics": "Compute by hand what the loss and the accuracy of one batch are, and compare.",
            "eager": "What stands above the line `def valid_step`, so that Python runs once and not for every batch?",
            "raised": "Read Python's error above. Does the step take (model, metrics, x, y), and nothing from outside?",
        },
    ),
    "4.3": Exercise(
        title="every epoch trains, validates, and reports its own figures",
        requirements={
            "train": "Every epoch goes once through `train`.",
            "valid": "Then it goes once through `valid`.",
            "bar": "Before each epoch comes a line of `=` with the time.",
            "zone": "It is the local time, with its distance from world time.",
            "line": "The second line looks like the example.",
            "number": "The first epoch is 1.",
            "own": "Each epoch's figures are its own.",
            "places": "Each figure stands in its place.",
            "speed_line": "One line looks like `Newswires/sec: 812.35`.",
            "newswires": "It counts newswires.",
            "seconds": "It divides by the seconds of this epoch's training.",
            "without_validation": "Validation is not in the seconds.",
            "device": "A metric is read after the last training batch, before the clock stops.",
            "seldom": "Between two batches no metric is read.",
            "when": "The two lines come before the next epoch begins.",
            "returned": "It returns a list for each metric, with the value after every epoch, a number.",
        },
        question=loop_question,
        judge=judge_loop,
        hints={
            "start": "It trains, and no more. What has to happen after the last batch of `train`, and what does a reader want to see of each epoch?",
            "epochs": "Count: how often does your loop go through all of `train`?",
            "no_validation": "When is `valid_step` called, and with what?",
            "valid_on_train": "Validation asks how the network does on newswires that it has not seen. Which of the two sets are those?",
            "order": "Train on every batch of `train` once, then validate on every batch of `valid` once. What does your loop do?",
            "reads_often": "Who reads a metric waits for the device. How often in an epoch does your loop wait?",
            "device": "When `train_step` returns, a GPU may still be busy. What waits for it, and does your clock still run at that moment?",
            "format": "Compare your line with the example, letter by letter: `Epoch=1, Loss:1.967, Accuracy:0.489, Valid Loss:1.641, Valid Accuracy:0.583`.",
            "numbering": "Readers count epochs from 1, `range` from 0. Is there one line for each?",
            "never_reset": "A metric counts until it is reset. Where does your loop call `reset_state`, and on which metrics?",
            "reset_early": "Do you read the metrics before or after you reset them?",
            "last_batch": "The figures are those of one batch. How often does your loop reset the metrics?",
            "average": "The last batch is smaller. Is a mean of the batches' means the mean over all newswires?",
            "values": "Which metric belongs to which place in the line, and of which moment? Print one of them on its own.",
            "no_speed": "Compare with the example, letter by letter: `Newswires/sec: 812.35`, once an epoch.",
            "late": "Someone watches the training. After which epoch can they read its two lines?",
            "validation_counted": "When does your clock stop: before the validation, or after?",
            "batches": "Do you count newswires, or batches? How many are in the last batch?",
            "whole_training": "Which of your numbers start again with every epoch: the clock, and the count?",
            "inverted": "Newswires per second: which of the two do you divide by which?",
            "constant": "Does the number come from a clock that each epoch starts and stops? The epochs of this training are not equally long.",
            "speed": "Print the newswires and the seconds of one epoch. Are they those of its training?",
            "bar": "A reader looks at noon. What shows how long an epoch takes? One bar begins every epoch: `======== 10:02:03+0100`.",
            "stale": "When does your code ask what time it is: at every bar, or once for all?",
            "noon": "A reader sees your bar in the afternoon. Which code of `strftime` counts the hours up to 24?",
            "zone": "How does a reader elsewhere know which time zone this is? What does `astimezone()` add to a time, and `%z` to its text?",
            "history": "What does the function return? For each metric's name a list, with a number for every epoch.",
            "raised": "Read Python's error above. Are the arguments used as the text gives them: train_step(x, y), valid_step(x, y)?",
        },
    ),
}
