"""Lab 11: what a training step holds and how long it takes, if it recomputes layers.

The notebook calls `measure`. The work is done in a process of its own, by `work`: see
`helpers/machine/jax_process.py`. So only functions that run there import JAX.
"""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from helpers.machine import jax_process

if TYPE_CHECKING:
    import jax

WIDTH = 384  # numbers of a token
TOKENS = 128  # of a sequence


def formula(layers: int, segments: int) -> float:
    """The peak of equal segments as a share of keeping everything, if only inputs count."""
    return (segments + layers / segments - 1) / layers


def numbers_of_segments(layers: int) -> list[int]:
    """All powers of two that divide the number of layers, its half, and itself."""
    powers = [2**power for power in range(layers.bit_length())]
    return sorted({k for k in powers if layers % k == 0} | {layers // 2, layers})


def between(layers: int) -> list[int]:
    """These without the two ends, where one of the two loops has a single pass."""
    return numbers_of_segments(layers)[1:-1]


def middle(layers: int) -> int:
    """The one of these that is nearest to the square root of the number of layers."""
    return min(between(layers), key=lambda k: abs(math.log(k / math.sqrt(layers))))


def measure(layers: int, batch_size: int, repeats: int, seed: int) -> dict | None:
    """Compile steps with different numbers of segments, and time some of them.

    Parameters
    ----------
    layers : int
        Of the network, an even number.
    batch_size : int
        Sequences in a step.
    repeats : int
        Rounds; in each round every step is timed once.
    seed : int

    Returns
    -------
    dict or None
        `kept` and `bytes`: what the compiled step holds besides its arguments and results,
        without recomputation and by the number of segments; `kept_seconds` and `seconds`:
        the time of a step in each round; `off`: how far the gradients with recomputation
        are from those without, as a share of the largest. None where there is no JAX, after
        a line that says so.
    """
    timed = sorted({2, middle(layers), layers // 2})
    job = {
        "layers": layers, "timed": timed, "batch_size": batch_size, "repeats": repeats,
        "seed": seed,
    }  # fmt: skip
    try:
        found = jax_process.call(__name__, job, devices=1)
    except jax_process.NoJaxError as error:
        print(f"{error} So this section has no measurement here.")
        return None
    for name in ("bytes", "seconds"):
        found[name] = {int(segments): value for segments, value in found[name].items()}
    return found


def slower(measured: dict) -> dict[int, list[float]]:
    """By the number of segments, how many times as long a step takes, in each round."""
    kept = measured["kept_seconds"]
    return {
        segments: [again / once for again, once in zip(seconds, kept, strict=True)]
        for segments, seconds in measured["seconds"].items()
    }


def training_step(segments: int) -> Callable:
    """The gradient of a loss by the weights; with 0 segments, nothing is recomputed."""
    import jax
    import jax.numpy as jnp

    def layer(x, weights):
        return jax.nn.relu(x @ weights), None

    @jax.checkpoint  # keeps the input of the segment, and computes the rest again
    def segment(x, its_weights):
        return jax.lax.scan(layer, x, its_weights)

    def loss(weights, x):
        if segments:
            shape = segments, len(weights) // segments, *weights.shape[1:]
            y, _ = jax.lax.scan(segment, x, weights.reshape(shape))
        else:
            y, _ = jax.lax.scan(layer, x, weights)
        return jnp.mean(y * y)

    return jax.grad(loss)


def work(job: dict) -> dict:
    """The results of `measure`, from inside the process with JAX."""
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(job["seed"]))
    x = jax.random.normal(keys[0], (job["batch_size"] * TOKENS, WIDTH))
    shape = job["layers"], WIDTH, WIDTH
    weights = jax.random.normal(keys[1], shape) * math.sqrt(2 / WIDTH)

    chosen = [0, *numbers_of_segments(job["layers"])]
    steps = {k: jax.jit(training_step(k)).lower(weights, x).compile() for k in chosen}
    held = {segments: _temporary_bytes(step) for segments, step in steps.items()}
    rounds, off = {segments: [] for segments in (0, *job["timed"])}, 0.0
    kept = jax.block_until_ready(steps[0](weights, x))
    for segments in job["timed"]:  # the first call of each, which is not timed
        gradient = steps[segments](weights, x)
        off = max(off, float(jnp.abs(gradient - kept).max() / jnp.abs(kept).max()))
    for _ in range(job["repeats"]):
        for segments, seconds in rounds.items():
            seconds.append(_seconds(steps[segments], weights, x))
    return {
        "kept": held.pop(0), "bytes": held, "kept_seconds": rounds.pop(0),
        "seconds": rounds, "off": off,
    }  # fmt: skip


def _temporary_bytes(step: "jax.stages.Compiled") -> int:
    """What a compiled step holds besides its arguments and results."""
    return int(step.memory_analysis().temp_size_in_bytes)


def _seconds(step, *arguments):
    began = time.perf_counter()
    step(*arguments).block_until_ready()
    return time.perf_counter() - began
