"""Exercise 6.2: the questions, and the verdict on what the probe saw."""

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
        # The given loss is the mean, but its gradient is steeper: who ignores it shows.
        "steeper": round(rng.uniform(3, 5), 2),
        "learning_rate": round(rng.uniform(0.04, 0.08), 3),
    }


def step_ways(question):
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


def draw_question(rng):
    """A network, four batches for three or four replicas, and a mask as of dropout."""
    return draw_apart(rng, _make_step, step_ways, clearly_apart)


def judge(question, seen):
    """Each replica's images, the weights, the returned losses, the metrics, the graph."""
    right = trainer.train(**_step_trainings(question)["right"])
    rows = len({len(values) for values in seen["returned"]} - {1})
    if rows and same(flat_array(seen["weights"]), flat_array(question["weights"])):
        return "the step returns a value of every replica, and trains nothing", "start"
    return (
        wrong_images(question, seen["images"], question["replicas"])
        or _wrong_weights(question, seen["weights"], right.weights)
        or _wrong_returned(question, seen["returned"], right.losses)
        or _wrong_metrics(question, seen["metrics"], seen["counts"], right)
        or _wrong_use(question, seen)
    )


def _wrong_weights(question, said, right):
    hint = which(flat_array(said), step_ways(question), same)
    if hint == "right":
        return None
    if hint == "unchanged":
        return "after all steps the weights have not changed", hint
    if hint == "own_loss":
        return "the gradient is not that of the `global_loss` that was given", hint
    start = question["weights"]
    if any(same(one, other) for one, other in zip(said, start, strict=True)):
        return "some of the network's variables have not changed", "some_variables"
    reason = (
        f"after {len(question['batches'])} steps on {question['replicas']} replicas the "
        "weights are not those of one device: they have moved "
        f"{step_ratio(said, right, start):.2f} times as far"
    )
    return reason, hint.partition(" ")[0]


def _wrong_returned(question, returned, losses):
    if any(value is None for values in returned for value in values):
        return "the step returns nothing", "nothing"
    for values in returned:
        if len(values) != 1 or np.ndim(values[0]):
            return f"the step returns {values}, not one number", "not_reduced"
    said, replicas = [values[0] for values in returned], question["replicas"]
    means = np.array([row.mean() for row in losses])
    ways = {
        "right": means,
        "reduce": means / replicas,
        "one_share": [row[: len(row) // replicas].sum() / len(row) for row in losses],
        "so_far": np.cumsum(means) / np.arange(1, len(means) + 1),
        "added": means * replicas,
        "added one by one": [row.sum() for row in losses],
    }
    if (hint := which(said, ways, same)) == "right":
        return None
    number = int(np.argmax(np.abs(said - means)))
    reason = f"step {number + 1} returns {said[number]:.4f}, and the mean loss was"
    return f"{reason} {means[number]:.4f}", hint.partition(" ")[0]


def _wrong_metrics(question, metrics, counts, right):
    if any(metrics[name] != 0.75 for name in ("valid_loss", "valid_accuracy")):
        return "it changed the metrics of validation", "valid_metrics"
    for name, rows in (("loss", right.losses), ("accuracy", right.right)):
        mean = trainer.mean(rows)
        ways = {
            "right": mean,
            "no_metrics": 0.0,
            "metric_share": mean / question["replicas"],
            "reset": rows[-1].mean(),
        }
        if (hint := which(metrics[name], ways, same, "metrics")) != "right":
            return f"the metric `{name}` is {metrics[name]:.4f}, not {mean:.4f}", hint
        images = sum(map(len, rows))
        if counts[name] != images:
            return f"the metric `{name}` got {counts[name]:g} values for {images} images", (
                "metric_share"
            )
    return None


def _wrong_use(question, seen):
    steps = len(question["batches"])
    if seen["python_runs"] >= steps * question["replicas"]:
        reason = f"its Python ran {seen['python_runs']} times for {steps} batches"
        return f"{reason}: no graph was kept", "eager"
    if seen["eager_runs"] >= steps:
        reason = f"Python called `strategy.run` {seen['eager_runs']} times"
        return f"{reason} for {steps} batches: not all of the step is a graph", "eager"
    return wrong_optimizer(seen["optimizer_steps"], steps)
