"""Exercise 6.1: the questions, and the verdict on what the probe saw."""

import random

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import draw_apart, near, which
from helpers.lab_06.judging import (
    DIVISORS,
    clearly_apart,
    flat_array,
    gradient_share,
    mean_divisor,
    same,
    step_ratio,
)
from helpers.verdict import Wrong, wrong

same_sum = near(3e-5, 1e-6)  # float32 passes, but float16 has only three digits


def _make_loss(rng):
    splits = [[2, 2, 2], rng.sample([1, 2, 4], 3), rng.sample([0, 2, 3], 3)]
    batches = trainer.draw_batches(rng, map(sum, splits), classes=0)
    return {
        "replicas": 3,
        "weights": [rng.uniform(-2, 2) for _ in range(3)],
        "learning_rate": round(rng.uniform(0.02, 0.04), 3),
        "batches": [b | {"split": s} for b, s in zip(batches, splits, strict=True)],
    }


def _loss_training(question, divisor):
    share = gradient_share(divisor, question["replicas"])
    arguments = [question["weights"]], question["batches"], question["learning_rate"]
    return trainer.train(*arguments, share=share)


def loss_ways(question: dict) -> dict:
    """For each way of dividing, the weights after all batches."""
    return {
        name: flat_array(
            flat_array(weights) for weights in _loss_training(question, by).after
        )
        for name, by in DIVISORS.items()
    }


def draw_question(rng: random.Random) -> dict:
    """Batches split evenly, unevenly, and with no image for one of three replicas."""
    return draw_apart(rng, _make_loss, loss_ways, clearly_apart)


def judge(question: dict, observation: dict) -> Wrong | None:
    """The weights after every batch are those of the mean, and each share is a share."""
    if observation["constant"]:
        return wrong("constant", "no_gradient")
    for share in (share for shares in observation["shares"] for share in shares):
        if np.ndim(share):
            return wrong("number", "array", shape=np.shape(share))
    right = _loss_training(question, mean_divisor)
    # The last batch leaves a replica without images, which is a mistake of its own.
    numbers = len(question["weights"])
    ways = {name: way[:-numbers] for name, way in loss_ways(question).items()}
    mistake = which(flat_array(observation["weights"][:-1]), ways, same)
    if mistake == "right":
        mistake = "empty"
    before = [question["weights"]]
    answers = zip(
        question["batches"], observation["weights"], observation["shares"], strict=True
    )
    for number, (batch, weights, shares) in enumerate(answers):
        (due,) = right.after[number]
        if None in [*weights, *shares]:
            return wrong(mistake, "no_number", examples=batch["split"])
        if not same(weights, due):
            times = step_ratio([weights], [due], before)
            return wrong(
                mistake, "step_length", times=times,
                examples=batch["split"], all_examples=sum(batch["split"]),
                learning_rate=question["learning_rate"],
                acts_like=times * question["learning_rate"],
            )  # fmt: skip
        if verdict := _wrong_shares(batch["split"], right.losses[number], shares):
            return verdict
        before = [due]
    return None


def _wrong_shares(split, losses, shares):
    parts = np.split(losses, np.cumsum(split)[:-1])
    due = np.array([part.sum() / len(losses) for part in parts])
    if same_sum(shares, due):
        return None
    if not same(shares, due):
        return wrong("shares", "shares", shares=shares, right_shares=due)
    worst = np.abs(shares - due).argmax()
    return wrong("coarse", "coarse", share=shares[worst], right_share=due[worst])
