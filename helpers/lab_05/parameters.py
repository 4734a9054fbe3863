"""The rules for the parameters of lab 05."""

from helpers.errors import ParameterError
from helpers.notebook.estimate import Cost, wide_resnet
from helpers.parameters import (
    BATCH_SIZE,
    REPEATED_RUNS,
    by_scale,
    number,
    rising,
    usual,
    whole,
)

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    replicas=(2, 4, None),
    train_images=(256, 3000, 60_000),
    valid_images=(128, 1000, 10_000),
    depth=(10, 10, 16),
    width=(1, 1, 4),
    stem_pool=(4, 2, 1),
    steps=(4, 8, 100),
    global_batches=([32, 64], [32, 512], [256, 4096]),
    seeds=(1, 3, 3),
    step_draws=(2, 24, 64),
    step_images=(64, 250, 2000),
    step_rates=((-8, -3), (-10, -2), (-12, 0)),  # powers of 2, as for `range`
)
RULES = usual(
    "replicas", "gpu_indices", "train_images", "valid_images", "depth", "width",
    "learning_rate",
) | {
    "warmup_epochs": number(0, 100),
    "global_batches": rising(BATCH_SIZE),
    "seeds": whole(1, REPEATED_RUNS),
}  # fmt: skip


def refuse(values: dict) -> None:
    """Refuse batches of which no training can be made."""
    sizes = values.get("global_batches")
    if sizes and any(size % sizes[0] for size in sizes):
        raise ParameterError(
            f"global_batches must be multiples of the first one, {sizes[0]:,}, but are "
            f"{', '.join(map(str, sizes))}."
        )
    replicas, batch, images = map(values.get, ("replicas", "batch_size", "train_images"))
    if replicas and batch and images and replicas * batch > images:
        raise ParameterError(
            f"{replicas} replicas times batch_size {batch} are more than the {images:,} "
            "train_images: change one of them."
        )


def cost(values: dict) -> Cost:
    """A training; four rates of each large batch, of the last one twice; the scaling.

    Then single steps, tried with several rates.
    """
    network = wide_resnet(values["depth"], values["width"], values["stem_pool"])
    images, batches = values["epochs"] * values["train_images"], values["global_batches"]
    replicas = values["replicas"] or 1
    batch = replicas * values["batch_size"]
    # Large batches are made of small ones, so that their steps cost what small ones do.
    runs = 4 * values["seeds"] * (len(batches) + 1)
    seconds = network.seconds(images, batch) + runs * network.seconds(images, batches[0])
    # Steps of five sizes, tried with some rates: forward passes, a third of training.
    low, high = values["step_rates"]
    looked_at = 5 * values["step_draws"] * values["step_images"] * (high - low) / 3
    seconds += network.seconds(looked_at, values["step_images"])
    cases = 2 * replicas.bit_length()
    seconds += cases * network.seconds(4 * values["steps"] * batch, batch)
    return Cost(seconds, network.bytes(max(values["batch_size"], batches[0]), replicas))
