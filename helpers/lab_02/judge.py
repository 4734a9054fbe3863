"""Questions, verdicts and hints of lab 02: throughput."""

from helpers.checks.judging.timing import numbers_after, training_spans

TITLES = {
    "2.1": "every epoch prints its images per second",
    "2.2": "the sweep resumes, and survives running out of memory",
    "2.3": "the fit finds the fixed cost and the peak, and predicts",
}

HINTS = {
    "2.1": {
        "nothing": "Which of Keras' callback methods is called once, after every epoch?",
        "format": "Compare your line with the example, letter by letter: `Images/sec: 812.35`.",
        "batches": "What does your callback count: images, or batches?",
        "inverted": "Images per second: which of the two do you divide by which?",
        "whole_training": "From which moment does your clock run? Does every epoch restart it?",
        "raised": "Read Python's error above. Is every `self.` name set before it is used? Do your methods take what Keras gives, such as `on_epoch_end(self, epoch, logs=None)`?",
        "other": "Print the seconds that you divide by. Are they those of this one epoch?",
    },
    "2.2": {
        "measured_again": "What does `batch_size in points` tell you before you measure?",
        "late": "If the kernel died now, which points would be safe? When do you store one?",
        "crashed": "Which exception says that memory ran out, and who catches it?",
        "not_recorded": "A size that did not fit is a result too. What does `points` hold for it?",
        "went_on": "If this size did not fit, will a larger one? And if its `None` is from an earlier run?",
        "stopped_early": "What ends your loop: only memory running out, or also a size that you already have?",
        "values": "What does `measure` return, and is that what you store?",
        "raised": "Call it by hand: sweep([8, 16], measure, {}). Which line fails?",
    },
    "2.3": {
        "peak": "Does the curve ever reach its peak? The largest measured value lies below it.",
        "units": "Seconds, or milliseconds? A time per step, or per image?",
        "swapped": "In which order does the function return the two?",
        "raised": "Read Python's error above. Is every point a number, also the one that did not fit? Does it return two numbers, (t0_seconds, peak)?",
        "other": "A step takes `t0 + b / peak` seconds. What kind of line is that, drawn over b?",
    },
}


def throughput_question(rng):
    """Epochs whose batches take different times, so that all rates differ."""
    return {
        "images_per_sample": rng.randint(50, 5000),
        "epochs": [
            {
                "batch_seconds": [rng.uniform(0.5, 1.5) * base for _ in range(3)],
                "validation_seconds": 0.02,
            }
            # Each epoch at least twice as fast or as slow as the one before.
            for base in rng.choice([(0.08, 0.02, 0.06), (0.02, 0.09, 0.03)])
        ],
    }


def judge_throughput(question, observation):
    """A rate must lie between all images over the outer and over the inner time."""
    epochs = question["epochs"]
    batches = len(epochs[0]["batch_seconds"])
    total_images = question["images_per_sample"] * 2 * batches
    by_epoch = observation["printed"][0]
    printed = [numbers_after(lines, "Images/sec:") for lines in by_epoch]
    if not any(by_epoch):
        return "it printed nothing", "nothing"
    if not any(printed):
        first = next(lines[0] for lines in by_epoch if lines)
        return f"no line looks like `Images/sec: 812.35`; the first is `{first}`", "format"
    for number, lines in enumerate(printed[: len(epochs)], start=1):
        if len(lines) != 1:
            return f"epoch {number} printed {len(lines)} such lines, not one", "nothing"
    spans = training_spans(question, observation["waits"])
    start = spans[0]["before"]
    for number, (span, [rate]) in enumerate(zip(spans, printed, strict=False), start=1):
        low = total_images / (span["after"] - span["before"])
        high = total_images / (span["trained"] - span["began"])
        if low - 0.01 <= rate <= high + 0.01:
            continue
        reason = (
            f"epoch {number} trained {low:.0f} to {high:.0f} images/s, it says {rate:g}"
        )
        inverse = 1 / rate if rate else 0
        if low * 0.9 <= inverse <= high * 1.1 or rate < 1:
            return reason, "inverted"
        if low / total_images <= rate / batches <= high / total_images:
            return reason, "batches"
        if total_images / (span["after"] - start) - 0.01 <= rate < low:
            return reason, "whole_training"
        return reason, "other"
    return None


def sweep_question(rng):
    """A sweep with some sizes known, and one whose last run ended with None."""
    sizes = sorted(rng.sample([8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512], 8))
    too_large = sizes[-2]

    def some_speeds(known, low):
        return {str(size): round(rng.uniform(low, low + 999), 2) for size in known}

    done = some_speeds(rng.sample(sizes[:6], 2), 2000)
    all_done = some_speeds(sizes[:6], 2000) | {str(too_large): None}
    return {
        "batch_sizes": sizes,
        "too_large": too_large,
        "images_per_second": some_speeds(sizes[:6], 1000),
        "done": [done, all_done],
    }


def judge_sweep(question, observation):
    """In each sweep every open size once and in order, until one does not fit."""
    for done, seen in zip(question["done"], observation["sweeps"], strict=True):
        done = {int(size): value for size, value in done.items()}
        if verdict := _judge_one_sweep(question, done, seen):
            return verdict
    return None


def _judge_one_sweep(question, done, seen):
    too_large = question["too_large"]
    expected = [
        size for size in question["batch_sizes"] if size not in done and size <= too_large
    ]
    calls = [size for event, size in seen["events"] if event == "measure"]
    points = {int(size): value for size, value in seen["points"].items()}
    if again := [size for size in calls if size in done or calls.count(size) > 1]:
        return f"batch size {again[0]} was measured again", "measured_again"
    if seen["crashed"]:
        return f"it ended with the MemoryError of batch size {too_large}", "crashed"
    if beyond := [size for size in calls if size > too_large]:
        return f"{too_large} did not fit, and {beyond[0]} was still tried", "went_on"
    if missing := [size for size in expected if size not in calls]:
        return f"batch size {missing[0]} was never measured", "stopped_early"
    if points.get(too_large, "nothing") is not None:
        return f"points[{too_large}] is not None, though it did not fit", "not_recorded"
    right = {int(b): v for b, v in question["images_per_second"].items()} | done
    for size in sorted(done.keys() | set(expected) - {too_large}):
        if points.get(size) != right[size]:
            said = points.get(size)
            return f"points[{size}] is {said}, measured was {right[size]}", "values"
    for size in expected:
        at = seen["events"].index(["measure", size])
        if seen["events"][at + 1 : at + 2] != [["store", size]]:
            return f"batch size {size} was not stored as soon as measured", "late"
    return None


def fit_question(rng):
    """Points at most a thousandth off the curve, and one that did not fit."""
    t0, peak = rng.uniform(0.002, 0.05), rng.uniform(200, 20_000)
    sizes = sorted(rng.sample([4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048], 7))
    points = {
        str(size): size / (t0 + size / peak) * rng.uniform(0.999, 1.001) for size in sizes
    }
    points[str(sizes[-1] * 2)] = None
    return {"t0_seconds": t0, "peak": peak, "points": points}


def judge_fit(question, observation):
    """However it was fitted, it must predict every size to 5%."""
    t0, peak = observation["t0_seconds"], observation["peak"]
    true_t0, true_peak = question["t0_seconds"], question["peak"]
    measured = {int(b): v for b, v in question["points"].items() if v is not None}
    if peak <= 0:
        return f"the peak came out as {peak:g} images/s", "other"
    if abs(t0 - true_peak) <= 0.1 * true_peak:
        return f"t0 came out as {t0:g} s and the peak as {peak:g} images/s", "swapped"
    unseen = [3, 48, 700, 5000]
    for size in [*measured, *unseen]:
        truth = size / (true_t0 + size / true_peak)
        step_seconds = t0 + size / peak
        said = size / step_seconds if step_seconds > 0 else float("inf")
        if abs(said - truth) <= 0.05 * truth:
            continue
        reason = f"at batch size {size} it predicts {said:.0f} images/s, not {truth:.0f}"
        if abs(peak - max(measured.values())) <= 0.001 * peak:
            return reason, "peak"
        if 0.5 < t0 / true_t0 / 1000 < 2:
            return reason, "units"
        return reason, "other"
    return None


CHALLENGES = {"2.1": throughput_question, "2.2": sweep_question, "2.3": fit_question}
JUDGES = {"2.1": judge_throughput, "2.2": judge_sweep, "2.3": judge_fit}
