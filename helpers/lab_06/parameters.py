"""The rules for the parameters of lab 06."""

from helpers.parameters import LEARNING_RATE, YES_OR_NO, one_of, or_none, rising, whole

RULES = {
    "replicas": or_none(whole(1)),
    "gpu_indices": or_none(rising(whole(0))),
    "train_images": whole(1, 60_000),
    "valid_images": whole(1, 10_000),
    "image_size": whole(64, 512),
    # The widths that keras.applications knows.
    "alpha": one_of(0.35, 0.5, 0.75, 1.0, 1.3, 1.4),
    "learning_rate": LEARNING_RATE,
    "from_folders": YES_OR_NO,
}
