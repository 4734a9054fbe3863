"""Probes of lab 03: time to accuracy."""

from numbers import Integral

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
    """Make the callback some time before training begins, then train."""
    callback = answer()
    wait(question["seconds_before_fit"])
    return train(callback, question["epochs"], wait, question["fits"])


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
