"""Exercise 6.2: the questions, and the verdict on what the probe saw."""

from random import Random

import numpy as np

from helpers.checks.judging import trainer
from helpers.checks.judging.verdicts import draw_apart, which
from helpers.lab_06.judging import (
    DIVISORS,
    clearly_apart,
    draw_network,
    flat_array,
    gradient_share,
    keras_agrees,
    mean_divisor,
    same,
    step_ratio,
    ways_to_train,
    wrong_images,
    wrong_optimizer,
)
from helpers.verdict import Wrong, wrong


def _make_step(rng):
    """Draw one until Keras would train as the trainer here does."""
    while True:
        question = _draw_step(rng)
        right = trainer.train(**_step_trainings(question)["right"])
        if keras_agrees(right.losses):
            return question


def _draw_step(rng):
    replicas = rng.choice([3, 4])
    return draw_network(rng, [2 * replicas] * 4) | {
        "replicas": replicas,
        # The given loss is the mean with a steeper gradient, so ignoring it shows.
        "steeper": round(rng.uniform(3, 5), 2),
        "learning_rate": round(rng.uniform(0.04, 0.08), 3),
        # By each metric, before the step is made.
        "counted_before": {"total": 3.0, "count": 4.0},
    }


def step_ways(question: dict) -> dict:
    """For each way of training, the weights at the end."""
    divisors = {
        "times_replicas": DIVISORS["start"],
        "divided": DIVISORS["twice"],
        "averaged": DIVISORS["averaged"],
        "averaged by Keras": lambda own, images, replicas: images * images,
    }
    # Of the given loss, or of one that the step has itself and is right but for this.
    own = {f"{name} by itself": by for name, by in divisors.items()}
    own |= {"own_loss": mean_divisor, "sum": DIVISORS["sum"]}
    replicas, steeper = question["replicas"], question["steeper"]
    shares = {name: gradient_share(by, replicas, steeper) for name, by in divisors.items()}
    shares |= {name: gradient_share(by, replicas) for name, by in own.items()}
    ways = _step_trainings(question, **shares)
    return {name: flat_array(trainer.train(**way).weights) for name, way in ways.items()}


def _step_trainings(question, **shares):
    steep = gradient_share(mean_divisor, question["replicas"], question["steeper"])
    ways = ways_to_train(question, question["batches"])
    return {name: way | {"share": steep} for name, way in ways.items()} | {
        name: ways["right"] | {"share": share} for name, share in shares.items()
    }


def draw_question(rng: Random) -> dict:
    """A network, four batches for three or four replicas, and a mask as of dropout."""
    return draw_apart(rng, _make_step, step_ways, clearly_apart)


def judge(question: dict, seen: dict) -> Wrong | None:
    """Each replica's images, the weights, the returned losses, the metrics, the graph."""
    right = trainer.train(**_step_trainings(question)["right"])
    rows = len({len(values) for values in seen["returned"]} - {1})
    if rows and same(flat_array(seen["weights"]), flat_array(question["weights"])):
        return wrong("start", "start")
    return (
        wrong_images(question, seen["images"], question["replicas"])
        or _wrong_weights(question, seen["weights"], right.weights)
        or _wrong_returned(question, seen["returned"], right.losses)
        or _wrong_metrics(question, seen["metrics"], seen["counts"], right)
        or _wrong_use(question, seen)
    )


def _wrong_weights(question, said, right):
    mistake = which(flat_array(said), step_ways(question), same).split()[0]
    if mistake == "right":
        return None
    if mistake == "unchanged":
        return wrong("unchanged", "unchanged")
    if mistake == "own_loss":
        return wrong("own_loss", "own_loss")
    start = question["weights"]
    if any(same(one, other) for one, other in zip(said, start, strict=True)):
        return wrong("some_variables", "some_variables")
    facts = {"steps": len(question["batches"]), "replicas": question["replicas"]}
    return wrong(mistake, "weights", times=step_ratio(said, right, start), **facts)


def _wrong_returned(question, returned, losses):
    if any(value is None for values in returned for value in values):
        return wrong("nothing", "nothing")
    for values in returned:
        if len(values) != 1 or np.ndim(values[0]):
            return wrong("not_reduced", "values", values=values)
    said, replicas = [values[0] for values in returned], question["replicas"]
    before = question["counted_before"]
    means = np.array([row.mean() for row in losses])
    ways = {
        "right": means,
        "reduce": means / replicas,
        "one_share": [row[: len(row) // replicas].sum() / len(row) for row in losses],
        "so_far": (before["total"] + np.cumsum([sum(row) for row in losses]))
        / (before["count"] + np.cumsum([len(row) for row in losses])),
        "added": means * replicas,
        "added singly": [row.sum() for row in losses],
    }
    mistake = which(said, ways, same).split()[0]
    if mistake == "right":
        return None
    i = int(np.argmax(np.abs(said - means)))
    return wrong(mistake, "returned", step=i + 1, loss=said[i], due=means[i])


def _wrong_metrics(question, metrics, counts, right):
    total, count = (question["counted_before"][name] for name in ("total", "count"))
    before = total / count
    if any(metrics[name] != before for name in ("valid_loss", "valid_accuracy")):
        return wrong("valid_metrics", "valid_metrics")
    for name, rows in (("loss", right.losses), ("accuracy", right.right)):
        images, means = sum(map(len, rows)), sum(row.mean() for row in rows)
        mean = (total + sum(row.sum() for row in rows)) / (count + images)
        replicas = question["replicas"]
        updates = count + replicas * len(rows)
        ways = {
            "right": mean,
            "no_metrics": before,
            "metric_share": (total + means) / updates,
            "metric_share of means": (total + replicas * means) / updates,
            "reset": rows[-1].mean(),
            "reset when made": trainer.mean(rows),
        }
        mistake = which(metrics[name], ways, same, "metrics").split()[0]
        if mistake != "right":
            facts = {"name": name, "value": metrics[name], "due": mean}
            return wrong(mistake, "metric", requirement=name, **facts)
        # Each replica has a part of what was counted before.
        if (values := round(counts[name] - count)) != images:
            facts = {"name": name, "values": values, "images": images}
            return wrong("metric_share", "counts", requirement=name, **facts)
    return None


def _wrong_use(question, seen):
    steps = len(question["batches"])
    if (runs := seen["python_runs"]) >= steps * question["replicas"]:
        return wrong("eager", "no_graph", runs=runs, steps=steps)
    if (runs := seen["eager_runs"]) >= steps:
        return wrong("eager", "eager_runs", runs=runs, steps=steps)
    return wrong_optimizer(seen["optimizer_steps"], steps)
