"""Which board a machine's results belong to, and what else a reader should know of it."""

import platform

from helpers.machine.computer import cpu_features, cpu_name
from helpers.run_card.documents import versions
from kit.leaderboard.box_run import pinned

UNITS = ("avx512_bf16", "amx_bf16", "bf16", "svebf16")


def this_machine() -> dict:
    """The machine that judges: plain data.

    Returns
    -------
    dict
        `device`, `bfloat16` (whether the processor has units for it) and `cpus`, which
        decide the board; `name`, `features` and `versions`, for the reader.
    """
    features = cpu_features()
    return {
        "device": "cpu",  # no box shows a GPU yet
        "bfloat16": any(unit in features for unit in UNITS),
        "cpus": len(pinned()),
        "name": cpu_name(),
        "features": features,
        "versions": versions() | {"python": platform.python_version()},
    }


def board_of(machine: dict, settings: dict) -> tuple:
    """What two entries must share to be compared, as a key that can be sorted."""
    return (
        settings["target"],
        settings["warm"],
        machine["device"],
        machine["bfloat16"],
        machine["cpus"],
    )
