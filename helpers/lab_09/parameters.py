"""The rules for the parameters of lab 09."""

from helpers.parameters import LEARNING_RATE, whole

RULES = {
    # More would only wait for each other's cores; each takes half a gigabyte of memory.
    "workers": whole(2, 8),
    "train_images": whole(256, 60_000),
    "learning_rate": LEARNING_RATE,
    "repeats": whole(3, 1000),
}
