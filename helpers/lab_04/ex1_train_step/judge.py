"""Exercise 4.1: the questions, and the verdict on what the probe saw."""

from helpers.checks.judging.verdicts import (
    all_near,
    near,
    which,
)
from helpers.lab_04.judging import (
    PRECISION,
    TRAINING,
    VALIDATION,
    now_trainable,
    ran_in_python,
    require_steps_seen,
    trained,
    weight_ways,
    wrong_metrics,
)
from helpers.lab_04.judging import step_question as draw_question  # noqa: F401

same_weights = all_near(PRECISION, PRECISION)


def judge(question, seen):
    """Weights and metrics after all steps are those that NumPy computes."""
    require_steps_seen(seen)
    right, batches = trained(question), question["batches"]
    before, metrics = question["metrics"], seen["metrics"]
    if seen["trainable"] != len(question["weights"]):
        return now_trainable(seen), "frozen"
    if not same_weights(seen["weights"], right.weights):
        hint = which(seen["weights"], weight_ways(question), same_weights)
        if hint == "unchanged" and metrics["loss"] == before["loss"]:
            hint = "start"
        still = [
            near(0, 1e-6)(said, was)
            for said, was in zip(seen["weights"], question["weights"], strict=True)
        ]
        if hint == "other" and any(still):
            hint = "frozen"
        moved = f"{len(still) - sum(still)} of {len(still)} weights moved"
        return f"after all steps the weights are wrong ({moved})", hint
    examples = sum(len(batch["y"]) for batch in batches)
    if seen["saw"] > examples:
        return f"of {examples} newswires the layers saw {seen['saw']:.0f}", "twice"
    if any(metrics[name] != before[name] for name in VALIDATION):
        return "it changed the metrics of validation", "valid_metrics"
    pairs = zip(TRAINING, (right.losses, right.right), strict=True)
    if wrong := wrong_metrics(question, seen, pairs) or ran_in_python(question, seen):
        return wrong
    if not seen["optimizer_runs"]:
        return "the optimizer that was given made no step", "optimizer"
    if seen["graphs_apart"]:
        return "the network runs in one graph, and the optimizer in another", "eager"
    return None
