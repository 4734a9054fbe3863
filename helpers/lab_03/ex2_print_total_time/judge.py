"""Exercise 3.2: the questions, and the verdict on what the probe saw."""

import re
from random import Random

import numpy as np

from helpers.checks.judging.lines import LONGEST, numbers_after
from helpers.checks.judging.timing import constant, training_spans, unclear
from helpers.checks.judging.verdicts import between
from helpers.lab_03.lines import BOTH, END, EPOCH, EVERY, PARTS, TOTAL
from helpers.verdict import Wrong, phrase, wrong

PARTS_BEGIN = "Start-up"
PARTS_NAMES = ("start_up", "training", "validation")
PART_MISTAKES = {"start_up": "start_up", "validation": "validation_part"}


def draw_question(rng: Random) -> dict:
    """A `fit` of a few short epochs, and a second one that is stopped early."""
    bases, tested = rng.sample([0.01, 0.04, 0.12], 3), rng.sample([0.03, 0.05, 0.12], 3)
    if bases[0] == min(bases):  # its first batch must not be too short to be missed
        bases.reverse()
    return {
        "callbacks": rng.randint(3, 5),  # of the answer's class, all in each `fit`
        "seconds_before_fit": rng.uniform(0.15, 0.2),
        "stopped_after": len(bases) - 1,
        # In each `fit`, before its first batch: as if something was prepared.
        "start_up_seconds": [rng.uniform(0.15, 0.2), rng.uniform(0.06, 0.1)],
        # Of another callback, between the first validation and the end of its epoch: it
        # belongs to no validation.
        "seconds_after_validation": rng.uniform(0.04, 0.15),
        # Of other callbacks, after the first epoch: they belong to no epoch.
        "seconds_between_epochs": rng.uniform(0.12, 0.16),
        "epochs": [
            {
                "batch_seconds": [rng.uniform(0.8, 1.2) * base for _ in range(2)],
                "pause_seconds": 0.04,  # until the second batch, which is no start-up
                "validation_seconds": rng.uniform(0.95, 1.05) * test,
            }
            for base, test in zip(bases, tested, strict=True)
        ],
    }


def judge(question: dict, observation: dict) -> Wrong | None:
    """Each printed time lies between training's time from inside and from outside."""
    printed = [[line for part in fit for line in part] for fit in observation["printed"]]
    if not any(printed):
        return wrong("start", "nothing_printed")
    if verdict := _too_few_decimals(question, printed):
        return verdict
    fits, parts = _times_of_fits(question, observation["waits"])
    without_validation = _right_without(fits[1], printed[1])
    said, said_steps = [], []  # of both fits: in the second two epochs can be alike
    for number, (spans, lines) in enumerate(zip(fits, printed, strict=True)):
        verdict = _wrong_lines(spans, lines, observation["printed"][number])
        if not verdict:
            epochs = range(1, len(spans) + 1)
            total = [numbers_after(lines, f"{EVERY} {epoch}:")[0] for epoch in epochs]
            said += total
            said_steps += np.diff([0, *total]).tolist()
            is_constant = constant(said) or constant(said_steps)
            verdict = (
                _wrong_times(spans, lines, total, is_constant, without_validation, number)
                or _wrong_steps(spans, total, is_constant)
                or _wrong_parts(parts[: number + 1], lines, question["callbacks"])
                or _not_two_decimals(lines)
            )
        if verdict and number:
            return verdict._replace(seen=phrase("second_fit", what=verdict.seen))
        if verdict:
            return verdict
    return unclear([step for spans in fits for step in _steps(spans)])


def _wrong_times(spans, lines, total, is_constant, without_validation, number):
    """Each line's time, and the one at the end."""
    for epoch, span in enumerate([*spans, spans[-1]], start=1):
        at_end = epoch > len(spans)
        label = END if at_end else f"{EVERY} {epoch}:"
        [seconds] = numbers_after(lines, label)
        low, high = _total(spans, span)
        facts = {"line": f"{label} {seconds}", "low_seconds": low, "high_seconds": high}
        if abs(100 * seconds - round(100 * seconds)) > 1e-6:
            return wrong("decimals", "more_decimals", line=facts["line"])
        # However long the machine lets it wait, the end comes after the last epoch.
        early = at_end and seconds < total[-1] - 0.011
        # Two decimals are rounded, by half a hundredth, or the rest is cut off.
        if between(seconds, low - 0.005, high, 0.006) and not early:
            continue
        if is_constant:
            return wrong("constant", "constant", seconds=total)
        if at_end and _coarse(lines, total[-1]):
            return wrong("decimals", "coarse_end", last_seconds=total[-1], **facts)
        if not at_end and _epochs_only(total, spans):
            return wrong("between", "time", **facts)
        mistake = _time_mistake(seconds, epoch, spans, span, number)
        # An answer that misses validation is right without it, unless it starts early.
        usual = "validation" if without_validation else "constructor"
        if mistake not in ("validation", "constructor", "other") or mistake == usual:
            return wrong(mistake, "time", **facts)
        broken = "began" if epoch == 1 else "total"
        broken = "end" if at_end else "validation" if without_validation else broken
        return wrong("other", "time", requirement=broken, **facts)
    return None


def _wrong_steps(spans, total, is_constant):
    """What is waited before a fit moves all of its times, and none of their steps."""
    steps = zip(np.diff([0, *total]), _steps(spans), strict=True)
    wrong_steps = [step for step, own in steps if not between(step, *own, 0.011)]
    if not wrong_steps:
        return None
    facts = {"step_seconds": wrong_steps[0], "seconds": total}
    if is_constant:
        return wrong("constant", "other_step", **facts)
    if _epochs_only(total, spans):
        return wrong("between", "other_step", **facts)
    return wrong("other", "other_step", requirement="total", **facts)


def _steps(spans):
    """By epoch, the shortest and the longest time since the line before."""
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
        return wrong("decimals", "no_decimals", line=whole[0])
    said = [
        n
        for fit in printed
        for epoch in range(1, len(question["epochs"]) + 1)
        for n in numbers_after(fit, f"{EVERY} {epoch}:")
    ]
    # Seconds such as 0.20 and 0.70 have two decimals, and can be tenths by chance.
    written = [line for line in lines if re.fullmatch(rf"{EVERY} \d+: *\d+\.\d\d", line)]
    tenths = all(abs(10 * n - round(10 * n)) < 1e-6 for n in said)
    if any(said) and tenths and len(written) < len(lines):
        return wrong("decimals", "one_decimal", seconds=said[:9])
    return None


def _not_two_decimals(lines):
    """A line whose seconds are right, but written as 12.3 instead of 12.30."""
    for line in lines:
        if line.startswith((BOTH, PARTS_BEGIN)):
            seconds = re.findall(r": *([\d.]+)", line[:LONGEST])
            if not all(re.fullmatch(r"\d+\.\d\d", one) for one in seconds):
                return wrong("decimals", "not_two", line=line)
    return None


def _coarse(lines, last):
    """Whether the line at the end gives the last epoch's time with fewer decimals."""
    pattern = re.compile(rf"{END} *(\d{{1,9}}(\.\d)?) *")
    found = (pattern.fullmatch(line[:LONGEST]) for line in lines)
    return any(m and abs(float(m[1]) - last) < (0.11 if m[2] else 1) for m in found)


def _wrong_parts(fits, lines, callbacks):
    """The line that splits the total of the last of these fits."""
    times = fits[-1]
    alike = [line for line in lines if line.startswith(PARTS_BEGIN)]
    found = [m for line in alike if (m := PARTS.fullmatch(line[:LONGEST]))]
    if alike and not found:
        return wrong("format", "other_line", requirement="parts", line=alike[0])
    if len(found) != 1:
        return wrong("parts", "lines_of_parts", count=len(found))
    said = dict(zip(PARTS_NAMES, map(float, found[0].groups()), strict=True))
    if any(abs(100 * part - round(100 * part)) > 1e-6 for part in said.values()):
        return wrong("decimals", "more_decimals", line=found[0][0])
    # By chance right parts can be tenths, too: 0.20, 0.40 and 0.00.
    tenths = all(abs(10 * part - round(10 * part)) < 1e-6 for part in said.values())
    coarse = wrong("decimals", "one_decimal", seconds=list(said.values()))
    for part in ("start_up", "validation"):
        low, high = times[part]
        if not between(said[part], low - 0.005, high, 0.006):
            mistake = _part_mistake(part, said[part], fits, callbacks)
            if tenths and mistake != "again":
                return coarse
            which = phrase("start_up" if part == "start_up" else "validation")
            facts = {"part": which, "said_seconds": said[part]}
            return wrong(mistake, "part", low_seconds=low, high_seconds=high, **facts)
    # Three decimals may be cut off, or rounded with the clock read once more.
    if not between(sum(said.values()), *times["total"], 0.031):
        if tenths:
            return coarse
        return wrong("rest", "sum", sum_seconds=sum(said.values()), line=found[0][0])
    return None


def _part_mistake(part, seconds, fits, callbacks):
    """What is wrong: all callbacks may add to one sum, or a second `fit` to the first."""
    times, ways = np.array([fit[part] for fit in fits]), {}
    if part == "validation":
        ways = {"shared": callbacks * times[-1], "again": times.sum(axis=0)}
    elif len(fits) > 1:
        ways = {"again": times[0]}
    for mistake, (low, high) in ways.items():
        if between(seconds, low - 0.005, high, 0.006):
            return mistake
    return PART_MISTAKES[part]


def _times_of_fits(question, waits):
    """When the epochs ran and how long the parts took, for each `fit`.

    All epochs of the first `fit`, and some of the second.
    """
    epochs, at, fits, parts = question["epochs"], 0, [], []
    for validated, ran in (True, epochs), (False, epochs[: question["stopped_after"]]):
        # Before each fit there is a wait, and within it one more at each end.
        counts = [len(epoch["batch_seconds"]) + 1 + validated for epoch in ran]
        count = 6 + sum(counts)
        own = waits[at + 1 : at + 1 + count]
        training_begins, start_up = own.pop(1), own.pop(1)
        # Those between the first two epochs are in neither.
        before_line, after_line = own.pop(1 + counts[0]), own.pop(1 + counts[0])
        [spans] = training_spans({"epochs": ran, "fits": [validated]}, own)
        spans[0]["after"], spans[1]["before"] = before_line[0], after_line[1]
        spans[0]["before"], spans[0]["began"] = training_begins[1], start_up[0]
        parts.append(_bounds_of_parts(spans, own, validated))
        spans[0]["after"] = after_line[0]  # its line may come after the first of them
        fits.append(spans)
        at += 1 + count
    if at != len(waits):
        raise ValueError(f"{len(waits)} waits where {at} were due")
    return fits, parts


def _bounds_of_parts(spans, waits, validated):
    """The shortest and the longest time of each part that a clock can show."""
    _, first_batch, pause, *_ = waits
    began, before = spans[0]["began"], spans[0]["before"]
    inside = sum(s["validated"] - s["stopped"] for s in spans) if validated else 0.0
    outside = sum(s["after"] - s["trained"] for s in spans) if validated else 0.0
    return {
        "start_up": (first_batch[1] - began, pause[0] - before),
        "validation": (inside, outside),
        "total": _total(spans, spans[-1]),
    }


def _right_without(spans, lines):
    """Whether the first epoch is right in the `fit` without validation."""
    said = numbers_after(lines, f"{EVERY} 1:")
    return len(said) == 1 and between(said[0], *_total(spans, spans[0]), 0.015)


def _total(spans, span):
    return span["validated"] - spans[0]["began"], span["after"] - spans[0]["before"]


def _wrong_lines(spans, lines, parts):
    alike = [line for line in lines if line.startswith(BOTH)]
    every = any(line.startswith(EVERY) for line in lines)
    if lines and not every and not lines[0].startswith(END):
        return wrong("format", "other_line", requirement="each_epoch", line=lines[0])
    if other := [line for line in alike if not TOTAL.fullmatch(line[:LONGEST])]:
        broken = "each_epoch" if other[0].startswith(EVERY) else "end"
        return wrong("format", "other_line", requirement=broken, line=other[0])
    if numbers_after(lines, f"{EVERY} 0:"):
        return wrong("from_zero", "epoch_0")
    last = max((int(n) for line in alike for n in EPOCH.findall(line)), default=0)
    if last > len(spans):
        return wrong("counts_on", "epoch_too_many", epoch=last)
    for epoch in range(1, len(spans) + 1):
        label = f"{EVERY} {epoch}:"
        count = len(numbers_after(lines, label))
        if count != 1:
            return wrong("each_epoch", "lines_of_epoch", count=count, epoch=epoch)
        if not numbers_after([*parts[epoch - 1], *parts[epoch]], label):
            return wrong("each_epoch", "late_line", label=label)
    if sum(line.startswith(EVERY) for line in lines) != len(spans):
        return wrong("each_epoch", "more_lines", epochs=len(spans))
    if len(numbers_after(lines, END)) != 1:
        return wrong("end", "no_end")
    return None


def _time_mistake(seconds, epoch, spans, span, fit):
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
