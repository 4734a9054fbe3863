"""Exercise 2.1: the questions, and the verdict on what the probe saw."""

from random import Random

from helpers.checks.judging.lines import numbers_after
from helpers.checks.judging.timing import constant, training_spans, unclear
from helpers.checks.judging.verdicts import between
from helpers.verdict import Wrong, phrase, wrong


def draw_question(rng: Random) -> dict:
    """Epochs of very different lengths; fits without, with and with rare validation."""
    return {
        "images_per_sample": rng.randint(50, 5000),
        # The first and the last fit have no validation, and one validates every second
        # epoch. Otherwise a time that is left over would not be noticed.
        "fits": [0, 1, 2, 0],
        "other_images": rng.randint(3, 9),
        "epochs": [
            {
                "batch_seconds": [rng.uniform(0.6, 1.4) * base for _ in range(3)],
                "pause_seconds": 0.03,
                "between_seconds": 0.05,  # which another callback takes
                "validation_seconds": 0.06,
            }
            # Each epoch at least twice as fast or as slow as the one before.
            for base in rng.choice([(0.07, 0.01, 0.04), (0.01, 0.07, 0.02)])
        ],
    }


# Indexed by the numbers in `fits`.
KINDS = phrase("not_validated"), phrase("validated"), phrase("seldom_validated")
SPREAD = 0.2  # rates of such different epochs that differ by less do not come from a clock


def judge(question: dict, observation: dict) -> Wrong | None:
    """A rate must lie between the images per outer time and the images per inner time."""
    if not any(map(any, observation["printed"])):
        return wrong("start", "printed_nothing")
    # Another fit came first, which was interrupted when the validation of its first epoch
    # ended: a time that is left over from it shows in those that follow.
    epoch = question["epochs"][0]
    interrupted = 1 + len(epoch["batch_seconds"]) + 2  # a pause, and the validation
    fits, rates = training_spans(question, observation["waits"][interrupted:]), []
    for validated, spans, lines in zip(
        question["fits"], fits, observation["printed"][1:], strict=True
    ):
        numbers = [numbers_after(epoch, "Images/sec:") for epoch in lines]
        if said := _wrong_lines(lines, numbers, len(spans)):
            return said
        rates += [rate for [rate] in numbers[:-1]]
        if said := _wrong_rates(question, validated, spans, rates):
            return said
    return unclear(
        [
            (span["trained"] - span["began"], span["stopped"] - span["before"])
            for spans in fits
            for span in spans
        ],
        SPREAD,
    )


def _wrong_lines(lines, numbers, epochs):
    printed = [line for epoch in lines for line in epoch]
    if printed and not any(numbers):
        return wrong("format", "other_line", line=printed[0])
    counts = [len(epoch) for epoch in numbers]
    if counts != [1] * epochs + [0]:
        return wrong("each_epoch", "lines", counts=counts[:-1])
    return None


def _wrong_rates(question, validated, spans, rates):
    """Find a mistake in the rates of the last fit, given the rates of all fits so far."""
    images = _images(question)
    pairs = list(zip(spans, rates[-len(spans) :], strict=True))
    failed = [
        (span, rate)
        for span, rate in pairs
        if not between(rate, *_bounds(images, span), 0.01)
    ]
    if not failed:
        return None
    if constant(rates, SPREAD):
        mistake = "constant" if any(rates) else "inverted"  # seconds per image, rounded
        return wrong(mistake, "constant", images_per_second=pairs[0][1])
    span, rate = failed[0]
    low, high = _bounds(images, span)
    return wrong(
        _mistake(question, validated, spans[0]["before"], failed), "rate",
        epoch=spans.index(span) + 1,
        fit=KINDS[validated],
        least=low, most=high, images_per_second=rate,
    )  # fmt: skip


def _images(question):
    batches = len(question["epochs"][0]["batch_seconds"])
    return question["images_per_sample"] * 2 * batches


def _bounds(images, span):
    """The lowest and the highest rate that a right clock can give."""
    return images / (span["stopped"] - span["before"]), images / (
        span["trained"] - span["began"]
    )


def _mistake(question, validated, start, failed):
    """The mistake that explains every wrong epoch of a fit, which began at `start`."""
    images = _images(question)
    batch_seconds = [epoch["batch_seconds"] for epoch in question["epochs"]]
    batches, shortest = len(batch_seconds[0]), min(map(min, batch_seconds))

    def explains(mistake):
        return all(mistake(span, rate) for span, rate in failed)

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
        # Or since the callback was created, and another fit was interrupted, before.
        "whole_training": lambda s, r: between(
            r, seconds(s, start - 2, images)[0], _bounds(images, s)[0], 0.01
        ),
        # The end of an earlier epoch comes before the start of this one.
        "no_validation": lambda s, r: validated != 1 and r <= 0,
        "shared": lambda s, r: between(
            r / question["other_images"], *_bounds(images, s), 0.01
        ),
        # The time of at least one batch.
        "part": lambda s, r: _bounds(images, s)[1] < r <= images / shortest,
    }
    return next((name for name, mistake in mistakes.items() if explains(mistake)), "other")
