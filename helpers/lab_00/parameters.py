"""The rules for the parameters of lab 00."""

from helpers.parameters import whole

RULES = {
    "gpu_index": whole(0),
    "repeats": whole(2),
    "rows": whole(1),
    "columns": whole(1),
}
