"""Exercise 4.2: the questions, and the verdict on what the probe saw."""

from helpers.checks.judging.verdicts import (
    all_near,
)
from helpers.lab_04.judging import (
    TRAINING,
    VALIDATION,
    evaluated,
    now_trainable,
    ran_in_python,
    require_steps_seen,
    wrong_metrics,
)
from helpers.lab_04.judging import step_question as draw_question  # noqa: F401


def judge(question, seen):
    """Loss and accuracy are those of inference, and the network is unchanged."""
    require_steps_seen(seen)
    before, metrics = question["metrics"], seen["metrics"]
    if seen["trained_on"] and metrics["valid_loss"] == before["valid_loss"]:
        return "the layers ran as in training, and `valid_loss` stayed as it was", "start"
    if not all_near(0, 1e-6)(seen["weights"], question["weights"]):
        return "validation changed the weights", "learned"
    if seen["trainable"] != len(question["weights"]):
        return now_trainable(seen), "frozen"
    if seen["trained_on"]:
        return "the layers ran as in training", "training"
    if any(metrics[name] != before[name] for name in TRAINING):
        return "it changed the metrics of training", "train_metrics"
    pairs = zip(VALIDATION, evaluated(question), strict=True)
    if wrong := wrong_metrics(question, seen, pairs) or ran_in_python(question, seen):
        return wrong
    if seen["saw"] < sum(len(batch["y"]) for batch in question["batches"]):
        return "validation changed a variable of the model that is not trained", "learned"
    return None
