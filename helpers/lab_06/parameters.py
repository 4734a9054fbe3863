"""The rules for the parameters of lab 06."""

from helpers.errors import ParameterError
from helpers.notebook.estimate import Cost, Network
from helpers.parameters import YES_OR_NO, by_scale, one_of, usual, whole

# For each width that keras.applications knows: multiply-adds and values a pixel.
MOBILENET_V2 = {
    0.35: (1156, 190), 0.5: (1910, 240), 0.75: (4141, 388),
    1.0: (5969, 438), 1.3: (10_119, 591), 1.4: (11_567, 628),
}  # fmt: skip

# What a parameter that was left at None is at each scale.
SIZES = by_scale(  # smoke, laptop, gpu
    image_size=(64, 64, 112),
    alpha=(0.35, 0.35, 1.0),
    train_images=(128, 4096, 60_000),
    valid_images=(64, 512, 10_000),
)
RULES = usual(
    "replicas", "gpu_indices", "train_images", "valid_images", "learning_rate"
) | {
    "image_size": whole(64, 512),
    "alpha": one_of(*MOBILENET_V2),
    "from_folders": YES_OR_NO,
}


def refuse(values: dict) -> None:
    """Refuse a global batch that is larger than a set: a loop needs whole batches."""
    batch, replicas = values.get("batch_size"), values.get("replicas") or 1
    for name in ("train_images", "valid_images"):
        images = values.get(name)
        if batch and images and max(1, batch // replicas) * replicas > images:
            raise ParameterError(
                f"batch_size {batch:,} on {replicas} replicas needs more than the "
                f"{images:,} {name}: change one of them."
            )


def cost(values: dict) -> Cost:
    """A training, and three times 40 batches of 64 for its comparisons."""
    network = mobilenet_v2(values["image_size"], values["alpha"])
    images, batch = values["epochs"] * values["train_images"], values["batch_size"]
    seconds = network.seconds(images, batch) + network.seconds(3 * 40 * 64, 64)
    return Cost(seconds, network.bytes(batch))


def mobilenet_v2(image_size: int, alpha: float) -> Network:
    """The size of MobileNetV2 for images of `image_size` pixels a side.

    Parameters
    ----------
    image_size : int
    alpha : float

    Returns
    -------
    helpers.notebook.estimate.Network
    """
    multiply_adds, values = MOBILENET_V2[alpha]
    hidden = 512 * 1280 * max(1, alpha) * (image_size / 64) ** 2
    weights = 2.3e6 * alpha**2 + hidden
    return Network(multiply_adds * image_size**2, values * image_size**2, weights)
