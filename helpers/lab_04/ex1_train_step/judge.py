"""Exercise 4.1: the questions, and the verdict on what the probe saw."""

from helpers.checks.judging.verdicts import all_near, near, which
from helpers.lab_04.judging import (
    PRECISION,
    TRAINING,
    VALIDATION,
    ran_in_python,
    require_steps_seen,
    trained,
    weight_ways,
    wrong_metrics,
)
from helpers.lab_04.judging import step_question as draw_question  # noqa: F401
from helpers.verdict import Wrong, wrong

same_weights = all_near(PRECISION, PRECISION)


def judge(question: dict, seen: dict) -> Wrong | None:
    """Weights and metrics after all steps are those that NumPy computes."""
    require_steps_seen(seen)
    right, batches = trained(question), question["batches"]
    before, metrics = question["metrics"], seen["metrics"]
    if seen["trainable"] != len(question["weights"]):
        return wrong("frozen", "now_trainable", count=seen["trainable"])
    if not same_weights(seen["weights"], right.weights):
        mistake = which(seen["weights"], weight_ways(question), same_weights)
        if mistake == "unchanged" and metrics["loss"] == before["loss"]:
            mistake = "start"
        still = [
            near(0, 1e-6)(said, was)
            for said, was in zip(seen["weights"], question["weights"], strict=True)
        ]
        if mistake == "other" and any(still):
            mistake = "frozen"
        return wrong(mistake, "weights", moved=still.count(False), all=len(still))
    newswires = sum(len(batch["y"]) for batch in batches)
    if seen["saw"] > newswires:
        return wrong("twice", "twice", newswires=newswires, saw=seen["saw"])
    if any(metrics[name] != before[name] for name in VALIDATION):
        return wrong("valid_metrics", "valid_metrics")
    parts = right.losses, right.right
    verdict = wrong_metrics(question, seen, TRAINING, parts)
    if verdict := verdict or ran_in_python(question, seen):
        return verdict
    if not seen["optimizer_runs"]:
        return wrong("optimizer", "no_step")
    if seen["graphs_apart"]:
        return wrong("eager", "two_graphs")
    return None
