"""Probes of lab 02: throughput."""

from collections import UserDict

from helpers.checks.probing.training import BATCH_SIZE, train


def print_throughput(answer, question, wait):
    """Train with the answer's callback and report what it printed."""
    images = question["images_per_sample"] * BATCH_SIZE
    total_images = images * len(question["epochs"][0]["batch_seconds"])
    return train(answer(total_images), question["epochs"], wait)


def sweep(answer, question, wait):
    """Let the answer sweep, once for each set of points that are known already."""
    return {"sweeps": [_sweep(answer, question, done) for done in question["done"]]}


def _sweep(answer, question, done):
    events = []

    def measure(batch_size):
        events.append(["measure", int(batch_size)])
        if batch_size >= question["too_large"]:
            raise MemoryError(f"no room for a batch of {batch_size}")
        return question["images_per_second"][str(batch_size)]

    class Points(UserDict):
        def __setitem__(self, key, value):
            events.append(["store", int(key)])
            super().__setitem__(key, value)

    points = Points()
    points.data.update({int(size): value for size, value in done.items()})
    crashed = False
    try:
        answer(list(question["batch_sizes"]), measure, points)
    except MemoryError:
        crashed = True
    return {
        "events": events,
        "points": {
            str(size): None if value is None else float(value)
            for size, value in points.items()
        },
        "crashed": crashed,
    }


def fit_throughput(answer, question, wait):
    """Let the answer fit points and report the two numbers it found."""
    points = {int(size): value for size, value in question["points"].items()}
    t0, peak = answer(points)
    return {"t0_seconds": float(t0), "peak": float(peak)}


PROBES = {"2.1": print_throughput, "2.2": sweep, "2.3": fit_throughput}
