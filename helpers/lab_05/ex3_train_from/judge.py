"""Exercise 5.3: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import all_near, draw_apart, first_wrong, near, which
from helpers.verdict import Wrong, phrase, wrong


def make_training(rng: Random) -> dict:
    """Over several replicas and on one device, with a last batch that does not divide."""
    cases = []
    for replicas in (rng.choice([2, 3]), 1):
        batch = {1: 4, 2: 8, 3: 9}[replicas]
        divides_badly = [k for k in range(replicas + 1, batch) if k % replicas]
        left = rng.choice(divides_badly or [1, 2, 3])
        [data] = trainer.draw_batches(rng, [3 * batch + left])
        cases.append(
            {
                "replicas": replicas,
                "global_batch": batch,
                "learning_rate": round(rng.uniform(0.3, 0.6), 2),
                "momentum": round(rng.uniform(0.5, 0.9), 2),
                "start": [
                    [rng.randint(20, 90), rng.uniform(5, 9)],
                    *trainer.draw_weights(rng, 3, 3),
                ],
                **data,
            }
        )
    return {"cases": cases}


def trained(
    case: dict,
    batch: int | None = None,
    epochs: int = 1,
    shared: bool = True,
    dropped: bool = False,
    counted: bool = True,
) -> list:
    """The weights after training in some way, the running average first."""
    batch, replicas = batch or case["global_batch"], case["replicas"] if shared else 1
    rows = len(case["y"])
    batches = [
        {name: case[name][i : i + batch] for name in ("x", "y")}
        for i in range(0, rows - batch + 1 if dropped else rows, batch)
    ] * epochs
    averages, *weights = case["start"]
    averages = np.array(averages) * counted
    for part in batches:
        seen = len(part["y"]), np.sum(part["x"], axis=0)[0]
        averages = averages / 2 + np.array(seen) / replicas
    weights = trainer.train(
        weights,
        batches,
        case["learning_rate"],
        case["momentum"],
        share=lambda part: _shares(len(part["y"]), replicas),
    ).weights
    return [averages, *weights]


def _shares(images, replicas):
    """The mean of the shares' means, as `fit` takes it: what each image counts for."""
    largest = -(-images // replicas)
    sizes = [min(largest, images - i) for i in range(0, images, largest)]
    return np.concatenate([np.full(size, 1 / (replicas * size)) for size in sizes])


TRAINING_WAYS = {
    "right": lambda case: {},
    "untrained": lambda case: {"epochs": 0},
    "epochs": lambda case: {"epochs": 2},
    "epochs 3": lambda case: {"epochs": 3},
    "batch": lambda case: {"batch": case["global_batch"] // case["replicas"]},
    "batch larger": lambda case: {"batch": case["global_batch"] * case["replicas"]},
    "last": lambda case: {"dropped": True},
    "shares": lambda case: {"shared": False},
    "averages": lambda case: {"counted": False},
}


def training_ways(question: dict) -> dict:
    """For each way of training, the weights of all cases, in one list."""
    return {
        name: [w for case in question["cases"] for w in trained(case, **way(case))]
        for name, way in TRAINING_WAYS.items()
    }


SAME_WEIGHTS = all_near(1e-4, 1e-4)


def draw_question(rng: Random) -> dict:
    """Trainings in which every usual mistake gives other weights."""
    return draw_apart(
        rng, make_training, training_ways, lambda a, b: not all_near(0.01, 0.01)(a, b)
    )


def judge(question: dict, observation: dict) -> Wrong | None:
    """The weights that one epoch gives over each strategy, up to rounding."""
    seen = observation["cases"]
    reply = [weights for one in seen for weights in one["weights"]]
    usual = which(reply, training_ways(question), SAME_WEIGHTS).split()[0]
    return first_wrong(
        question["cases"], seen, lambda case, one: _wrong_case(case, one, usual)
    )


def _wrong_case(case, seen, usual):
    """One training; `usual` is the mistake that gives the weights of all cases."""
    where, weights = phrase("replicas", replicas=case["replicas"]), seen["weights"]
    if seen["in_scope"] is None:
        return wrong("scope", "no_model", where=where)
    if not seen["in_scope"]:
        alone = SAME_WEIGHTS(weights, trained(case, shared=False))
        return wrong("scope" if alone else "start", "outside", where=where)
    if not seen["own_compile"]:
        return wrong("compiled", "compiled", where=where)
    right = trained(case)
    shapes = [np.shape(one) for one in weights]
    if shapes != [np.shape(one) for one in right]:
        return wrong("shapes", "shapes", where=where, shapes=shapes)
    if not SAME_WEIGHTS(weights, right):
        mistake = _training_mistake(weights, case) if usual == "other" else usual
        if mistake == "untrained" and seen["fits"]:
            mistake = "too_early"
        averages, *apart = (
            np.abs(np.subtract(a, b)).max() for a, b in zip(weights, right, strict=True)
        )
        return wrong(mistake, "weights", where=where, apart=max(apart), averages=averages)
    if seen["fits"] != 1:
        return wrong("fits", "fits", where=where, fits=seen["fits"])
    if not seen["arrays"]:
        return wrong("arrays", "no_arrays", where=where)
    if any("loss:" in line or "/step" in line for line in seen["printed"]):
        return wrong("silent", "printed", where=where)
    return None


def _training_mistake(weights, case):
    """How many images a batch had, and which, the averages know."""
    rows, images = map(near(5e-3), weights[0], trained(case)[0])
    if rows:
        return "settings" if images else "shuffle"
    twice = near(5e-3)(weights[0], trained(case, epochs=2)[0])
    return "epochs" if twice else "from"
