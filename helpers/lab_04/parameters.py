"""The rules for the parameters of lab 04."""

from helpers.parameters import LEARNING_RATE, whole

RULES = {
    "train_newswires": whole(1, 8_982),
    "valid_newswires": whole(1, 2_246),
    "vocabulary": whole(100, 30_982),
    "words": whole(20, 2_000),
    "learning_rate": LEARNING_RATE,
    "patience": whole(1),
}
