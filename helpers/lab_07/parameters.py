"""The rules for the parameters of lab 07."""

from helpers.parameters import LEARNING_RATE, TARGET_ACCURACY, number, or_none, whole

RULES = {
    "replicas": or_none(whole(1)),
    "train_images": whole(1, 60_000),
    "valid_images": whole(1, 10_000),
    "learning_rate": LEARNING_RATE,
    "momentum": number(0, 1),
    "pixel_mean": number(0, 1),
    "pixel_deviation": number(0.01, 1),
    "log_interval": whole(1),
    "target_accuracy": TARGET_ACCURACY,
}
