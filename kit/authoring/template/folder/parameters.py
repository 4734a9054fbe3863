"""The rules for the parameters of lab 99."""

from helpers.parameters import whole

RULES = {
    "train_images": whole(1, 60_000),
}
