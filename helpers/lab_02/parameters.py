"""The rules for the parameters of lab 02."""

from helpers.errors import ParameterError
from helpers.files import why_not_writable
from helpers.notebook.estimate import Cost, wide_resnet
from helpers.parameters import EPOCHS, FOLDER, by_scale, number, rising, usual, whole

# These may exceed the training set, because a measurement of the speed repeats it.
MEASURED_SIZE = whole(1, 1_000_000)
# The value at each scale of a parameter that is left at None.
SIZES = by_scale(  # smoke, laptop, gpu
    depth=(10, 16, 16),
    width=(1, 1, 10),
    train_images=(256, 5000, 10_000),
    valid_images=(64, 1000, 10_000),
    images_per_point=(32, 700, 10_000),
    patience_seconds=(1, 20, 60),
    product=(512, 2048, 8192),
)
RULES = usual(
    "valid_batch_size", "train_images", "valid_images", "depth", "width", "dropout",
    "learning_rate", "momentum", "weight_decay", "shift", "flip", "target_accuracy",
    "patience",
) | {
    "sweep_batch_sizes": rising(MEASURED_SIZE),
    "patience_seconds": number(1, 86_400),
    "learning_rate_drop_epochs": rising(EPOCHS),
    "log_dir": FOLDER,
}  # fmt: skip

# Predictions whose name ends with a value of the student's: the variable, and its rule.
NAMED_BY = {"law_holds_at": ("unseen_batch_size", MEASURED_SIZE)}


def why_not_comparable(prediction: str, measurements: dict) -> str:
    """Why the measurement of a prediction says nothing; empty if it does.

    Parameters
    ----------
    prediction : str
        Its name.
    measurements : dict
        Those of the run card.

    Returns
    -------
    str
        A clause, for after "is not scored, because".
    """
    epochs = measurements.get("epochs", {}).get("train_seconds", ())
    if prediction == "first_epoch_over_others" and len(epochs) < 2:
        return "the training ended before its second epoch, so there is nothing to compare"
    return ""


def refuse(values: dict) -> None:
    """Refuse a folder in which TensorBoard could not write."""
    folder = values.get("log_dir")
    # TensorBoard can also write to cloud storage, with addresses such as gs://bucket.
    if folder and "://" not in folder and (error := why_not_writable(folder)):
        raise ParameterError(
            f"log_dir cannot be written ({folder}: {error.strerror}): give a folder of "
            "yours, or ''."
        )


def cost(values: dict) -> Cost:
    """A training, then a sweep in three rounds; validation costs a third of training."""
    network = wide_resnet(values["depth"], values["width"])
    images = values["train_images"] + values["valid_images"] / 3
    seconds = values["epochs"] * network.seconds(images, values["batch_size"])
    for size in values["sweep_batch_sizes"]:
        seconds += 3 * network.seconds(max(values["images_per_point"], 2 * size), size)
    return Cost(seconds, network.bytes(values["batch_size"]))
