"""The rules for the parameters of lab 07."""

from helpers.errors import ParameterError
from helpers.notebook.estimate import Cost, Network
from helpers.parameters import by_scale, number, usual, whole

# The small network: two 5x5 convolutions, two dense layers.
SMALL_CNN = Network(480_000, 13_000, 22_000)

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    train_images=(650, 30_000, 60_000),
    valid_images=(100, 5000, 10_000),
    batch_size=(16, 128, 128),
    epochs=(2, 6, 50),
    steps_per_call=(2, 10, 20),
    timed_steps=(4, 20, 40),
    # A run of so many epochs reaches this; the notebook that the lab follows has 0.89.
    target_accuracy=(0.3, 0.85, 0.89),
)
RULES = usual(
    "replicas", "train_images", "valid_images", "learning_rate", "momentum",
    "target_accuracy",
) | {
    "pixel_mean": number(0, 1),
    "pixel_deviation": number(0.01, 1),
    "steps_per_call": whole(1, 10_000),
}  # fmt: skip


def refuse(values: dict) -> None:
    """Refuse a global batch that is larger than the training set."""
    cores, batch, images = map(values.get, ("replicas", "batch_size", "train_images"))
    if cores and batch and images and cores * batch > images:
        raise ParameterError(
            f"{cores} cores times batch_size {batch} are more than the {images:,} "
            "train_images: change one of them."
        )


def cost(values: dict) -> Cost:
    """A training: the cores do their steps together."""
    images, cores = values["epochs"] * values["train_images"], values["replicas"] or 1
    batch = values["batch_size"]
    return Cost(SMALL_CNN.seconds(images, cores * batch), SMALL_CNN.bytes(batch, cores))
