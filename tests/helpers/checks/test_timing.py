"""Verdicts on clocks, from waits on a simulated one: no real time passes here."""

import random

import pytest

from helpers.checks import MORE_QUESTIONS, judge_replies

TABLE = (0.91, 1.14, 1.63)  # seconds that nobody measured


def reply(question, sleeps, says):
    """What the judge of 3.2 gets from a callback that sleeps before its epochs."""
    now, waits, printed = 0.0, [], []

    def wait(seconds):
        nonlocal now
        waits.append([now, now + seconds])
        now += seconds

    epochs = question["epochs"]
    ran_in = epochs, epochs[: question["stopped_after"]]
    for ran, start_up_seconds in zip(ran_in, question["start_up_seconds"], strict=True):
        wait(question["seconds_before_fit"])
        wait(0)
        wait(0)
        began, start_up, validation, parts = now, None, 0.0, []
        for number, epoch in enumerate(ran):
            now += sleeps[number]
            if number == 0:
                wait(start_up_seconds)
            for batch, seconds in enumerate(epoch["batch_seconds"]):
                wait(seconds)
                start_up = start_up or now - began
                if batch == 0:
                    wait(epoch["pause_seconds"])
            if ran is epochs:
                wait(epoch["validation_seconds"])
                validation += epoch["validation_seconds"]
            if number == 0:
                wait(question["seconds_after_validation"] if ran is epochs else 0)
            said = says(number, now - began)
            parts.append([f"Cumulative training time after epoch {number + 1}: {said:.2f}"])
            if number == 0:
                wait(question["seconds_between_epochs"])
        wait(0)
        training = said - start_up - validation
        printed.append([*parts, [f"Cumulative training time: {said:.2f}"]])
        split = f"Start-up: {start_up:.2f}, training: {training:.2f}"
        printed[-1][-1].append(f"{split}, validation: {validation:.2f}")
    return {"printed": printed, "waits": waits, "nonce": question["nonce"]}


def from_a_clock(number, seconds):
    return seconds


def from_a_table(number, seconds):
    return TABLE[number]


@pytest.mark.parametrize(
    ("sleeps", "says", "mistake"),
    [
        ((0, 0, 0), from_a_clock, None),
        ((2, 0, 0), from_a_clock, None),
        ((0.02, 0.03, 0.02), from_a_clock, None),
        ((2, 0, 0), from_a_table, "other"),
        ((2, 2, 2), lambda number, _: (1.1, 2.9, 4.75)[number], "between"),
        ((24, 20, 24), from_a_clock, "unclear"),
    ],
)
def test_no_table_lies_between_the_bounds_however_long_it_sleeps(sleeps, says, mistake):
    seeds = range(20)
    verdicts = [
        judge_replies("3.2", lambda q: reply(q, sleeps, says), random.Random(seed), 2)
        for seed in seeds
    ]
    assert {verdict and verdict.mistake for verdict in verdicts} == {mistake}


@pytest.mark.parametrize(
    ("slow", "passes"), [(0, True), (MORE_QUESTIONS, True), (MORE_QUESTIONS + 1, False)]
)
def test_a_question_in_which_nothing_could_be_seen_is_asked_again(slow, passes):
    asked = []

    def ask(question):
        asked.append(question)
        busy = len(asked) <= slow
        return reply(question, (24, 20, 24) if busy else (0, 0, 0), from_a_clock)

    verdict = judge_replies("3.2", ask, random.Random(1), 3)
    assert (verdict is None) == passes
    assert len(asked) == (3 + slow if passes else slow)
