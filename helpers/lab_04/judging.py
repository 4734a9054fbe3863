"""Functions that the judges of lab 04 share."""

from random import Random

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.trainer import mean
from helpers.checks.judging.verdicts import all_near, draw_apart, near, which
from helpers.verdict import Wrong, wrong

PRECISION = 1e-3  # float32 on any device, after a few steps
NAMES = ("loss", "accuracy", "valid_loss", "valid_accuracy")
TRAINING, VALIDATION = NAMES[:2], NAMES[2:]
STEPS_SEEN = {
    "weights", "saw", "trained_on", "network_runs", "trainable", "metrics",
    "optimizer_runs", "graphs_apart", "eager_updates", "changed",
}  # fmt: skip


def make_steps(rng: Random) -> dict:
    """As `_draw_steps`, with a gradient that clipping at 5, as many do, makes shorter."""
    while longest_gradient(question := draw_steps(rng)) < 5.2:
        pass
    return question


def longest_gradient(question: dict) -> float:
    weights = [[np.array(w) for w in question["weights"]], *trained(question).after]
    mask = np.array(question["mask"])
    return max(
        np.sqrt(sum(np.square(g).sum() for g in trainer.backward(before, batch, mask)[2]))
        for before, batch in zip(weights, question["batches"], strict=False)
    )


def draw_steps(rng: Random) -> dict:
    """Weights, batches of several sizes, and metrics that have counted before."""
    return {
        "weights": trainer.draw_weights(rng, 3, 4, 3),
        "mask": rng.sample([0.0, 2.0, 2.0, 0.0], 4),
        "learning_rate": round(rng.uniform(0.05, 0.2), 3),
        "momentum": 0.9,
        # More steps than a graph needs tracings.
        "batches": trainer.draw_batches(rng, [4, 4, 1, 4, 4, 4, 2]),
        "metrics": {
            name: [rng.choice([2.0, 3.0]), rng.choice([5.0, 7.0])]
            for name in TRAINING + VALIDATION
        },
    }


def trained(question: dict, mask: object = None, **mistake) -> trainer.Trained:
    """The weights, losses and right answers of right training, or with a mistake."""
    mistake = {"momentum": question["momentum"]} | mistake
    mask = np.array(question["mask"]) if mask is None else mask
    weights, batches = question["weights"], question["batches"]
    return trainer.train(weights, batches, question["learning_rate"], mask=mask, **mistake)


def weight_ways(question: dict) -> dict:
    """For each way of training, the weights that it leads to."""
    return {
        "right": trained(question).weights,
        "inference": trained(question, mask=1.0).weights,
        "sum": trained(question, share=lambda batch: 1).weights,
        "optimizer": trained(question, momentum=0.0).weights,
        "unchanged": [np.array(w) for w in question["weights"]],
    }


def metric_ways(before: list[float], parts: list) -> dict:
    """For each way of counting, what a metric then shows."""
    total, count = before
    values = np.concatenate(parts)
    return {
        "right": (total + values.sum()) / (count + len(values)),
        "no_metrics": total / count,
        "average": (total + sum(p.mean() for p in parts)) / (count + len(parts)),
        "summed": (total + values.sum()) / (count + len(parts)),
        "reset": mean(parts[-1:]),
    }


def step_ways(question: dict) -> dict:
    """All ways, each with what it changes: only those of one kind are compared."""
    ways = {name: ("weights", way) for name, way in weight_ways(question).items()}
    training, inference = trained(question), evaluated(question)
    for run, pair in (("training", (training.losses, training.right)), ("", inference)):
        for kind, parts in zip(TRAINING, pair, strict=True):
            for name in (kind, f"valid_{kind}"):
                found = metric_ways(question["metrics"][name], parts)
                if kind == "accuracy":  # nobody sums these
                    del found["summed"]
                ways |= {
                    (run, name, way): ((run, name), value) for way, value in found.items()
                }
    return ways


def evaluated(question: dict) -> tuple[list, list]:
    return trainer.evaluate(question["weights"], question["batches"])


def ways_apart(one: tuple, other: tuple) -> bool:
    if one[0] != other[0]:
        return True
    if one[0] == "weights":
        return not all_near(20 * PRECISION, 20 * PRECISION)(one[1], other[1])
    return abs(one[1] - other[1]) > 10 * PRECISION


def step_question(rng: Random) -> dict:
    """Steps that show each usual mistake."""
    return draw_apart(rng, make_steps, step_ways, ways_apart)


def require_steps_seen(seen: dict) -> None:
    """Both exercises have the same probe, of whose reply each judge needs a part."""
    if missing := STEPS_SEEN - set(seen):
        raise ValueError(f"a reply without {missing}")


def wrong_metrics(
    question: dict, seen: dict, names: list[str], parts: object
) -> Wrong | None:
    for name, values in zip(names, parts, strict=True):
        total, count = seen["metrics"][name]
        reply = total / count if count else 0.0
        ways = metric_ways(question["metrics"][name], values)
        mistake = which(reply, ways, near(0, PRECISION), "metrics")
        if mistake != "right":
            facts = {"name": name, "value": reply, "due": ways["right"]}
            broken = name.removeprefix("valid_")
            return wrong(mistake, "metric", requirement=broken, **facts)
    return None


def ran_in_python(question: dict, seen: dict) -> Wrong | None:
    steps = len(question["batches"])
    for what in ("network", "optimizer"):
        if (runs := seen[f"{what}_runs"]) >= steps:
            return wrong("eager", "no_graph", what=what, runs=runs, steps=steps)
    if updates := seen["eager_updates"]:
        return wrong("eager", "no_graph_of_all", updates=updates, steps=steps)
    return None


def batches(question: dict, kind: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The batches of `train` or `valid`: rows and labels."""
    size, rows = question["batch_size"], question[kind]
    return [
        (np.array(rows["x"][at : at + size]), np.array(rows["y"][at : at + size]))
        for at in range(0, len(rows["x"]), size)
    ]
