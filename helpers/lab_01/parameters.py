"""The rules for the parameters of lab 01."""

from helpers.parameters import LEARNING_RATE, whole

RULES = {
    "train_points": whole(128, 100_000),
    "learning_rate": LEARNING_RATE,
}
