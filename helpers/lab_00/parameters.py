"""The rules for the parameters of lab 00."""

from helpers.notebook.estimate import Cost
from helpers.parameters import by_scale, whole

# The value at each scale of a parameter that is left at None.
SIZES = by_scale(  # smoke, laptop, gpu
    rows=(1000, 2000, 10_000),
    columns=(1000, 10_000, 100000),
    largest=(512, 2048, 8192),
)
RULES = {
    "gpu_index": whole(0, 63),
    "repeats": whole(2, 1000),
    "rows": whole(1, 100_000),
    "columns": whole(1, 100_000),
}


def cost(values: dict) -> Cost:
    """A `rows` by `columns` result in float32, and the product before it."""
    size = values["rows"] * values["columns"]
    # At the 5 GFLOP/s of one slow core: a product, and its random factors.
    return Cost(values["repeats"] * 2 * 100 * size / 5e9, 8 * size)


def why_not_comparable(prediction: str, measurements: dict) -> str:
    """Why there is no crossover to compare with; parameters as in lab 02."""
    if prediction == "crossover_size" and measurements.get(prediction, 0) is None:
        return "no size gave a clear gain (more than 1.2 times as fast)"
    return ""
