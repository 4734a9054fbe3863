"""Exercise 5.3: the questions, and the verdict on what the probe saw."""

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import all_near, draw_apart, first_wrong, near, which


def make_training(rng):
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


def trained(case, batch=None, epochs=1, shared=True, dropped=False, counted=True):
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


def training_ways(question):
    """For each way of training, the weights of all cases, in one list."""
    return {
        name: [w for case in question["cases"] for w in trained(case, **way(case))]
        for name, way in TRAINING_WAYS.items()
    }


SAME_WEIGHTS = all_near(1e-4, 1e-4)


def draw_question(rng):
    """Trainings in which every usual mistake gives other weights."""
    return draw_apart(
        rng, make_training, training_ways, lambda a, b: not all_near(0.01, 0.01)(a, b)
    )


def judge(question, observation):
    """The weights that one epoch gives over each strategy, up to rounding."""
    seen = observation["cases"]
    said = [weights for one in seen for weights in one["weights"]]
    hint = which(said, training_ways(question), SAME_WEIGHTS)

    def judge(case, one):
        of = f"with {case['replicas']} replica{'s' * (case['replicas'] > 1)}"
        if one["in_scope"] is None:
            return f"{of} it does not call `new_model`", "scope"
        if not one["in_scope"]:
            alone = SAME_WEIGHTS(one["weights"], trained(case, shared=False))
            return f"{of} the model was made outside the strategy's scope", (
                "scope" if alone else "start"
            )
        if not one["own_compile"]:
            return f"{of} the model has another optimizer or loss", "compiled"
        right = trained(case)
        shapes = [np.shape(weights) for weights in one["weights"]]
        if shapes != [np.shape(weights) for weights in right]:
            return f"{of} the weights that it returns have the shapes {shapes}", "shapes"
        if not SAME_WEIGHTS(one["weights"], right):
            return f"{of} {_apart(one['weights'], right)}", (
                _training_hint(one["weights"], case) if hint == "other" else hint.split()[0]
            )
        if one["fits"] != 1:
            return f"{of} it calls `fit` {one['fits']} times", "fits"
        if not one["arrays"]:
            return f"{of} the weights that it returns are not NumPy arrays", "arrays"
        if any("loss:" in line or "/step" in line for line in one["printed"]):
            return f"{of} `fit` prints how far it is", "silent"
        return None

    return first_wrong(question["cases"], seen, judge)


def _apart(weights, right):
    apart = [np.abs(np.subtract(a, b)).max() for a, b in zip(weights, right, strict=True)]
    most = f"weights differ from the right ones by up to {max(apart[1:]):.3f}"
    return f"{most}, the model's running averages by {apart[0]:.3f}"


def _training_hint(weights, case):
    # How many images a batch had, and which, the averages know.
    rows, images = (
        near(5e-3)(*pair) for pair in zip(weights[0], trained(case)[0], strict=True)
    )
    if rows and images:
        return "settings"
    return "shuffle" if rows else "from"
