"""The rules for the parameters of lab 12."""

from helpers.notebook.estimate import STEP_SECONDS, Cost, wide_resnet
from helpers.parameters import REPEATED_RUNS, by_scale, number, usual, whole

# The value at each scale of a parameter that was left at None.
SIZES = by_scale(  # smoke, laptop, gpu
    epochs=(1, 6, 8),
    train_images=(512, 5000, 20_000),
    valid_images=(128, 2000, 10_000),
    target_accuracy=(0.1, 0.8, 0.88),
    repeats=(2, 5, 8),
    judge_seeds=(2, 4, 10),
    calibration_steps=(2, 40, 1000),
)
RULES = usual("train_images", "valid_images", "target_accuracy", "peak_learning_rate") | {
    "repeats": whole(2, REPEATED_RUNS),
    "judge_seeds": whole(2, REPEATED_RUNS),
    "calibration_steps": whole(1, 100_000),
    "alpha": number(0.0001, 0.5),
}
RECIPES, STARTS = 6, 20  # recipes of the ablation; trainings that compile something
START_SECONDS = 2.0


def cost(values: dict) -> Cost:
    """The ablation, whose recipes try several lengths, and then the seeds of the judge."""
    network = wide_resnet(10, 1, 4)  # an upper bound: ours is smaller
    images = values["train_images"] * values["epochs"]
    trainings = RECIPES * values["repeats"] + values["judge_seeds"]
    seconds = trainings * network.seconds(images, values["batch_size"])
    seconds += STARTS * START_SECONDS
    seconds += values["judge_seeds"] * values["calibration_steps"] * STEP_SECONDS
    return Cost(seconds, network.bytes(values["batch_size"]))
