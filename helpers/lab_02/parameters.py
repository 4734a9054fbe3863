"""The rules for the parameters of lab 02."""

from helpers.parameters import (
    DEPTH,
    FOLDER,
    LEARNING_RATE,
    TARGET_ACCURACY,
    YES_OR_NO,
    number,
    rising,
    whole,
)

RULES = {
    "valid_batch_size": whole(1),
    # Larger than the training set is fine here: the sweep repeats the set.
    "sweep_batch_sizes": rising(whole(1)),
    "patience_seconds": number(1, 86_400),
    "train_images": whole(1, 60_000),
    "valid_images": whole(1, 10_000),
    "depth": DEPTH,
    "width": whole(1, 64),
    "dropout": number(0, 0.99),
    "learning_rate": LEARNING_RATE,
    "learning_rate_drop_epochs": rising(whole(1)),
    "momentum": number(0, 1),
    "weight_decay": number(0, 1),
    "shift": number(0, 0.5),
    "flip": YES_OR_NO,
    "target_accuracy": TARGET_ACCURACY,
    "patience": whole(1),
    "log_dir": FOLDER,
}
