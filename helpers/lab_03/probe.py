"""Probes of lab 03: time to accuracy."""

from helpers.checks.probing.training import train


def stop_at_accuracy(answer, question, wait):
    """Train with a new callback from the answer each time; it may stop the training."""
    trainings = []
    for epochs in question["trainings"]:
        callback = answer(target=question["target"], patience=question["patience"])
        trainings.append(train(callback, epochs, wait))
    return {"trainings": trainings}


def print_total_time(answer, question, wait):
    """Make the callback some time before training begins, then train."""
    callback = answer()
    wait(question["seconds_before_fit"])
    return train(callback, question["epochs"], wait, fits=question["fits"])


def summarize(answer, question, wait):
    """Report the answer's summary of some finished runs."""
    summary = answer(question["runs"], question["target"])
    return {
        "summary": {
            str(int(batch_size)): {
                "reached": int(row["reached"]),
                "runs": int(row["runs"]),
                **{
                    name: None if row[name] is None else float(row[name])
                    for name in ("median_seconds", "fastest_seconds", "slowest_seconds")
                },
            }
            for batch_size, row in summary.items()
        }
    }


PROBES = {"3.1": stop_at_accuracy, "3.2": print_total_time, "3.3": summarize}
