"""Exercise 5.1: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import draw_apart, first_wrong, near, which
from helpers.verdict import Wrong, phrase, wrong


def make_build(rng: Random) -> dict:
    """Two, three and one replica, all with the same two batches to train on."""
    # In two of them only the strategy tells one from the other.
    batches = rng.sample(range(4, 301), 2)
    cases = [{"replicas": n, "per_replica_batch": batches[n % 2]} for n in (2, 3, 1)]
    rng.shuffle(cases)
    return {
        "cases": cases,
        "learning_rate": round(rng.uniform(0.3, 0.6), 3),
        "momentum": round(rng.uniform(0.5, 0.9), 2),
        "weights": trainer.draw_weights(rng, 3, 3),
        "batches": trainer.draw_batches(rng, [12, 12]),
    }


def built_ways(question: dict) -> dict:
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


def draw_question(rng: Random) -> dict:
    """As `make_build`; the accuracy cannot be taken for something else."""
    return draw_apart(rng, make_build, built_ways, lambda a, b: not near(0.01)(a, b))


def judge(question: dict, observation: dict) -> Wrong | None:
    """On every strategy everything is in its scope, compiled as asked, and trains so."""
    pairs = zip(question["cases"], observation["cases"], strict=True)
    # One replica last: there a batch of one replica is the global one.
    pairs = sorted(pairs, key=lambda pair: -pair[0]["replicas"])
    cases = list(zip(*pairs, strict=True))
    return first_wrong(*cases, _wrong_build) or first_wrong(
        *cases, lambda case, seen: _wrong_training(question, seen)
    )


def _wrong_build(case, seen):
    replicas, images = case["replicas"], case["per_replica_batch"]
    where, batch = phrase("replicas", replicas=replicas), seen["global_batch"]
    models, optimizers = seen["in_scope"]["model"], seen["in_scope"]["optimizer"]
    if models is not None and not (models and seen["copies"] == replicas):
        mistake = "start" if batch == images else "model"
        return wrong(mistake, "copies", where=where, copies=seen["copies"])
    if not (models and seen["own_model"]):
        return wrong("own_model", "other_model", where=where)
    if not seen["compiled"]:
        return wrong("compiled", "not_compiled", where=where)
    if optimizers is None or not seen["own_optimizer"]:
        return wrong("own_optimizer", "other_optimizer", where=where)
    if not optimizers:
        return wrong("optimizer", "optimizer_outside", where=where)
    if seen["copies_of_metrics"] != replicas:
        return wrong("compile", "metrics_outside", where=where)
    if batch != (due := replicas * images):
        # That of another number of replicas, such as always two.
        mistake = "fixed_number" if batch in (2 * images, 3 * images) else "global_batch"
        facts = {"images": images, "batch": batch, "due": due}
        return wrong(mistake, "global_batch", where=where, **facts)
    if not seen["whole_number"]:
        return wrong("whole", "no_whole_number", where=where, batch=batch)
    if seen["jit_compile"] and replicas > 1:
        return wrong("jit_compile", "jit_compile", where=where)
    if seen["leaves_jit"] and replicas > 1:
        return wrong("jit_compile", "left_to_keras", where=where)
    if more := set(seen["options"].split(", ")) - ASKED_FOR:
        return wrong("others", "other_argument", where=where, name=min(more))
    if not seen["settings_kept"]:
        return wrong("settings", "other_setting", where=where)
    return None


ASKED_FOR = {"", "self", "optimizer", "loss", "metrics", "jit_compile"}


def _wrong_training(question, seen):
    """The loss and the accuracy that training reports, and what it does to the weights."""
    [first, _], weights = question["batches"], question["weights"]
    [losses], [right] = trainer.evaluate(weights, [first])
    logs, loss, accuracy = dict(seen["logs"]), losses.mean(), right.mean()
    if "accuracy" not in logs:
        return wrong("metrics", "no_accuracy", names=list(logs))
    if not near(1e-4)(reply := logs.pop("loss"), loss):
        return wrong("loss", "loss", loss=reply, due=loss)
    if not near(1e-4)(reply := logs.pop("accuracy"), accuracy):
        return wrong("metrics", "accuracy", accuracy=reply, due=accuracy)
    if logs:
        return wrong("others", "more_metrics", names=list(logs))
    ways = {name: way for name, way in built_ways(question).items() if name in BUILT}
    mistake = which(_flat(seen["weights"]), ways, near(1e-3, 1e-3), "settings")
    if mistake == "right":
        return None
    if mistake == "frozen":
        return wrong("frozen", "frozen")
    return wrong("settings", "elsewhere")
