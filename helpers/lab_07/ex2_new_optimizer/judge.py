"""Exercise 7.2: the questions, and the verdict on what the probe saw."""

import math
import random

import numpy as np

from helpers.checks.judging.trainer import draw_batches, train
from helpers.checks.judging.verdicts import near, which
from helpers.verdict import Wrong, phrase, wrong

# What an optimizer may believe to have done, before each step: a schedule would change.
ITERATIONS = [None] * 4 + [10, 30, 100, 300, 1000, 3000, 10_000, 10**8] + [None] * 2
LARGE = len(ITERATIONS) - 2  # the last two steps have large gradients


def draw_question(rng: random.Random) -> dict:
    """Small regressions, for many replicas, few, and one."""

    def case(replicas, momentum):
        weights = [[[rng.uniform(1, 3)] for _ in range(3)], [rng.uniform(1, 3)]]
        batches = draw_batches(rng, [4] * len(ITERATIONS), 3, None)
        for step, batch in enumerate(batches):
            batch["x"] = [[value / 2 for value in row] for row in batch["x"]]
            away = 0.1 if step < LARGE else 3e5
            # The gradients are small, until the weights are far from what fits.
            batch["y"] = [
                sum(w * v for [w], v in zip(weights[0], row, strict=True))
                + weights[1][0] + away * (2 + y)
                for row, y in zip(batch["x"], batch["y"], strict=True)
            ]  # fmt: skip
        return {
            "base_learning_rate": round(rng.uniform(0.004, 0.01), 5),
            "momentum": momentum,
            "replicas": replicas,
            "weights": weights,
            "batches": batches,
            "iterations": ITERATIONS,
        }

    # No gradient and long steps: only what shrinks the weights moves them.
    still = case(rng.choice([12, 16]), 0.9) | {"base_learning_rate": rng.choice([0.8, 0.9])}
    still["weights"] = [
        [[rng.randint(1, 9) / 4] for _ in range(3)],
        [rng.randint(1, 9) / 4],
    ]
    [_, [bias]] = still["weights"]
    still["batches"] = [{"x": [[0.0] * 3] * 4, "y": [bias] * 4} for _ in ITERATIONS]
    return {
        "cases": [
            case(rng.choice([3, 5, 6]), rng.choice([0.33, 0.42, 0.64, 0.71])),
            # Many cores: no rate is too large for the rule.
            case(many := rng.choice([48, 64]), rng.choice([0.83, 0.86]))
            | {"base_learning_rate": round(rng.uniform(0.55, 0.7) / many, 5)},
            case(1, 0.0),
            still,
        ]
    }


def optimizer_ways(question: dict) -> dict:
    """For each usual optimizer, the weights of all cases after each step."""
    names = "base_learning_rate", "momentum", "replicas"

    def way(rate=lambda base, m, n: base * n, kept=lambda base, m: m, nesterov=False):
        found = []
        for case in question["cases"]:
            base, m, replicas = (case[name] for name in names)
            trained = train(
                case["weights"], case["batches"], rate(base, m, replicas), kept(base, m),
                nesterov,
            )  # fmt: skip
            after = [np.concatenate([w.ravel() for w in ws]) for ws in trained.after]
            found.append([*after, after[-1]])
        return found

    ways = {
        "right": way,
        "start": lambda: way(lambda base, m, n: base, lambda base, m: 0.0),
        "scale": lambda: way(lambda base, m, n: base),
        "divided": lambda: way(lambda base, m, n: base / n),
        "root": lambda: way(lambda base, m, n: base * math.sqrt(n)),
        "fixed": lambda: way(lambda base, m, n: base * 8),
        "nesterov": lambda: way(nesterov=True),
        "dampened": lambda: way(lambda base, m, n: base * n * (1 - m)),
        "swapped": lambda: way(lambda base, m, n: m * n, lambda base, m: base),
    }
    for kept in (0.0, 0.5, 0.9):
        ways[f"momentum {kept}"] = lambda kept=kept: way(kept=lambda base, m: kept)
    return ways


def judge(question: dict, observation: dict) -> Wrong | None:
    """Every weight after every step, against the same steps computed here."""
    ways, said = optimizer_ways(question), observation["cases"]
    same, right = near(1e-5, 1e-5), ways["right"]()
    for case, due, seen in zip(question["cases"], right, said, strict=True):
        pairs = enumerate(zip(seen, due, strict=True))
        step = next((k for k, pair in pairs if not same(*pair)), None)
        if step is None:
            continue
        mistake = which(said, ways, same, "").partition(" ")[0]
        if not mistake and not same(said[-1], right[-1]):  # where there is no gradient
            mistake = "decay"
        return wrong(
            mistake or _mistake_from(case, step, seen, due), "weights",
            base_learning_rate=case["base_learning_rate"], momentum=case["momentum"],
            replicas=case["replicas"], when=_when(case, step),
            weights=seen[step][:2], right_weights=due[step][:2],
        )  # fmt: skip
    return None


def _when(case, step):
    if step == len(case["batches"]):
        return phrase("at_end")
    return phrase("after_step", step=(case["iterations"][step] or step) + 1)


def _mistake_from(case, step, seen, due):
    """What kind of change begins in this step."""
    start = np.append(np.ravel(case["weights"][0]), case["weights"][1])
    if np.array_equal(seen[0], np.float32(start)):
        return "no_step"
    if step > LARGE + 1:
        return "average"
    if step >= LARGE:
        return "clipping"
    along = _along(np.subtract(seen[step], due[step]), np.subtract(due[0], start))
    if step == 0:
        return "rate" if along else "other"
    return "momentum" if step == 1 and along else "schedule"


def _along(one, other):
    return abs(one @ other) > 0.99 * np.linalg.norm(one) * np.linalg.norm(other)
