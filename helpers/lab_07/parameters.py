"""The rules for the parameters of lab 07."""

from helpers.errors import ParameterError
from helpers.parameters import LEARNING_RATE, TARGET_ACCURACY, number, or_none, whole

RULES = {
    "replicas": or_none(whole(1)),
    "train_images": whole(1, 60_000),
    "valid_images": whole(1, 10_000),
    "learning_rate": LEARNING_RATE,
    "momentum": number(0, 1),
    "pixel_mean": number(0, 1),
    "pixel_deviation": number(0.01, 1),
    "steps_per_call": whole(1),
    "target_accuracy": TARGET_ACCURACY,
}


def refuse(values):
    """Refuse a global batch that is larger than the training set."""
    cores, batch, images = map(values.get, ("replicas", "batch_size", "train_images"))
    if cores and batch and images and cores * batch > images:
        raise ParameterError(
            f"{cores} cores times batch_size {batch} are more than the {images:,} "
            "train_images: change one of them."
        )
