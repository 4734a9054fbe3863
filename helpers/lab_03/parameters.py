"""The rules for the parameters of lab 03."""

from helpers.parameters import (
    DEPTH,
    LEARNING_RATE,
    TARGET_ACCURACY,
    YES_OR_NO,
    number,
    rising,
    whole,
)

RULES = {
    "valid_batch_size": whole(1),
    "batch_sizes": rising(whole(1)),
    "repeats": whole(2),
    "patience": whole(1),
    "target_accuracy": TARGET_ACCURACY,
    "look_images": whole(1),
    "train_images": whole(5, 60_000),
    "valid_images": whole(1, 10_000),
    "depth": DEPTH,
    "width": whole(1, 64),
    "dropout": number(0, 0.99),
    "learning_rate": LEARNING_RATE,
    "momentum": number(0, 1),
    "weight_decay": number(0, 1),
    "shift": number(0, 0.5),
    "flip": YES_OR_NO,
}
