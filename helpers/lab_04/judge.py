"""Questions, verdicts and hints of lab 04: a custom training loop."""

import numpy as np

from helpers.checks.judging import tiny_network
from helpers.checks.judging.epoch_loop import judge_loop, loop_question
from helpers.checks.judging.tiny_network import mean, mean_of_means

TITLES = {
    "4.1": "one step moves the weights just as it should, and keeps count",
    "4.2": "validation measures, and changes nothing",
    "4.3": "every epoch trains, validates, and reports its own figures",
}

HINTS = {
    "4.1": {
        "unchanged": "You have gradients. Which object uses them to move the weights?",
        "inference": "Some layers behave differently in training. Which argument of the model's call tells them?",
        "sum": "With twice as many newswires in a batch, should a step be twice as long? Sum, or mean?",
        "optimizer": "Momentum, Nadam and the others remember earlier gradients. Who does the arithmetic in your step: you, or the optimizer?",
        "twice": "How often does your step call the model? Once is enough: predictions can be used twice.",
        "other": "Which loss is the gradient of, and for which variables? Is the tape still recording when the loss is computed?",
        "no_metrics": "Which two metrics are to be updated in training, and what does `update_state` take?",
        "valid_metrics": "Training and validation have metrics of their own. Which are yours here?",
        "average": "The last batch is smaller. If every batch's mean counts once, does every newswire count once, too?",
        "reset": "Which code looks at the metrics, and when? When must they start from zero?",
        "metrics": "Do loss and accuracy come from the same predictions as the gradient?",
        "eager": "What stands above the line `def train_step`, so that Python runs once and not for every batch?",
        "raised": "Read Python's error above. Does the step take (model, optimizer, metrics, x, y), and nothing from outside?",
    },
    "4.2": {
        "changed": "Which line of yours changes a weight? Is there anything to learn in validation?",
        "training": "Dropout leaves out values in training. Should it do so in validation? Which argument says so?",
        "nothing": "Which two metrics are to be updated here, and what does `update_state` take?",
        "train_metrics": "Training and validation have metrics of their own. Which are yours here?",
        "average": "The last batch is smaller. If every batch's mean counts once, does every newswire count once, too?",
        "reset": "Which code looks at the metrics, and when? When must they start from zero?",
        "metrics": "Compute by hand what the loss and the accuracy of one batch are, and compare.",
        "eager": "What stands above the line `def valid_step`, so that Python runs once and not for every batch?",
        "raised": "Read Python's error above. Does the step take (model, metrics, x, y), and nothing from outside?",
    },
    "4.3": {
        "epochs": "Count: how often does your loop go through all of `train`?",
        "no_validation": "When is `valid_step` called, and with what?",
        "valid_on_train": "Validation asks how the network does on newswires that it has not seen. Which of the two sets are those?",
        "order": "Train on every batch of `train` once, then validate on every batch of `valid` once. What does your loop do?",
        "format": "Compare your line with the example, letter by letter: `Epoch=1, Loss:1.967, Accuracy:0.489, Valid Loss:1.641, Valid Accuracy:0.583`.",
        "numbering": "Readers count epochs from 1, `range` from 0. Is there one line for each?",
        "never_reset": "A metric counts until it is reset. Where does your loop call `reset_state`, and on which metrics?",
        "reset_early": "Do you read the metrics before or after you reset them?",
        "average": "The last batch is smaller. Is a mean of the batches' means the mean over all newswires?",
        "values": "Which metric belongs to which place in the line? Print one of them on its own.",
        "no_speed": "Compare with the example, letter by letter: `Newswires/sec: 812.35`, once an epoch.",
        "validation_counted": "When does your clock stop: before the validation, or after?",
        "batches": "Do you count newswires, or batches? How many are in the last batch?",
        "whole_training": "Does every epoch restart the clock?",
        "speed": "Print the newswires and the seconds of one epoch. Are they those of its training?",
        "bar": "A reader looks at noon. What shows how long an epoch takes? One bar begins every epoch: `======== 10:02:03+0100`.",
        "zone": "How does a reader elsewhere know which time zone this is? What does `astimezone()` add to a time, and `%z` to its text?",
        "history": "What does the function return? For each metric's name a list, with a value for every epoch.",
        "raised": "Read Python's error above. Are the arguments used as the text gives them: train_step(x, y), valid_step(x, y)?",
    },
}

PRECISION = 1e-3  # float32 on any device, after a few steps


def step_question(rng):
    """Weights and batches for which training, inference and sloppy means all differ."""
    while True:
        question = {
            "weights": tiny_network.draw_weights(rng),
            "mask": rng.sample([0.0, 2.0, 2.0, 0.0], 4),
            "learning_rate": round(rng.uniform(0.05, 0.2), 3),
            "momentum": 0.9,
            # The last is smaller; and there are more steps than a graph needs tracings.
            "batches": tiny_network.draw_batches(rng, [4, 4, 4, 4, 4, 2]),
        }
        mask = np.array(question["mask"])
        ways = [tiny_network.scores(question["weights"], question["batches"], mask)]
        ways += [tiny_network.scores(question["weights"], question["batches"], 1.0)]
        ways += [tiny_network.train(question, mask)[1:]]
        means = [
            [mean(part), mean_of_means(part), mean(part[-1:])]
            for way in ways
            for part in way
        ]
        if all(np.diff(np.sort(row)).min() > 20 * PRECISION for row in means):
            return question


def judge_train_step(question, seen):
    """Weights and metrics after all steps are those that NumPy computes."""
    mask = np.array(question["mask"])
    weights, losses, right = tiny_network.train(question, mask)
    if not _same_weights(seen["weights"], weights):
        return _wrong_weights(question, seen["weights"], mask)
    examples = sum(len(batch["y"]) for batch in question["batches"])
    if seen["trained_on"] > examples:
        reason = (
            f"of {examples} newswires the layers saw {seen['trained_on']:.0f} in training"
        )
        return reason, "twice"
    metrics = seen["metrics"]
    if metrics["valid_loss"] or metrics["valid_accuracy"]:
        return "it updated the metrics of validation", "valid_metrics"
    wrong = _wrong_metrics(metrics, "", losses, right)
    return wrong or _ran_in_python(question, seen)


def _wrong_weights(question, said, mask):
    """The usual mistake that leads to exactly these weights."""
    if _same_weights(said, question["weights"]):
        return "after all steps the weights have not changed", "unchanged"
    ways = {
        "inference": tiny_network.train(question, np.ones_like(mask)),
        "sum": tiny_network.train(question, mask, summed=True),
        "optimizer": tiny_network.train(question, mask, momentum=0.0),
    }
    reason = "after two or more steps the weights are not those of the reference"
    for hint, (weights, _, _) in ways.items():
        if _same_weights(said, weights):
            return reason, hint
    return reason, "other"


def judge_valid_step(question, seen):
    """Loss and accuracy are those of inference, and the network is unchanged."""
    if not _same_weights(seen["weights"], question["weights"]):
        return "validation changed the weights", "changed"
    metrics = seen["metrics"]
    if seen["trained_on"]:
        return "the layers ran as in training", "training"
    if not any(metrics.values()):
        return "after all steps every metric is still zero", "nothing"
    if metrics["loss"] or metrics["accuracy"]:
        return "it updated the metrics of training", "train_metrics"
    losses, right = tiny_network.scores(question["weights"], question["batches"], 1.0)
    wrong = _wrong_metrics(metrics, "valid_", losses, right)
    if wrong and wrong[1] == "no_metrics":
        wrong = (wrong[0], "nothing")
    return wrong or _ran_in_python(question, seen)


def _wrong_metrics(metrics, prefix, losses, right):
    for name, parts in (("loss", losses), ("accuracy", right)):
        said = metrics[prefix + name]
        if abs(said - mean(parts)) <= PRECISION:
            continue
        reason = f"the metric `{prefix}{name}` is {said:.4f}, not {mean(parts):.4f}"
        usual = {"no_metrics": 0.0, "average": mean_of_means(parts)}
        usual["reset"] = mean(parts[-1:])
        for hint, value in usual.items():
            if abs(said - value) <= PRECISION:
                return reason, hint
        return reason, "metrics"
    return None


def _ran_in_python(question, seen):
    steps = len(question["batches"])
    if seen["python_runs"] >= steps:
        return (
            f"its Python ran {seen['python_runs']} times for {steps} batches: no graph was kept"
        ), "eager"
    return None


def _same_weights(said, right):
    return all(
        np.allclose(said[name], right[name], rtol=PRECISION, atol=PRECISION)
        for name in tiny_network.NAMES
    )


CHALLENGES = {"4.1": step_question, "4.2": step_question, "4.3": loop_question}
JUDGES = {"4.1": judge_train_step, "4.2": judge_valid_step, "4.3": judge_loop}
