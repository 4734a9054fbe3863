"""Questions, verdicts and hints of lab 02: throughput."""

import math
from itertools import combinations, pairwise

import numpy as np

from helpers.checks.exercise import Exercise
from helpers.checks.judging.lines import numbers_after
from helpers.checks.judging.timing import constant, training_spans, unclear
from helpers.checks.judging.verdicts import (
    between,
    draw_apart,
    first_wrong,
    near,
    quoted,
    which,
)


def throughput_question(rng):
    """Epochs of very different lengths; a fit with validation after one without, and before."""
    return {
        "images_per_sample": rng.randint(50, 5000),
        # Without comes first and last: else a time that is left over is not seen.
        "fits": [False, True, False],
        "epochs": [
            {
                "batch_seconds": [rng.uniform(0.6, 1.4) * base for _ in range(3)],
                "pause_seconds": 0.03,
                "validation_seconds": 0.06,
            }
            # Each epoch at least twice as fast or as slow as the one before.
            for base in rng.choice([(0.07, 0.01, 0.04), (0.01, 0.07, 0.02)])
        ],
    }


SPREAD = 0.2  # rates that differ by less are those of no clock, if the epochs are not alike


def judge_throughput(question, observation):
    """A rate must lie between all images over the outer and over the inner time."""
    batches = len(question["epochs"][0]["batch_seconds"])
    images = question["images_per_sample"] * 2 * batches
    if not any(map(any, observation["printed"])):
        return "it printed nothing", "start"
    fits, said_before = training_spans(question, observation["waits"]), []
    for validated, spans, lines in zip(
        question["fits"], fits, observation["printed"], strict=True
    ):
        rates = [numbers_after(epoch, "Images/sec:") for epoch in lines]
        said = [line for epoch in lines for line in epoch]
        if said and not any(rates):
            return (
                f"no line looks like `Images/sec: 812.35`, as in {quoted(said[0])}",
                "format",
            )
        counts = [len(epoch) for epoch in rates]
        if counts != [1] * len(spans) + [0]:
            shown = ", ".join(map(str, counts[:-1]))
            return (
                f"its epochs printed {shown} such lines, and one each was due",
                "each_epoch",
            )
        rates = [rate for [rate] in rates[:-1]]
        said_before += rates
        wrong = [
            i
            for i, span in enumerate(spans)
            if not between(rates[i], *_bounds(images, span), 0.01)
        ]
        if wrong and constant(said_before, SPREAD):
            return f"it says {rates[0]:g} of epochs that last very differently", "constant"
        if wrong:
            low, high = _bounds(images, spans[wrong[0]])
            how = "with" if validated else "without"
            reason = (
                f"epoch {wrong[0] + 1} of a fit {how} validation trained {low:.0f} to "
                f"{high:.0f} images/s, it says {rates[wrong[0]]:g}"
            )
            return reason, _rate_hint(images, batches, spans, rates, wrong, validated)
    return unclear(
        [
            (span["trained"] - span["began"], span["stopped"] - span["before"])
            for spans in fits
            for span in spans
        ],
        SPREAD,
    )


def _bounds(images, span):
    """The lowest and the highest rate that a right clock can give."""
    return images / (span["stopped"] - span["before"]), images / (
        span["trained"] - span["began"]
    )


def _rate_hint(images, batches, spans, rates, wrong, validated):
    """The mistake that explains every wrong epoch of a fit."""
    start = spans[0]["before"]

    def explains(mistake):
        return all(mistake(spans[i], rates[i]) for i in wrong)

    def seconds(span, since, of_images):
        """Rates of these images, from `since` or later to the epoch's end or earlier."""
        return of_images / (span["after"] - since), of_images / (
            span["trained"] - span["began"]
        )

    mistakes = {
        "inverted": lambda s, r: (
            r > 0 and between(1 / r, *seconds(s, s["before"], images), 0.01)
        ),
        "batches": lambda s, r: between(r, *seconds(s, s["before"], batches), 0.01),
        "validation": lambda s, r: (
            validated
            and between(r, seconds(s, s["before"], images)[0], _bounds(images, s)[0], 0.01)
        ),
        # Or since the callback was made, a moment before.
        "whole_training": lambda s, r: between(
            r, seconds(s, start - 1, images)[0], _bounds(images, s)[0], 0.01
        ),
        # The end of an epoch before comes before this one began.
        "no_validation": lambda s, r: not validated and r <= 0,
    }
    return next((name for name, mistake in mistakes.items() if explains(mistake)), "other")


LARGER = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]


def make_sweep(rng):
    """Sweeps with sizes known and unknown: all fit, one does not, none does."""

    def case(known, too_large=None, none_known=False, other=""):
        sizes = sorted(rng.sample(LARGER, 8))
        errors = {sizes[too_large]: "MemoryError"} if too_large is not None else {}
        if other:
            errors[sizes[4]] = other
        small = sizes[: 4 if other else too_large]
        if not errors:  # then nobody may rely on their order
            rng.shuffle(sizes)
        done = {size: _speed(rng) for size in rng.sample(small, min(known, len(small)))}
        if none_known:
            done[sizes[too_large]] = None
        return {
            "batch_sizes": sizes,
            "errors": {str(size): error for size, error in errors.items()},
            "images_per_second": {str(size): _speed(rng) for size in sizes},
            "done": {str(size): speed for size, speed in done.items()},
        }

    cases = [
        case(2, too_large=6),
        case(3, too_large=6, none_known=True),
        case(6, too_large=6, none_known=True),
        case(0, too_large=0),
        case(1, too_large=0, none_known=True),
        case(rng.randint(0, 3)),
        *[case(1, too_large=6, other=name) for name in OTHER_ERRORS],
    ]
    return {"cases": cases}


def _speed(rng):
    return round(rng.uniform(1000, 3000), 4)


# What a mistake in `measure` raises.
OTHER_ERRORS = [
    "OSError",
    "ValueError",
    "TypeError",
    "RuntimeError",
    "KeyError",
    "NameError",
]


def sweep_events(case, mistakes=()):
    """What a sweep does in order, if it makes these mistakes."""
    done = {int(size): speed for size, speed in case["done"].items()}
    if "gave_up" in mistakes and None in done.values():
        return []
    events, late = [], []
    for size in case["batch_sizes"]:
        known = size in done
        if not known or "measured_again" in mistakes:
            events.append(["measure", size])
            error = case["errors"].get(str(size))
            speed = None if error else case["images_per_second"][str(size)]
            if error in OTHER_ERRORS and "caught_all" not in mistakes:
                return [*events, *late, ["raise", error]]
            if error == "MemoryError" and "crashed" in mistakes:
                return [*events, *late, ["raise", "MemoryError"]]
            if not (error and "not_recorded" in mistakes):
                key = str(size) if "text_keys" in mistakes else size
                (late if "late" in mistakes else events).append(["store", key, speed])
                done[size] = speed
            if error and "went_on" not in mistakes:
                break
        elif "stopped_early" in mistakes or (
            done[size] is None and "went_on_later" not in mistakes
        ):
            break
    return events + late


SWEEP_MISTAKES = [
    "measured_again", "crashed", "not_recorded", "went_on", "went_on_later",
    "gave_up", "stopped_early", "late", "caught_all", "text_keys",
]  # fmt: skip


def sweep_ways(question):
    """For each way of writing the sweep, what it does in all cases."""
    ways = {"right": ()} | {name: (name,) for name in SWEEP_MISTAKES}
    ways["start"] = ("measured_again", "crashed")
    return {
        name: [sweep_events(case, mistakes) for case in question["cases"]]
        for name, mistakes in ways.items()
    }


def sweep_question(rng):
    """Cases in which every usual mistake does something else."""
    return draw_apart(rng, make_sweep, sweep_ways, lambda a, b: a != b)


def judge_sweep(question, observation):
    """In each case every open size once, in order, until one does not fit."""
    seen, right = observation["cases"], sweep_ways(question)["right"]
    if seen == right:
        return None
    hint = _sweep_hint(question, seen)

    def different(due, said):
        if said == due:
            return None
        pairs = enumerate(zip([*said, END], [*due, END], strict=False))
        i = next(i for i, (one, other) in pairs if one != other)
        came, was_due = (_event([*events, END][i]) for events in (said, due))
        after = f"after {_event(due[i - 1])}" if i else "first"
        return f"{after} came {came}, due was {was_due}", hint

    return first_wrong(right, seen, different)


def _sweep_hint(question, seen):
    """The first of up to three mistakes that do together what was seen."""
    ways = {("start",): sweep_ways(question)["start"]}
    ways |= {
        mistakes: [sweep_events(case, mistakes) for case in question["cases"]]
        for number in (1, 2, 3)
        for mistakes in combinations(SWEEP_MISTAKES, number)
    }
    if mistakes := which(seen, ways, lambda said, way: said == way, None):
        return mistakes[0]
    for case, events in zip(question["cases"], seen, strict=True):
        for (kind, size, *_), (then, key, *value) in pairwise([*events, (*END, None)]):
            error = kind == "measure" and case["errors"].get(str(size))
            if error in OTHER_ERRORS and [then, key, *value] == ["store", size, None]:
                return "caught_all"
            if kind == "measure" and not error:
                if then != "store" or key != size:
                    return "late"
                if value != [case["images_per_second"].get(str(size))]:
                    return "value"
    return "other"


END = ["the end"]


def _event(event):
    """One thing that a sweep did, as code."""
    kind, *what = event
    if kind == "measure":
        return quoted(f"measure({what[0]!r})")
    if kind == "store":
        return quoted(f"points[{what[0]!r}] = {what[1]}")
    return " ".join([kind, *map(quoted, what)])


def make_fit(rng):
    """Points around the law, with errors by which every other fit goes wrong."""

    def case(*places_of_none):
        sizes = sorted(rng.sample([4, 8, 16, 32, 64, 128, 256, 512], 7))
        peak = rng.uniform(200, 20_000)
        # The law bends between the sizes.
        t0 = rng.uniform(30, 150) / peak
        points = [
            [size, size / (t0 + size / peak) * rng.uniform(0.8, 1.25)] for size in sizes
        ]
        for place in places_of_none:
            points.insert(place, [3000 + place, None])
        return {"points": points}

    cases = [case(), case(), case(0), case(3), case(0, 4, 9)]
    # Without a fixed cost, and ever slower: the line begins below 0.
    sizes, peak = [4, 8, 16, 32, 64, 128], rng.uniform(200, 20_000)
    slower = [[b, peak / (1 + b / 60) * rng.uniform(0.9, 1.1)] for b in sizes]
    cases.append({"points": slower})
    rng.shuffle(cases)
    return {"cases": cases}


def _known(points):
    """Sizes and times of a step of the points that are not None."""
    sizes = np.array([size for size, speed in points if speed])
    return sizes, sizes / np.array([speed for _, speed in points if speed])


def line(points, weight=lambda sizes, seconds: 1 / seconds, places=slice(None)):
    """The fixed cost and the peak of a straight line through the times of a step."""
    sizes, seconds = _known(points)
    weights = weight(sizes, seconds) * np.ones(len(sizes))
    # np.polyfit squares the weighted errors.
    slope, t0 = np.polyfit(sizes[places], seconds[places], 1, w=weights[places])
    return t0, 1 / slope


def median_line(points):
    """Theil and Sen: the median of the slopes between all pairs of points."""
    sizes, seconds = _known(points)
    one, other = np.triu_indices(len(sizes), 1)
    slope = np.median((seconds[other] - seconds[one]) / (sizes[other] - sizes[one]))
    return np.median(seconds - slope * sizes), 1 / slope


WEIGHTS = {
    "unweighted": lambda sizes, seconds: 1,
    "weights root": lambda sizes, seconds: seconds**-0.5,
    "weights square": lambda sizes, seconds: seconds**-2.0,
    "weights seconds": lambda sizes, seconds: seconds,
    "weights size": lambda sizes, seconds: sizes,
    "weights per size": lambda sizes, seconds: 1 / sizes,
    "weights root of size": lambda sizes, seconds: sizes**0.5,
    "weights per root of size": lambda sizes, seconds: sizes**-0.5,
    "weights speed": lambda sizes, seconds: sizes / seconds,
    "weights throughput": lambda sizes, seconds: sizes / seconds**2,
}
PLACES = {
    "points ends": [0, -1],
    "points last": slice(-2, None),
    "points first": slice(2),
    "points without first": slice(1, None),
    "points without last": slice(-1),
}


def fit_ways(question):
    """For each way of fitting, the pairs that it finds; its hint is the first word."""
    points = [case["points"] for case in question["cases"]]
    right = [line(case) for case in points]
    largest = [max(speed for _, speed in case if speed) for case in points]
    ways = {
        "right": right,
        "start": [(0.0, speed) for speed in largest],
        "peak": [(t0, speed) for (t0, _), speed in zip(right, largest, strict=True)],
        "below": [(max(t0, 0.0), peak) for t0, peak in right],
        "units": [(1000 * t0, peak) for t0, peak in right],
        "swapped": [(peak, t0) for t0, peak in right],
        "per_image": [(t0, 1 / peak) for t0, peak in right],
        "points median": list(map(median_line, points)),
    }
    ways |= {name: [line(case, by) for case in points] for name, by in WEIGHTS.items()}
    return ways | {
        name: [line(case, places=places) for case in points]
        for name, places in PLACES.items()
    }


def _predictions(fits):
    """Images per second at some sizes, measured and not, for each fit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return [
            [size / (t0 + size / peak) if peak and t0 + size / peak > 0 else math.inf
             for size in (3, 8, 48, 256, 5000)]
            for t0, peak in fits
        ]  # fmt: skip


def _predict_alike(one, other, relative=0.001):
    return near(relative)(_predictions(one), _predictions(other))


def fit_question(rng):
    """Points for which every other fit predicts something that is at least 3% off."""
    return draw_apart(
        rng, make_fit, fit_ways, lambda a, b: not _predict_alike(a, b, relative=0.03)
    )


def judge_fit(question, observation):
    """Least squares have one solution: 0.1% is left for float32 and for rounding."""
    said, ways = observation["fits"], fit_ways(question)
    fastest = [peak for _, peak in ways["start"]]
    for number, (fit, right, case) in enumerate(
        zip(said, ways["right"], question["cases"], strict=True), start=1
    ):
        if _predict_alike([fit], [right]):
            continue
        nones = sum(speed is None for _, speed in case["points"])
        reason = (
            f"for points {number} ({nones} of them None) it found t0 {fit[0]:.4g} s and "
            f"peak {fit[1]:.5g} images/s, not {right[0]:.4g} and {right[1]:.5g}"
        )
        if near(0.001)([peak for _, peak in said], fastest) and any(t0 for t0, _ in said):
            return reason, "peak"
        return reason, which(said, ways, near(0.001)).split()[0]
    return None


EXERCISES = {
    "2.1": Exercise(
        title="every epoch prints its images per second",
        requirements={
            "each_epoch": "After every epoch it prints one line.",
            "line": "The line looks like `Images/sec: 812.35`.",
            "images": "The number is images per second of the epoch: `total_images` / seconds.",
            "this_epoch": "The seconds are those of this epoch, also when `fit` is called again.",
            "whole_epoch": "They include all that passes between the epoch's first batch and its last.",
            "validation": "The clock stops when validation begins.",
            "no_validation": "Without validation the clock stops at the end of the epoch.",
        },
        question=throughput_question,
        judge=judge_throughput,
        hints={
            "start": "Nothing is printed yet. Which of Keras' callback methods is called once, after every epoch?",
            "each_epoch": "Which of Keras' methods is called once after every epoch? Is it the only one of yours that prints?",
            "format": "Compare your line with the example, letter by letter: `Images/sec: 812.35`.",
            "batches": "What does your callback count: images, or batches?",
            "inverted": "Images per second: which of the two do you divide by which?",
            "whole_training": "From which moment does your clock run? Does every epoch restart it?",
            "validation": "Keras calls `on_test_begin` when validation begins. What does your clock show then, and what do you divide by?",
            "constant": "Does the number come from a clock that each epoch starts and stops? The epochs of this training are not equally long.",
            "no_validation": "Without validation Keras does not call `on_test_begin`. Which time do you use then: one of an epoch before?",
            "raised": "Read Python's error above. Is every `self.` name set before it is used? Do your methods take what Keras gives, such as `on_epoch_end(self, epoch, logs=None)`?",
            "other": "Print the seconds that you divide by. Are they those of this one epoch, from its first batch to its last, with all between?",
        },
    ),
    "2.2": Exercise(
        title="the sweep resumes, and survives running out of memory",
        requirements={
            "every_size": "It measures every size in `batch_sizes` that has no point, in their order.",
            "known": "It skips sizes that have a point.",
            "at_once": "It stores a point as soon as it has it, under `batch_size`.",
            "value": "It stores what `measure` returned.",
            "none": "A size that raises `MemoryError` gets the point `None`.",
            "stop": "After that size it stops.",
            "stop_later": "It stops too where that `None` is from an earlier run.",
            "other_errors": "Other errors are not caught.",
        },
        question=sweep_question,
        judge=judge_sweep,
        hints={
            "start": "It measures every size, also those that `points` has, and ends with the first that does not fit. Which of the two do you mend first? `batch_size in points` helps with one, `try` with the other.",
            "measured_again": "What does `batch_size in points` tell you before you measure?",
            "late": "If the kernel died now, which points would be safe? When do you store one?",
            "crashed": "Which exception says that memory ran out, and who catches it?",
            "not_recorded": "A size that did not fit is a result too. What does `points` hold for it?",
            "went_on": "If this size did not fit, will a larger one?",
            "went_on_later": "`points` may hold a `None` from an earlier run. What does it say of the sizes after it?",
            "stopped_early": "What ends your loop: only memory running out, or also a size that you already have?",
            "gave_up": "`points` says of one size that it did not fit. Which sizes before it have no point yet?",
            "value": "What does `measure` return, and is that what you store?",
            "caught_all": "A typing mistake in `measure` raises an error, too. Would your sweep call it `None`? Which exception do you catch?",
            "text_keys": 'Are `8` and `"8"` the same key? Which one does `batch_sizes` hold?',
            "raised": "Call it by hand: sweep([8, 16], measure, {}). Which line fails?",
            "other": "Take three sizes, the first known, the last too large, and write down by hand what happens in which order. Does your loop do that?",
        },
    ),
    "2.3": Exercise(
        title="the fit finds the fixed cost and the peak, and predicts",
        requirements={
            "fixed_cost": "The first number is the fixed cost of a step, in seconds.",
            "peak": "The second is the peak in images per second, which by the law no batch reaches.",
            "none": "Points that are `None` are left out, wherever they are.",
            "least_squares": "It has the smallest sum of squares, over all points.",
            "weights": "An error of 1% weighs the same at every size.",
            "unchanged": "`points` stay as they are.",
        },
        question=fit_question,
        judge=judge_fit,
        hints={
            "start": "It says that a step has no fixed cost, and takes the fastest point for the peak. Which line through the times of a step says more?",
            "peak": "By the law, does any batch size reach the peak? What is the slope of the line?",
            "unweighted": "The longest steps have the largest errors in seconds. Which argument of `np.polyfit` makes an error of 1% weigh the same at every size?",
            "weights": "By what do you multiply the error of each step? If a step takes ten times as long, an error of 1% is ten times as many seconds: which factor makes up for that, and does `np.polyfit` square `w` or not?",
            "points": "Does every point that is not None have a say in your line? Which line do least squares give, as `np.polyfit` does?",
            "below": "The line of least squares may begin below 0. Do you return where it begins, or what you expect?",
            "units": "Is the fixed cost in seconds, or in milliseconds?",
            "swapped": "In which order does the function return the two?",
            "per_image": "The slope is the time that an image adds. How many images a second is that?",
            "raised": "Read Python's error above. Is every point a number, also the one that did not fit? Does it return two numbers, (t0_seconds, peak)?",
            "other": "A step takes `t0 + b / peak` seconds. What kind of line is that, drawn over b, and what is its value at b = 0?",
        },
    ),
}
