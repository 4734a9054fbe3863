"""Exercise 4.2: the questions, and the verdict on what the probe saw."""

from helpers.checks.judging.verdicts import all_near
from helpers.lab_04.judging import (
    TRAINING,
    VALIDATION,
    evaluated,
    ran_in_python,
    require_steps_seen,
    wrong_metrics,
)
from helpers.lab_04.judging import step_question as draw_question  # noqa: F401
from helpers.verdict import Wrong, wrong


def judge(question: dict, seen: dict) -> Wrong | None:
    """Loss and accuracy are those of inference, and the network is unchanged."""
    require_steps_seen(seen)
    before, metrics = question["metrics"], seen["metrics"]
    if seen["trained_on"] and metrics["valid_loss"] == before["valid_loss"]:
        return wrong("start", "start")
    if not all_near(0, 1e-6)(seen["weights"], question["weights"]):
        return wrong("learned", "weights", requirement="weights")
    if seen["trainable"] != len(question["weights"]):
        return wrong("frozen", "now_trainable", count=seen["trainable"])
    if seen["trained_on"]:
        return wrong("training", "training")
    if any(metrics[name] != before[name] for name in TRAINING):
        return wrong("train_metrics", "train_metrics")
    verdict = wrong_metrics(question, seen, VALIDATION, evaluated(question))
    if verdict := verdict or ran_in_python(question, seen):
        return verdict
    if seen["saw"] < sum(len(batch["y"]) for batch in question["batches"]):
        return wrong("learned", "not_trained", requirement="trainable")
    return None
