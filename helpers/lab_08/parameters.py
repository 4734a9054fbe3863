"""The rules for the parameters of lab 08."""

from helpers.notebook.estimate import Cost, wide_resnet
from helpers.parameters import EPOCHS, REPEATED_RUNS, by_scale, one_of, usual, whole

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    depth=(10, 10, 16),
    width=(1, 1, 10),
    stem_pool=(4, 4, 1),
    epochs=(1, 40, 30),
    fast_epochs=(1, 3, 8),
    batch_size=(32, 32, 256),
    train_images=(256, 5000, 60_000),
    valid_images=(64, 2000, 10_000),
    target_accuracy=(0.1, 0.8, 0.92),
    repeats=(2, 2, 2),
    images_per_point=(128, 2048, 9728),
    rounds=(1, 5, 5),
    product=(512, 2048, 8192),
    most_mib=(4, 128, 1024),  # at most, of an array that should be larger than the cache
)
RULES = usual(
    "train_images", "valid_images", "depth", "width", "target_accuracy",
    "learning_rate", "peak_learning_rate", "dropout", "shift", "flip",
) | {
    "fast_epochs": EPOCHS,
    "stem_pool": whole(1, 7),
    "repeats": whole(1, REPEATED_RUNS),
    "precision": one_of("auto", "float32", "mixed_bfloat16", "mixed_float16"),
}  # fmt: skip


def cost(values: dict) -> Cost:
    """Both recipes; a step of the original one takes longer than a network's alone."""
    network = wide_resnet(values["depth"], values["width"], values["stem_pool"])
    images = values["epochs"] * (values["train_images"] + values["valid_images"] / 3)
    seconds = values["repeats"] * 1.5 * network.seconds(images, values["batch_size"])
    return Cost(seconds, network.bytes(values["batch_size"]))
