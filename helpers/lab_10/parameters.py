"""The rules for the parameters of lab 10."""

from helpers.machine.computer import cores
from helpers.notebook.estimate import Cost
from helpers.parameters import by_scale, whole

# The value at each scale of a parameter that was left at None.
SIZES = by_scale(  # smoke, laptop, gpu
    repeats=(3, 15, 15),
)
RULES = {
    # More workers would only wait for cores; each takes half a gigabyte of memory.
    "workers": whole(2, 8),
    "repeats": whole(3, 1000),
}

# Time and memory for the start of TensorFlow in a worker that has a core of its own.
START_SECONDS, START_BYTES = 8, 2**29
STARTS = 2  # measured, and held out
# For each repeat: steps with stragglers (2 for each number of workers), with buckets (7
# sizes of about a third of a second), and section 3's rounds.
REPEAT_SECONDS = 4


def cost(values: dict) -> Cost:
    """The starts of all workers, and the repeated measurements."""
    workers = values["workers"]
    shared = max(1, workers / cores())
    seconds = shared * STARTS * START_SECONDS + REPEAT_SECONDS * values["repeats"]
    return Cost(seconds, workers * START_BYTES)
