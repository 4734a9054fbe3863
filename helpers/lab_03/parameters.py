"""The rules for the parameters of lab 03."""

from helpers.notebook.estimate import Cost, wide_resnet
from helpers.parameters import (
    BATCH_SIZE,
    DEPTH,
    EPOCHS,
    LEARNING_RATE,
    REPEATED_RUNS,
    TARGET_ACCURACY,
    TRAIN_IMAGES,
    WIDTH,
    YES_OR_NO,
    by_scale,
    number,
    rising,
    whole,
)

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    depth=(10, 10, 16),
    width=(1, 1, 4),
    train_images=(1280, 5000, 10_000),
    valid_images=(64, 4000, 10_000),
    stem_pool=(4, 4, 1),
    epochs=(2, 12, 20),
    look_images=(256, 1000, 1000),
    noise_draws=(8, 40, 40),
    target_accuracy=(0.3, 0.8, 0.82),
)
RULES = {
    "valid_batch_size": BATCH_SIZE,
    "batch_sizes": rising(BATCH_SIZE),
    "repeats": whole(2, REPEATED_RUNS),
    "patience": EPOCHS,
    "target_accuracy": TARGET_ACCURACY,
    "look_images": whole(1, 60_000),
    "train_images": TRAIN_IMAGES,
    "valid_images": whole(1, 10_000),
    "depth": DEPTH,
    "width": WIDTH,
    "dropout": number(0, 0.99),
    "learning_rate": LEARNING_RATE,
    "momentum": number(0, 1),
    "weight_decay": number(0, 1),
    "shift": number(0, 0.5),
    "flip": YES_OR_NO,
}


def cost(values: dict) -> Cost:
    """For each batch size four rates and some seeds, validated at every look.

    Then as many seeds of the best batch size and of the race's winner: any two of the race.
    """
    network = wide_resnet(values["depth"], values["width"], values["stem_pool"])
    images = values["epochs"] * values["train_images"]
    looked_at = images / values["look_images"] * values["valid_images"] / 3
    runs = 4 + values["repeats"]
    sizes = values["batch_sizes"]
    tested = [*(runs for _ in sizes), *(values["repeats"] for _ in sizes[:2])]
    seconds = sum(
        runs * network.seconds(images + looked_at, size)
        for runs, size in zip(tested, [*sizes, *sizes[:2]], strict=True)
    )
    return Cost(seconds, network.bytes(max(*sizes, values["batch_size"])))
