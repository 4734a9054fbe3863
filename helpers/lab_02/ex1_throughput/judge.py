"""Exercise 2.1: the questions, and the verdict on what the probe saw."""

from helpers.checks.judging.lines import numbers_after
from helpers.checks.judging.timing import constant, training_spans, unclear
from helpers.checks.judging.verdicts import (
    between,
    quoted,
)


def draw_question(rng):
    """Epochs of very different lengths; fits without, with, and without validation."""
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


def judge(question, observation):
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
