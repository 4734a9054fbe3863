"""Exercise 6.4: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging.formulas import Formula
from helpers.checks.judging.scripts import judge_hunt
from helpers.checks.judging.verdicts import near
from helpers.verdict import Wrong

same = near(1e-6, 1e-9)


def make_trainings(rng: Random) -> dict:
    """Sizes that divide and sizes that do not, one micro-batch, and more than steps."""
    many = rng.randint(3, 6)
    cases = [
        [many * rng.randint(3, 6), many],
        [many * rng.randint(4, 7) + rng.randint(1, many - 1), many],
        [rng.randint(20, 40), 2 + rng.randint(0, 1) * 5],
        [rng.randint(5, 15), 1],
        [rng.randint(2, 4), rng.randint(5, 9)],
    ]
    rng.shuffle(cases)
    return {"cases": cases}


def wasted(case: list[int], mistake: str) -> list[float]:
    """How many steps the bug wastes, if one makes this mistake."""
    steps, accumulate = case
    training = -(-steps // accumulate)
    return [
        {
            "floor": steps - steps // accumulate,
            "exact": steps - steps / accumulate,
            "training": training,
            "share": (steps - training) / steps,
            "micro": (steps - training) * accumulate,
            "late": max(0, steps - training - 1),
            "too_many": steps * (accumulate - 1),
        }.get(mistake, steps - training)
    ]


WASTED = Formula(
    wasted,
    ("floor", "exact", "training", "share", "micro", "late", "too_many"),
    arguments=(0, 1),
)


def draw_question(rng: Random) -> dict:
    """Trainings, each with data of its own, for which every usual mistake shows."""
    question = WASTED.draw(rng, make_trainings)
    return question | {"data": [_data(rng, steps) for steps, _ in question["cases"]]}


def _data(rng, steps):
    chance = np.random.default_rng(rng.getrandbits(32))
    images = steps * rng.randint(5, 9)  # seldom so many that the parts are equal
    return {
        "weights": chance.normal(size=2).round(3).tolist(),
        "x": chance.normal(size=(images, 2)).round(3).tolist(),
        "y": chance.normal(size=images).round(3).tolist(),
        "replicas": rng.randint(1, 4),
        "peak_rate": round(rng.uniform(0.05, 0.2), 3),
    }


def trained(data: dict, steps: int) -> tuple[np.ndarray, list[float]]:
    """The weights and the rates of a training without the bug."""
    weights, x, y = (np.array(data[name]) for name in ("weights", "x", "y"))
    rates = [data["peak_rate"] * (1 - step / steps) for step in range(steps)]
    for rate, inputs, due in zip(
        rates, np.split(x, steps), np.split(y, steps), strict=True
    ):
        weights = weights - rate * 2 * inputs.T @ (inputs @ weights - due) / len(inputs)
    return weights, rates


def judge(question: dict, observation: dict) -> Wrong | None:
    """The rates and the weights of the repaired script, then the wasted steps."""

    def unrepaired(case, result, i):
        weights, rates = trained(question["data"][i], case[0])
        return not (same(result["weights"], weights) and same(result["rates"], rates))

    return judge_hunt(question, observation, unrepaired, WASTED)
