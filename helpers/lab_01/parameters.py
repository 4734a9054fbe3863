"""The rules for the parameters of lab 01."""

from helpers.parameters import by_scale, usual, whole

# The value at each scale of a parameter that is left at None.
SIZES = by_scale(  # smoke, laptop, gpu
    timed_steps=(1000, 5000, 5000),
)
RULES = usual("learning_rate") | {
    "train_points": whole(128, 100_000),
}
