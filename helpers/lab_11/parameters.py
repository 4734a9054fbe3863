"""The rules for the parameters of lab 11."""

from helpers.machine.computer import cores
from helpers.notebook.estimate import Cost
from helpers.parameters import by_scale, whole

# The value at each scale of a parameter that was left at None.
SIZES = by_scale(  # smoke, laptop, gpu
    repeats=(2, 5, 5),
    weights=(50_000, 1_000_000, 1_000_000),
    blocks=(2, 16, 16),
)
RULES = {
    "workers": whole(2, 8),
    "repeats": whole(2, 1000),
    "weights": whole(1000, 100_000_000),
    "blocks": whole(2, 256),
}

JAX_SECONDS = 20  # compiling and running in the three processes with JAX
# Each repeat: five pipelines, and recomputed steps that are timed.
REPEAT_SECONDS = 4
WORKER_SECONDS, WORKER_BYTES = 2, 2**28  # four trainings, with so many processes each


def cost(values: dict) -> Cost:
    """Compilations, pipelines that sleep, and the starts of all workers."""
    workers = values["workers"]
    shared = max(1, workers / cores())
    arrays = 40 * values["weights"]  # of a worker: weights, gradient, state and messages
    seconds = JAX_SECONDS + REPEAT_SECONDS * values["repeats"] + shared * WORKER_SECONDS
    return Cost(seconds, workers * (WORKER_BYTES + arrays))
