"""What a board is called."""

from helpers.speed_record.rule import TARGETS


def board_in_words(board: tuple) -> str:
    """As "sprint: accuracy 0.92, from a cold start, 2 CPUs with bfloat16 units"."""
    target, warm, device, bfloat16, cpus = board
    start = "warm" if warm else "cold"
    units = "with" if bfloat16 else "without"
    what = f"{cpus} CPUs" if device == "cpu" else device
    return (
        f"{target}: accuracy {TARGETS[target]}, from a {start} start, {what} {units} "
        "bfloat16 units"
    )
