"""The rules for the parameters of lab 09."""

from helpers.errors import ParameterError
from helpers.machine.computer import cores
from helpers.notebook.estimate import Cost, Network
from helpers.parameters import by_scale, usual, whole

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    train_images=(512, 8192, 60_000),
    repeats=(5, 30, 30),
)
RULES = usual("train_images", "learning_rate") | {
    # More would only wait for each other's cores; each takes half a gigabyte of memory.
    "workers": whole(2, 8),
    "repeats": whole(3, 1000),
}

# Two dense layers: 784 values, 128 between them, 10 classes.
SMALL_NETWORK = Network(101_632, 138, 101_770)
# Until TensorFlow has started in each worker, where each has a core; and what it holds.
START_SECONDS, START_BYTES = 8, 2**29
STARTS = 6  # training, fit, killed, resumed, until SIGTERM, resumed after it
TRAININGS = 7  # one start has two, and two have a half; one more is in the notebook
REPEAT_SECONDS = 0.2  # all-reduces of both rings


def refuse(values: dict) -> None:
    """Refuse a global batch that gives a worker nothing, or that is larger than the set."""
    batch, workers = values.get("batch_size"), values.get("workers")
    images = values.get("train_images")
    if batch and workers and batch < workers:
        raise ParameterError(
            f"batch_size {batch:,} leaves some of {workers} workers without an image: use "
            f"at least {workers}."
        )
    if batch and images and batch > images:
        raise ParameterError(
            f"batch_size {batch:,} is more than the {images:,} train_images: change "
            "one of them."
        )


def cost(values: dict) -> Cost:
    """Starts of all workers, the trainings, and what is measured again and again."""
    workers = values["workers"]
    shared = max(1, workers / cores())
    images = values["epochs"] * values["train_images"]
    training = SMALL_NETWORK.seconds(images, values["batch_size"])
    seconds = shared * (STARTS * START_SECONDS + TRAININGS * training)
    return Cost(seconds + REPEAT_SECONDS * values["repeats"], workers * START_BYTES)
