"""The rules for the parameters of lab 08."""

from helpers.notebook.estimate import Cost, wide_resnet
from helpers.parameters import (
    DEPTH,
    EPOCHS,
    LEARNING_RATE,
    REPEATED_RUNS,
    TARGET_ACCURACY,
    TRAIN_IMAGES,
    WIDTH,
    YES_OR_NO,
    number,
    one_of,
    whole,
)

RULES = {
    "fast_epochs": EPOCHS,
    "train_images": TRAIN_IMAGES,
    "valid_images": whole(1, 10_000),
    "depth": DEPTH,
    "width": WIDTH,
    "stem_pool": whole(1, 7),
    "repeats": whole(1, REPEATED_RUNS),
    "target_accuracy": TARGET_ACCURACY,
    "precision": one_of("auto", "float32", "mixed_bfloat16", "mixed_float16"),
    "learning_rate": LEARNING_RATE,
    "peak_learning_rate": LEARNING_RATE,
    "dropout": number(0, 0.99),
    "shift": number(0, 0.5),
    "flip": YES_OR_NO,
}


def cost(values):
    """Both recipes; a step of the original one takes longer than a network's alone."""
    network = wide_resnet(values["depth"], values["width"], values["stem_pool"])
    images = values["epochs"] * (values["train_images"] + values["valid_images"] / 3)
    seconds = values["repeats"] * 1.5 * network.seconds(images, values["batch_size"])
    return Cost(seconds, network.bytes(values["batch_size"]))
