"""Exercise 6.1: the questions, and the verdict on what the probe saw."""

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

same_sum = near(3e-5, 1e-6)  # float32 without a step: of float16 only three digits are left


def _make_loss(rng):
    splits = [[2, 2, 2], rng.sample([1, 2, 4], 3)]
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


def loss_ways(question):
    """For each way of dividing, the weights after all batches."""
    return {
        name: flat_array(
            flat_array(weights) for weights in _loss_training(question, by).after
        )
        for name, by in DIVISORS.items()
    }


def draw_question(rng):
    """A batch split evenly and one split unevenly, over three replicas."""
    return draw_apart(rng, _make_loss, loss_ways, clearly_apart)


def judge(question, seen):
    """The weights after every batch are those of the mean, and each share is a share."""
    if seen["constant"]:
        return "no gradient flows from the losses to what it returned", "constant"
    for share in (share for shares in seen["shares"] for share in shares):
        if np.ndim(share):
            shape = np.shape(share)
            return f"a replica returned an array of shape {shape}, not a number", "number"
    right = _loss_training(question, mean_divisor)
    hint = which(flat_array(seen["weights"]), loss_ways(question), same)
    answers = zip(question["batches"], seen["weights"], seen["shares"], strict=True)
    for number, (batch, weights, said) in enumerate(answers):
        own, (due,) = batch["split"], right.after[number]
        if not same(weights, due):
            before = right.after[number - 1] if number else [question["weights"]]
            times = step_ratio([weights], [due], before)
            return (
                f"with {', '.join(map(str, own))} examples on the replicas, a step of SGD "
                f"was {times:.2f} times as long as on one device with all {sum(own)}: the "
                f"learning rate {question['learning_rate']:g} acts like "
                f"{times * question['learning_rate']:.3g}"
            ), hint
        split = np.split(right.losses[number], np.cumsum(own)[:-1])
        shares = [losses.sum() / sum(own) for losses in split]
        if not same_sum(said, shares):
            if same(said, shares):
                return _coarse(said, shares), "coarse"
            shown, due = (
                ", ".join(f"{share:.3f}" for share in some) for some in (said, shares)
            )
            return f"the replicas returned {shown}, and their shares are {due}", "shares"
    return None


def _coarse(said, shares):
    share, due = max(
        zip(said, shares, strict=True), key=lambda pair: abs(pair[0] - pair[1])
    )
    return f"a replica returned {share:.7g}, and its share is {due:.7g}"
