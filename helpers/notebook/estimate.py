"""How long a lab will take and how much memory it needs, before it starts.

Seconds here are those of two cores of an Intel Xeon at 2.5 GHz, fitted to the trainings
in docs/bench/pipeline.json: within 5% of WRN-16-1, -2 and -10 at batch size 32. Only their
ratio to the seconds of the lab's stored run is used, which has its own machine.
"""

import json
from math import ceil
from typing import NamedTuple

from helpers.errors import ParameterError
from helpers.files import REPOSITORY
from helpers.machine.computer import memory_bytes
from helpers.parameters import at_scale, defaults, module_of

SECONDS_PER_MULTIPLY_ADD, SECONDS_PER_VALUE = 4.7e-11, 7.1e-9
# The fixed cost of a step in the stored run of lab 02.
STEP_SECONDS = 0.015
# Of a lab that trains nothing, lab 01: kernel, imports, checks.
START_MINUTES = 0.3
# helpers/machine/memory.py says where this is from; and weights, gradients, momentum.
BYTES_PER_VALUE, BYTES_PER_WEIGHT = 3, 12
# Who waits for less than this needs no warning.
LONG_MINUTES = 30


class Cost(NamedTuple):
    """The cost of a lab's run: seconds on one machine, bytes of its largest step."""

    seconds: float
    bytes: float = 0.0


class Network(NamedTuple):
    """The size of a network.

    Attributes
    ----------
    multiply_adds : float
        Of one example, forward.
    values : float
        In the layers' outputs, for one example.
    weights : float
    """

    multiply_adds: float
    values: float
    weights: float

    def seconds(self, examples: float, batch_size: int) -> float:
        """Of training on so many examples."""
        each = SECONDS_PER_MULTIPLY_ADD * self.multiply_adds
        each += SECONDS_PER_VALUE * self.values
        return examples * each + ceil(examples / batch_size) * STEP_SECONDS

    def bytes(self, batch_size: int, replicas: int = 1) -> float:
        """Of one training step on so many examples on each replica."""
        each = batch_size * BYTES_PER_VALUE * self.values + BYTES_PER_WEIGHT * self.weights
        return replicas * each


def wide_resnet(depth: int, width: int, stem_pool: int = 1, pixels: int = 28) -> Network:
    """The size of `helpers.network.models.wide_resnet` for square grey images, ten classes.

    Parameters
    ----------
    depth, width, stem_pool : int
    pixels : int
        A side of the images.

    Returns
    -------
    Network
    """
    area, before = pixels**2, 16
    multiply_adds, values, weights = 144 * area, 49 * area, 144 + 16 + 64
    pixels //= stem_pool
    values += 16 * pixels**2 * (stem_pool > 1)
    for stage in range(3):
        channels = 16 * width * 2**stage
        if stage:
            pixels //= 2
            values += before * pixels**2
        area = pixels**2
        multiply_adds += area * before * channels
        values += area * channels
        weights += (before + 1) * channels
        for _ in range((depth - 4) // 6):
            multiply_adds += 9 * area * (before + channels) * channels
            values += 8 * area * channels
            weights += 9 * (before + channels) * channels + 10 * channels
            before = channels
    # Pooled, then classified.
    return Network(
        multiply_adds + 10 * before, values + before + 10, weights + 10 * (before + 1)
    )


def warning(lab: str, runs: list[dict], sizes: dict[str, dict]) -> str | None:
    """One line about runs on the CPU that will take long; None for the others.

    Parameters
    ----------
    lab : str
        ``"02_throughput"``.
    runs : list of dict
        For each run its parameters, each with a value; `scale` is known.
    sizes : dict of dict
        As `helpers.parameters.at_scale`.

    Returns
    -------
    str or None

    Raises
    ------
    ParameterError
        If a single step needs more memory than this machine has.
    """
    cost = getattr(module_of(lab), "cost", None)
    if cost is None:
        return None
    asked, there = [cost(sizes[run["scale"]] | run) for run in runs], memory_bytes()
    if (most := max(one.bytes for one in asked)) > there:
        raise ParameterError(
            f"a training step with this model and batch size needs about "
            f"{_gib(most)} of memory, but this machine has {_gib(there)}: make one "
            "of them smaller, or give scale=laptop."
        )
    stored = _stored_run(lab)
    if stored is None:
        return None
    usual, run = stored
    usual = cost(sizes["laptop"] | at_scale(usual, sizes, "laptop"))
    training = max(0, run["minutes"] - START_MINUTES)
    seconds = sum(one.seconds for one in asked)
    minutes = len(runs) * START_MINUTES + training * seconds / usual.seconds
    if minutes < LONG_MINUTES:
        return None
    what = "This" if len(runs) == 1 else f"These {len(runs)} runs"
    return (
        f"{what} can take about {_duration(minutes)}, judging by the lab's stored run on "
        f"{run['device']}; a run at scale=laptop took {run['minutes']:g} minutes there."
    )


def _stored_run(lab):
    """A lab's usual parameters, and how its stored solution ran; None without one."""
    try:
        text = (REPOSITORY / "solutions" / f"{lab}.ipynb").read_text(encoding="utf-8")
        solution = json.loads(text)
        cells = (
            c for c in solution["cells"] if "parameters" in c["metadata"].get("tags", ())
        )
        return defaults("".join(next(cells)["source"])), solution["metadata"]["labs"]
    except (OSError, ValueError, KeyError):
        return None


def _gib(amount):
    return f"{amount / 2**30:,.0f} GiB"


def _duration(minutes):
    """In words: two figures are more than an estimate is worth."""
    for unit, length in (("years", 525_600), ("days", 1440), ("hours", 60)):
        if minutes >= 2 * length:
            return f"{float(f'{minutes / length:.2g}'):,.0f} {unit}"
    return f"{minutes:.0f} minutes"
