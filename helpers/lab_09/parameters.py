"""The rules for the parameters of lab 09."""

from helpers.errors import ParameterError
from helpers.parameters import LEARNING_RATE, whole

RULES = {
    # More would only wait for each other's cores; each takes half a gigabyte of memory.
    "workers": whole(2, 8),
    "train_images": whole(256, 60_000),
    "learning_rate": LEARNING_RATE,
    "repeats": whole(3, 1000),
}


def refuse(values):
    """Refuse a global batch that gives a worker nothing, or that is larger than the set."""
    batch, workers = values.get("batch_size"), values.get("workers")
    images = values.get("train_images")
    if batch and workers and batch < workers:
        raise ParameterError(
            f"batch_size {batch:,} gives some of {workers} workers no image: take at least "
            f"{workers}."
        )
    if batch and images and batch > images:
        raise ParameterError(
            f"batch_size {batch:,} is more than the {images:,} train_images: change one."
        )
