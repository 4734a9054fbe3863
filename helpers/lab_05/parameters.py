"""The rules for the parameters of lab 05."""

from helpers.parameters import DEPTH, LEARNING_RATE, number, or_none, rising, whole

RULES = {
    "replicas": or_none(whole(1)),
    "gpu_indices": or_none(rising(whole(0))),
    "train_images": whole(1, 60_000),
    "valid_images": whole(1, 10_000),
    "depth": DEPTH,
    "width": whole(1, 64),
    "learning_rate": LEARNING_RATE,
    "warmup_epochs": number(0, 100),
    "global_batches": rising(whole(1)),
    "seeds": whole(1),
}
