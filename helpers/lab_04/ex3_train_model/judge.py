"""Exercise 4.3: the questions, and the verdict on what the probe saw."""

import re
import time
from random import Random

import numpy as np

from helpers.checks.judging.timing import constant, unclear
from helpers.checks.judging.trainer import mean, mean_of_means
from helpers.checks.judging.verdicts import between, draw_apart, near, which
from helpers.lab_04.judging import NAMES, batches
from helpers.lab_04.lines import BAR, LINE, SPEED
from helpers.verdict import Wrong, wrong

PRINTED = 0.00051  # what three digits leave open
LETTERS = {"train": "T", "valid": "V", "busy": "r", "read": "r"}


def make_loop(rng: Random) -> dict:
    """A few rows with given losses, steps that take time, and a distant time zone."""

    def rows(n):
        # No two alike: they say which newswire it is.
        x = [number / 1000 for number in rng.sample(range(1000, 9000), n)]
        return {"x": x, "y": [rng.randrange(4) for _ in range(n)]}

    zones = _afternoons()
    # Not `choice`: how often that draws depends on the list, and so on the time of day.
    minutes = zones[int(rng.random() * len(zones))]
    hours, rest = divmod(abs(minutes), 60)
    return {
        "batch_size": 4,
        # A row of `x` has so many. An epoch takes 2, 3 or more than 12 times as long as its
        # steps alone, so words are not taken for a clock that stops too early.
        "words": rng.randint(6, 9),
        "shuffle_seed": rng.randrange(2**31),
        "train": rows(rng.choice([9, 10, 11])),
        "valid": rows(rng.choice([5, 6, 7])),
        "epochs": rng.choice([3, 4]),
        "left_over": 25.0,  # what the metrics have counted before
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


def draw_question(rng: Random) -> dict:
    """Rows of which every usual mistake makes other figures."""
    return draw_apart(
        rng, make_loop, loop_ways,
        lambda a, b: a[0] != b[0] or np.abs(np.subtract(a[1], b[1])).max() > 4 * PRINTED,
    )  # fmt: skip


def loop_ways(question: dict) -> dict:
    """For each metric and each way of keeping it, its value after every epoch."""
    return {
        (name, way): (name, column)
        for name in NAMES
        for way, column in column_ways(question, name).items()
    }


def column_ways(question: dict, name: str) -> dict:
    """For each way of keeping a metric, its value after every epoch."""
    kind = "valid" if name.startswith("valid") else "train"
    per_epoch = len(batches(question, "train"))
    epochs, left_over = [], np.array([question["left_over"]])
    for epoch in range(question["epochs"]):
        parts = []
        given = _passes(question)[epoch] if kind == "train" else batches(question, kind)
        for number, (x, y) in enumerate(given):
            trained = epoch * per_epoch + (per_epoch if kind == "valid" else number)
            # Neither falls nor rises in every epoch.
            loss, right = x / (1 + trained % 5), ((y + trained) % 4 == 0).astype(float)
            parts.append(loss if "loss" in name else right)
        epochs.append(parts)
    return {
        "right": [mean(parts) for parts in epochs],
        "average": [mean_of_means(parts) for parts in epochs],
        "never_reset": [
            mean([left_over, *(part for parts in epochs[: i + 1] for part in parts)])
            for i in range(len(epochs))
        ],
        "last_batch": [mean(parts[-1:]) for parts in epochs],
        "left_over": [mean([left_over, *epochs[0]]), *map(mean, epochs[1:])],
    }


def judge(question: dict, seen: dict) -> Wrong | None:
    """The right calls in the right order, then every line, then what was returned."""
    printed = [line for part in seen["printed"] for line in part]
    if said := _wrong_calls(question, seen, printed):
        return said
    # Each pass through `train` has an order of its own.
    question = question | {"calls": [x for kind, x in seen["events"] if kind == "train"]}
    return (
        _wrong_reads(seen["events"])
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
    said = [event for event in seen["events"] if event[0] in ("train", "valid")]
    kinds, epochs = [kind for kind, _ in said], question["epochs"]
    known = set(question["train"]["x"])
    per_epoch = sum(len(batches(question, kind)) for kind in ("train", "valid"))
    passes = [said[at : at + per_epoch] for at in range(0, len(said), per_epoch)]
    if len(passes) == epochs and all(_is_whole(question, one) for one in passes):
        trained = [[x for kind, x in one if kind == "train"] for one in passes]
        if all(one == trained[0] for one in trained):
            return wrong("kept", "same_order", epochs=epochs)
        times = seen["served"] / len(batches(question, "train"))
        # A batch that is looked at before is not a pass, and neither is a count of them.
        if times >= epochs + 2:
            return wrong("epochs", "passes", times=round(times), epochs=epochs)
        return None
    if "valid" not in kinds:
        start = not any(map(LINE.read, printed)) and not seen["history"]
        return wrong("start" if start else "no_validation", "no_valid_step")
    if any(kind == "valid" and set(x) <= known for kind, x in said):
        return wrong("valid_on_train", "valid_on_train")
    times = kinds.count("train") / len(batches(question, "train"))
    if times != epochs:
        return wrong("epochs", "passes", times=times, epochs=epochs)
    return wrong("order", "order")


def _is_whole(question, calls):
    """Whether it passes once through `train`, in any order, and then through `valid`."""
    due = [
        [kind, x.tolist()]
        for kind in ("train", "valid")
        for x, _ in batches(question, kind)
    ]
    if [(kind, len(x)) for kind, x in calls] != [(kind, len(x)) for kind, x in due]:
        return False
    trained = sorted(n for kind, x in calls if kind == "train" for n in x)
    valid = [call for call in calls if call[0] == "valid"]
    return trained == sorted(question["train"]["x"]) and valid == due[-len(valid) :]


def _passes(question):
    """For each epoch the batches that `train` gave: in the calls' order if it is known."""
    given = batches(question, "train")
    if "calls" not in question:
        return [given] * question["epochs"]
    topics = dict(zip(question["train"]["x"], question["train"]["y"], strict=True))
    calls = [(np.array(x), np.array([topics[n] for n in x])) for x in question["calls"]]
    return [calls[at : at + len(given)] for at in range(0, len(calls), len(given))]


def _wrong_reads(events):
    """One reading waits for the device, at the end of each training; none between."""
    kinds = re.sub("r+", "r", "".join(LETTERS[kind] for kind, _ in events))
    if re.search("TrT|VrV", kinds):
        return wrong("reads_often", "reads_often")
    if "TV" in kinds:
        return wrong("device", "never_read")
    return None


def _wrong_lines(question, printed):
    lines = [line for line in printed if line.startswith("Epoch")]
    if not lines:
        return wrong("format", "no_line")
    found = [LINE.read(line) for line in lines]
    if None in found:
        return wrong("format", "other_line", line=lines[found.index(None)])
    numbers = [int(one["epoch"]) for one in found]
    if numbers != list(range(1, question["epochs"] + 1)):
        return wrong("numbering", "epochs_printed", numbers=numbers)
    columns = {name: [one[name] for one in found] for name in NAMES}
    different = _wrong_value(question, columns, PRINTED)
    return different and wrong(different[0], "printed", **different[1])


def _wrong_value(question, columns, rounding):
    """The mistake in the first metric that is wrong, and what a sentence says of it."""
    for name in NAMES:
        said, ways = columns[name], column_ways(question, name)
        mistake = which(said, ways, near(0, rounding), "values")
        if mistake == "right":
            continue
        if "loss" in name and 0 in said:
            mistake = "reset_early"
        right = ways["right"]
        i = next(i for i, value in enumerate(said) if abs(value - right[i]) > rounding)
        return mistake, {"epoch": i + 1, "name": name, "value": said[i], "due": right[i]}
    return None


def _wrong_moments(question, seen):
    """A bar, the training, the validation and two lines, in every epoch."""
    steps = [LETTERS[kind] for kind, _ in seen["events"] if kind in ("train", "valid")]
    moments = ""
    for lines, step in zip(seen["printed"], [*steps, ""], strict=True):
        moments += "".join(map(_letter, lines)) + step
    moments = re.sub("T+", "T", re.sub("V+", "V", moments))
    epochs = question["epochs"]
    if (count := moments.count("s")) != epochs:
        return wrong("no_speed", "speed_lines", count=count, epochs=epochs)
    if (count := moments.count("b")) != epochs:
        return wrong("bar", "bars", count=count, epochs=epochs)
    if re.sub("[es]", "", moments) != "bTV" * epochs:
        return wrong("bar", "bar_elsewhere")
    if not re.fullmatch("(bTVes|bTVse|bTsVe)+", moments):
        return wrong("late", "late")
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
            return wrong("device", "busy", rate=rates[0])
        return wrong("constant", "constant", rate=rates[0])
    for number, (said, span) in enumerate(zip(rates, spans, strict=True), start=1):
        low = newswires / (span["after"] - span["before"])
        high = newswires / (span["trained"] - span["began"])
        if between(said, low, high, 0.01):
            continue
        mistake = _speed_mistake(question, said, spans[:number])
        return wrong(
            mistake, "speed", epoch=number, low_rate=low, high_rate=high, rate=said
        )
    return None


def _speed_mistake(question, said, spans):
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
            rate(*since),
            rate(*since, number * newswires),
            rate(0, sum(one["after"] - one["before"] for one in spans),
                 0, sum(one["trained"] - one["began"] for one in spans),
                 number * newswires),
        ],
        "counts_on": [rate(*usual, number * newswires)],
        "words": [rate(*usual, newswires * question["words"])],
        "batches": [rate(*usual, count) for count in
                    (per_epoch, per_epoch * question["batch_size"], 1)],
        "validation_counted": [
            rate(span["before"], span["next"], span["began"], span["validated"])
        ],
        "inverted": [(1 / high, 1 / low)],
    }  # fmt: skip
    if number == 1:  # in the first epoch these are no mistakes
        del ways["whole_training"], ways["counts_on"]
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
            return wrong("zone", "no_zone", bar=line[-30:])
        zone = int(hours) * 60 + int(minutes) * (-1 if hours[0] == "-" else 1)
        hour, minute, second = map(int, clock)
        times.append((hour * 60 + minute - zone) * 60 + second)
        ago = (time.time() - times[-1]) % 86_400
        if zone == question["secret"]["zone_minutes"] and 43_198 < ago < 43_800:
            return wrong("noon", "noon", bar=line[-30:])
        # The judge may get here minutes later; zones differ by more.
        if zone != question["secret"]["zone_minutes"] or not (ago < 600 or ago > 86_398):
            return wrong("zone", "other_time", bar=line[-30:])
    spans = list(_spans(question, seen))
    for number, (at, span) in enumerate(zip(times, spans, strict=True), start=1):
        least, most = span["before"] - spans[0]["began"], span["began"] - spans[0]["before"]
        seconds = (at - times[0] + 43_200) % 86_400 - 43_200
        if not between(seconds, least, most, 1):
            return wrong(
                "stale", "stale",
                number=number, seconds=seconds, least_seconds=least, most_seconds=most,
            )  # fmt: skip
    return None


def _wrong_history(question, history):
    epochs = question["epochs"]
    if not history or sorted(history) != sorted(NAMES):
        return wrong("history", "no_lists", names=NAMES)
    if any(len(history[name]) != epochs for name in NAMES):
        return wrong("history", "other_lengths", epochs=epochs)
    if any(None in values for values in history.values()):
        return wrong("history", "no_numbers")
    different = _wrong_value(question, history, 1e-5)
    return different and wrong("history", "returned", **different[1])
