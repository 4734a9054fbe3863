"""Probes of lab 03: time to accuracy."""

import itertools
from numbers import Integral

import keras

from helpers.checks.probing.arguments import call
from helpers.checks.probing.training import train

ROW = ("reached", "runs", "median_seconds", "fastest_seconds", "slowest_seconds")


def stop_at_accuracy(answer, question, wait):
    """Train with a new callback from the answer in each case; it may stop the training."""
    return {
        "cases": [
            train(
                answer(target=case["target"], patience=case["patience"]),
                [{"batch_seconds": [0], "metrics": metrics} for metrics in case["metrics"]],
                lambda seconds: None,  # nothing here depends on time
                case["fits"],
            )
            for case in question["cases"]
        ]
    }


def print_total_time(answer, question, wait):
    """Train some time after the callback is made, and later again, with an early stop."""
    callback, epochs = answer(), question["epochs"]

    def between_epochs(epoch, logs):
        if epoch == 0:
            wait(question["seconds_between_epochs"])

    other = keras.callbacks.LambdaCallback(on_epoch_end=between_epochs)
    both = keras.callbacks.CallbackList([callback, other])
    wait(question["seconds_before_fit"])
    whole = train(both, epochs, wait, [True])
    wait(question["seconds_before_fit"])
    ran = epochs[: question["stopped_after"]]
    batches = sum(len(epoch["batch_seconds"]) for epoch in ran)
    stopped = train(both, epochs, _stopping(callback, wait, batches), [False])
    return {"printed": whole["printed"] + stopped["printed"]}


def _stopping(callback, wait, batches):
    """A `wait` that also stops training, in the last of so many batches."""
    number = itertools.count()  # the first one comes before training

    def wait_and_stop(seconds):
        wait(seconds)
        if next(number) == batches:
            callback.model.stop_training = True

    return wait_and_stop


def summarize(answer, question, wait):
    """Report the answer's summary of some finished runs: a list of keys and rows."""
    runs, target = question["runs"], question["target"]
    summary, changed = call(answer, runs=runs, target=target)
    rows = [
        [
            int(key) if isinstance(key, Integral) else repr(key),
            [None if row[name] is None else float(row[name]) for name in ROW],
        ]
        for key, row in summary.items()
    ]
    return {"rows": rows, "changed": changed}


PROBES = {"3.1": stop_at_accuracy, "3.2": print_total_time, "3.3": summarize}
