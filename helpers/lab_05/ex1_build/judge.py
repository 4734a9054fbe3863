"""Exercise 5.1: the questions, and the verdict on what the probe saw."""

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, which


def make_build(rng):
    """Two, three and one replica, all with the same two batches to train on."""
    cases = [
        {"replicas": replicas, "per_replica_batch": rng.randint(4, 300)}
        for replicas in (2, 3, 1)
    ]
    rng.shuffle(cases)
    return {
        "cases": cases,
        "learning_rate": round(rng.uniform(0.3, 0.6), 3),
        "momentum": round(rng.uniform(0.5, 0.9), 2),
        "weights": trainer.draw_weights(rng, 3, 3),
        "batches": trainer.draw_batches(rng, [12, 12]),
    }


def built_ways(question):
    """Each way of training, as arguments of `trainer.train`; then other accuracies."""
    names = "weights", "batches", "learning_rate", "momentum"
    right = {name: question[name] for name in names}
    ways = {
        name: _flat(trainer.train(**right | way).weights) for name, way in BUILT.items()
    }
    kernel, bias = question["weights"]
    [first, _] = question["batches"]
    scores = np.exp(np.array(first["x"]) @ np.array(kernel) + np.array(bias))
    chances, truth = scores / scores.sum(axis=1, keepdims=True), np.eye(3)[first["y"]]
    accuracies = (
        (scores.argmax(axis=1) == first["y"]).mean(),
        ((chances > 0.5) == truth).mean(),
        1.0,
        0.0,
    )
    return ways | dict(enumerate(accuracies))


BUILT = {
    "right": {},
    "frozen": {"learning_rate": 0.0},
    "one_step": {"momentum": 0.0},
}


def _flat(weights):
    return np.concatenate([np.ravel(values) for values in weights])


def draw_question(rng):
    """As `make_build`; the accuracy cannot be taken for something else."""
    return draw_apart(rng, make_build, built_ways, lambda a, b: not near(0.01)(a, b))


def judge(question, observation):
    """On every strategy everything is in its scope, compiled as asked, and trains so."""
    cases = question["cases"], observation["cases"]
    return first_wrong(*cases, _wrong_build) or first_wrong(
        *cases, lambda case, seen: _wrong_training(question, seen)
    )


def _wrong_build(case, seen):
    replicas, batch = case["replicas"], case["per_replica_batch"]
    right, of = replicas * batch, f"with {replicas} replica{'s' * (replicas > 1)}"
    models, optimizers = seen["in_scope"]["model"], seen["in_scope"]["optimizer"]
    if models is not None and not (models and seen["copies"] == replicas):
        hint = "start" if seen["global_batch"] == batch else "model"
        return f"{of} each weight has {seen['copies']}: a copy on each was due", hint
    if not (models and seen["own_model"]):
        return f"{of} the model is not one that new_model() gave", "own_model"
    if not seen["compiled"]:
        return f"{of} the model is not compiled", "compiled"
    if optimizers is None or not seen["own_optimizer"]:
        return f"{of} it is not compiled with what new_optimizer() gave", "own_optimizer"
    if not optimizers:
        return f"{of} the optimizer was made outside the strategy's scope", "optimizer"
    if seen["copies_of_metrics"] != replicas:
        return f"{of} compile made its metrics outside the strategy's scope", "compile"
    if not (seen["whole_number"] and seen["global_batch"] == right):
        said = f"{seen['global_batch']:g}"
        if seen["global_batch"] == right:
            return f"{of} the global batch {said} is not a whole number in Python", "whole"
        return f"{of}, {batch} images on each: it says {said}, not {right}", "global_batch"
    if seen["jit_compile"] and replicas > 1:
        return f"{of} the model is compiled with XLA", "jit_compile"
    if more := set(seen["options"].split(", ")) - ASKED_FOR:
        return f"{of} `compile` was given `{min(more)}`, too", "others"
    if not seen["settings_kept"]:
        return f"{of} a setting of the optimizer is another one", "settings"
    return None


ASKED_FOR = {"", "self", "optimizer", "loss", "metrics", "jit_compile"}


def _wrong_training(question, seen):
    """The loss and the accuracy that training reports, and what it does to the weights."""
    [first, _], weights = question["batches"], question["weights"]
    [losses], [right] = trainer.evaluate(weights, [first])
    logs, loss, accuracy = dict(seen["logs"]), losses.mean(), right.mean()
    if "accuracy" not in logs:
        return f"training reports {', '.join(logs)}, no accuracy", "metrics"
    if not near(1e-4)(logs.pop("loss"), loss):
        return f"the loss is {seen['logs']['loss']:.4f} where {loss:.4f} was due", "loss"
    if not near(1e-4)(said := logs.pop("accuracy"), accuracy):
        return f"the accuracy is {said:.3f} where {accuracy:.3f} was due", "metrics"
    if logs:
        return f"training reports {', '.join(logs)}, too", "others"
    ways = {name: way for name, way in built_ways(question).items() if name in BUILT}
    hint = which(_flat(seen["weights"]), ways, near(1e-3, 1e-3), "settings")
    if hint == "right":
        return None
    if hint == "frozen":
        return "nothing in the model learns", "frozen"
    return "two steps of training do not lead where the optimizer goes", "settings"
