"""The rules for the parameters of lab 08."""

from helpers.parameters import (
    DEPTH,
    LEARNING_RATE,
    TARGET_ACCURACY,
    YES_OR_NO,
    number,
    one_of,
    whole,
)
from helpers.precision import PRECISIONS

RULES = {
    "fast_epochs": whole(1),
    "train_images": whole(1, 60_000),
    "valid_images": whole(1, 10_000),
    "depth": DEPTH,
    "width": whole(1, 64),
    "stem_pool": whole(1, 7),
    "repeats": whole(1),
    "target_accuracy": TARGET_ACCURACY,
    "precision": one_of(*PRECISIONS),
    "learning_rate": LEARNING_RATE,
    "peak_learning_rate": LEARNING_RATE,
    "dropout": number(0, 0.99),
    "shift": number(0, 0.5),
    "flip": YES_OR_NO,
}
