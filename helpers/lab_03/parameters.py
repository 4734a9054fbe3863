"""The rules for the parameters of lab 03."""

from helpers.notebook.estimate import Cost, wide_resnet
from helpers.parameters import BATCH_SIZE, REPEATED_RUNS, by_scale, rising, usual, whole

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    depth=(10, 10, 16),
    width=(1, 1, 4),
    train_images=(1024, 5000, 10_000),
    valid_images=(64, 4000, 10_000),
    stem_pool=(4, 4, 1),
    epochs=(2, 12, 20),
    look_images=(256, 1000, 1000),
    noise_draws=(4, 40, 40),
    target_accuracy=(0.3, 0.8, 0.82),
)
RULES = usual(
    "valid_batch_size", "patience", "target_accuracy", "train_images", "valid_images",
    "depth", "width", "dropout", "learning_rate", "momentum", "weight_decay", "shift",
    "flip",
) | {
    "batch_sizes": rising(BATCH_SIZE),
    "repeats": whole(2, REPEATED_RUNS),
    "look_images": whole(1, 60_000),
}  # fmt: skip


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
