"""Exercise 7.2: the questions, and the verdict on what the probe saw."""

import math

import numpy as np

from helpers.checks.judging.trainer import draw_batches, train
from helpers.checks.judging.verdicts import near, which

# What an optimizer may believe to have done, before each step: a schedule would change.
ITERATIONS = [None] * 4 + [10, 30, 100, 300, 1000, 3000, 10_000, 10**8] + [None] * 2
LARGE = len(ITERATIONS) - 2  # the last two steps have large gradients


def draw_question(rng):
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


def optimizer_ways(question):
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


def judge(question, observation):
    """Every weight after every step, against the same steps computed here."""
    ways, said = optimizer_ways(question), observation["cases"]
    same, right = near(1e-5, 1e-5), ways["right"]()
    for case, due, seen in zip(question["cases"], right, said, strict=True):
        pairs = enumerate(zip(seen, due, strict=True))
        wrong = next((k for k, pair in pairs if not same(*pair)), None)
        if wrong is None:
            continue
        base, momentum, replicas = (
            case[name] for name in ("base_learning_rate", "momentum", "replicas")
        )
        step = "at the end of training" if wrong == len(case["batches"]) else (
            f"after step {(case['iterations'][wrong] or wrong) + 1}"
        )  # fmt: skip
        reason = (
            f"new_optimizer({base}, {momentum}, {replicas}): {step} the weights are "
            f"{_shown(seen[wrong])}, not {_shown(due[wrong])}"
        )
        if hint := which(said, ways, same, None):
            return reason, hint.split()[0]
        if not same(said[-1], right[-1]):  # where there is no gradient
            return reason, "decay"
        return reason, _optimizer_hint(case, wrong, seen, due)
    return None


def _shown(values):
    return ", ".join(f"{value:.5f}" for value in values[:2])


def _optimizer_hint(case, wrong, seen, due):
    """What kind of change begins in this step."""
    start = np.append(np.ravel(case["weights"][0]), case["weights"][1])
    off, first = np.subtract(seen[wrong], due[wrong]), np.subtract(due[0], start)
    if np.array_equal(seen[0], np.float32(start)):
        return "no_step"
    if wrong > LARGE + 1:
        return "average"
    if wrong >= LARGE:
        return "clipping"
    if wrong == 1 and _along(off, first):
        return "momentum"
    return "schedule" if wrong else "other"


def _along(one, other):
    return abs(one @ other) > 0.99 * np.linalg.norm(one) * np.linalg.norm(other)
