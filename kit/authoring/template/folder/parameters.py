"""The rules for the parameters of lab 99."""

from helpers.parameters import by_scale, whole

# The value at each scale of a parameter that was left at None.
SIZES = by_scale(  # smoke, laptop, gpu
    train_images=(1000, 10_000, 60_000),
)
RULES = {
    "train_images": whole(1, 60_000),
}
