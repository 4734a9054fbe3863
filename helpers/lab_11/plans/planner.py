"""Which ways of training a transformer fit in memory, and how long do they take?

Weights, gradients and optimizer are those of mixed precision with Adam, as in exercise
11.1. Activations are those of Korthikanti et al. (2022), arXiv 2205.05198, with their
sequence parallelism. Left out are latencies, operations of attention beyond 6 P D, and
memory that libraries keep for themselves.

An MFU is measured end to end, so it contains bubbles, messages and recomputation. That is
why the sum of a plan's parts only compares plans, while an MFU says how long a training
takes: adding the parts to a time computed from an MFU would count them twice.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

WEIGHT_BYTES, GRADIENT_BYTES, OPTIMIZER_BYTES = 2, 2, 12  # for each parameter
STAGES = (0, 1, 2, 3)  # of ZeRO: shards nothing, the optimizer, and gradients, and weights
SEQUENCES = (1, 2, 4, 8)  # in a micro-batch
DAY_SECONDS = 86_400
# The share of its peak that a device reaches while it computes. It is assumed, and decides
# only how much the messages weigh where plans are compared.
UTILISATION = 0.5


@dataclass(frozen=True)
class Model:
    """A transformer and its training."""

    parameters: float
    layers: int
    hidden_width: int
    heads: int
    vocabulary: int
    sequence_tokens: int
    training_tokens: float
    batch_tokens: float
    flash_attention: bool = True  # without it, attention's weights are kept as well


@dataclass(frozen=True)
class Cluster:
    """Devices in machines; each device has its own share of the link across machines."""

    devices: int
    memory_bytes: float
    peak_operations_per_second: float
    inside_bytes_per_second: float
    across_bytes_per_second: float
    machine_devices: int = 8


@dataclass(frozen=True)
class Plan:
    """How the devices share the work: they are data x tensor x pipeline."""

    data: int
    tensor: int
    pipeline: int
    stage: int  # of ZeRO
    recomputes: bool
    sequences: int = 1  # in a micro-batch

    def in_words(self) -> str:
        """For example ``"data 8, tensor 8, pipeline 1, ZeRO 1, recomputation"``."""
        recomputed = ", recomputation" if self.recomputes else ""
        return (
            f"data {self.data}, tensor {self.tensor}, pipeline {self.pipeline}, "
            f"ZeRO {self.stage}{recomputed}"
        )


def memory_of(model: Model, plan: Plan) -> dict[str, float]:
    """Bytes of the fullest device.

    A device has S = P / (tensor x pipeline) of the P parameters. Over the data-parallel
    devices, ZeRO 1 shards the 12 S bytes of the optimizer, ZeRO 2 also the 2 S bytes of
    the gradients, and ZeRO 3 also the 2 S bytes of the weights.

    A layer keeps s b h (34 + 5 a s / h) / t bytes of activations, where s is the length of
    the sequence, b the sequences of a micro-batch, h the hidden width, a the heads and t
    the tensor-parallel devices. FlashAttention drops 5 a s / h. With full recomputation a
    layer keeps 2 s b h bytes, and one layer at a time keeps all. The first stage of 1F1B
    holds as many micro-batches as there are stages. The loss adds
    4 s b (h + vocabulary) / t bytes.

    Returns
    -------
    dict
        `weights`, `gradients`, `optimizer`, `activations`.
    """
    stage_layers = math.ceil(model.layers / plan.pipeline)
    share = model.parameters * stage_layers / model.layers / plan.tensor
    tokens = model.sequence_tokens * plan.sequences
    attention = 5 * model.heads * model.sequence_tokens / model.hidden_width
    factor = 34 if model.flash_attention else 34 + attention
    whole_layer = tokens * model.hidden_width * factor / plan.tensor
    in_flight = min(plan.pipeline, micro_batches(model, plan))
    kept = 2 * tokens * model.hidden_width if plan.recomputes else whole_layer
    activations = stage_layers * in_flight * kept
    activations += 4 * tokens * (model.hidden_width + model.vocabulary) / plan.tensor
    if plan.recomputes:
        activations += whole_layer
    return {
        "weights": WEIGHT_BYTES * share / (plan.data if plan.stage >= 3 else 1),
        "gradients": GRADIENT_BYTES * share / (plan.data if plan.stage >= 2 else 1),
        "optimizer": OPTIMIZER_BYTES * share / (plan.data if plan.stage >= 1 else 1),
        "activations": activations,
    }


def micro_batches(model: Model, plan: Plan) -> int:
    """Micro-batches of a pipeline in a step; the busiest one where they do not divide."""
    sequences = model.batch_tokens / model.sequence_tokens
    return math.ceil(round(sequences / (plan.data * plan.sequences), 9))


def seconds_of(
    model: Model, cluster: Cluster, plan: Plan, utilisation: float
) -> dict[str, float]:
    """Seconds of a step; P and S are those of `memory_of`.

    `compute`: 6 P D operations for D tokens, or 8 P D with full recomputation, at
    `utilisation` times the peak. Where layers or sequences do not divide, all wait for the
    fullest device.

    `tensor`: in each layer and micro-batch 4 all-reduces of 2 s b h bytes, 6 with
    recomputation. A ring of t sends 2 (t - 1) / t of the bytes.

    `bubble`: of m micro-batches in p stages, (p - 1) / (m + p - 1) of the time is idle, so
    (p - 1) / m of the two above comes on top.

    `data`: an all-reduce of 2 S bytes over d devices, of which the backward of the last
    micro-batch hides two thirds of the time of a micro-batch. With ZeRO 2 and 3, gradients
    are added up after each micro-batch, because no device keeps all of them; with ZeRO 3,
    each micro-batch also gathers the weights twice. Each of these sends (d - 1) / d of 2 S
    bytes, and the computation (with ZeRO 2 its backward) hides them.

    `pipeline`: between two stages, each micro-batch sends 2 s b h / t bytes forward and as
    many backward. The first stage of 1F1B holds at most k = min(p, m) micro-batches, so it
    waits for their messages: 2 (p - 1) of them on the way of each micro-batch, and
    (m + k - 1) / k times in a step. (Compared with a simulation, this is at most 50% too
    high, and at most 25% from m = 2 p on. With many micro-batches it is nearly
    exact.)

    Returns
    -------
    dict
        `compute`, `tensor`, `bubble`, `data` and `pipeline`, which add up to the step.
    """
    m, p, d, t = micro_batches(model, plan), plan.pipeline, plan.data, plan.tensor
    stage_layers = math.ceil(model.layers / p)
    tokens = model.sequence_tokens * plan.sequences
    operations = (8 if plan.recomputes else 6) * model.parameters / t
    operations *= tokens * m * stage_layers / model.layers
    compute = operations / (cluster.peak_operations_per_second * utilisation)
    messages = (6 if plan.recomputes else 4) * stage_layers * m
    message_bytes = 2 * tokens * model.hidden_width
    ring = 2 * (t - 1) / t / cluster.inside_bytes_per_second
    tensor = messages * message_bytes * ring
    is_inside = cluster.devices <= cluster.machine_devices
    link = cluster.inside_bytes_per_second if is_inside else cluster.across_bytes_per_second
    share_bytes = WEIGHT_BYTES * model.parameters * stage_layers / model.layers / t
    # What stages 2 and 3 split, no device keeps from one micro-batch to the next.
    passes, hidden = {
        2: (m + 1, compute * 2 / 3),
        3: (3 * m, compute),
    }.get(plan.stage, (2, compute * 2 / 3 / m))
    data = passes * (d - 1) / d * share_bytes / link
    at_a_time = min(p, m)
    rounds = (m + at_a_time - 1) / at_a_time
    return {
        "compute": compute,
        "tensor": tensor,
        "bubble": (compute + tensor) * (p - 1) / m,
        "data": max(0.0, data - hidden),
        "pipeline": 2 * (p - 1) * message_bytes / t / link * rounds,
    }


def candidates(model: Model, cluster: Cluster) -> Iterator[Plan]:
    """All plans that use each device, whether they fit or not.

    Tensor parallelism stays in a machine and divides the heads. Each stage has a layer and
    each device a sequence. ZeRO 2 and 3 have no pipeline, because each of its micro-batches
    would send gradients or weights again.
    """
    sequences = model.batch_tokens / model.sequence_tokens
    inside = min(cluster.machine_devices, cluster.devices)
    for tensor in _divisors(math.gcd(inside, model.heads, cluster.devices), inside):
        for pipeline in _divisors(cluster.devices // tensor, model.layers):
            stage_layers = math.ceil(model.layers / pipeline)
            if stage_layers * (pipeline - 1) >= model.layers:
                continue  # a stage would be empty
            data = cluster.devices // tensor // pipeline
            for stage, recomputes, several in product(STAGES, (False, True), SEQUENCES):
                is_possible = data * several <= sequences
                if (
                    is_possible
                    and (stage < 2 or pipeline == 1)
                    and (stage == 0 or data > 1)
                ):
                    yield Plan(data, tensor, pipeline, stage, recomputes, several)


def _divisors(number, most):
    return [n for n in range(1, min(number, most) + 1) if number % n == 0]


def plans(
    model: Model, cluster: Cluster, mfus: tuple[float, float]
) -> list[dict[str, Any]]:
    """All plans with their memory and time: the fastest that fits comes first.

    Trainings that reach such an MFU have well-chosen plans and fast links. So it is given
    to the plan that would be the fastest if messages between machines took no time. All
    others take longer in proportion to `seconds_of`.

    Parameters
    ----------
    model : Model
    cluster : Cluster
    mfus : tuple of float
        The range of the MFU: the share of the peak which 6 P D operations make of a
        training with a well-chosen plan and fast links.

    Returns
    -------
    list of dict
        `plan`, `fits`, `reason` (empty if it fits), `memory` and its sum `memory_bytes`,
        `sum_seconds` (the sum of `seconds_of`, which compares plans), `step` (parts in
        seconds, in the middle of the range), `step_seconds` and
        `training_days` (each as low, middle, high), and `mfu` of this plan (low, middle,
        high). Of plans that differ in their micro-batches alone, it is the fastest that
        fits, else the smallest.
    """
    found: dict[tuple, dict] = {}
    references = {}  # by whether plans fit: the shortest step with a perfect network
    perfect = replace(cluster, across_bytes_per_second=math.inf)
    for plan in candidates(model, cluster):
        memory = memory_of(model, plan)
        memory_bytes = sum(memory.values())
        largest = max(memory, key=lambda name: memory[name])
        fits = memory_bytes <= cluster.memory_bytes
        shortest = sum(seconds_of(model, perfect, plan, UTILISATION).values())
        references[fits] = min(references.get(fits, math.inf), shortest)
        row = {
            "plan": plan,
            "fits": fits,
            "reason": "" if fits else _reason(memory_bytes, largest, memory[largest]),
            "memory": memory,
            "memory_bytes": memory_bytes,
            "step": seconds_of(model, cluster, plan, UTILISATION),
        }
        key = (plan.data, plan.tensor, plan.pipeline, plan.stage, plan.recomputes)
        if key not in found or _order(row) < _order(found[key]):
            found[key] = row
    rows = sorted(found.values(), key=_order)
    for row in rows:
        reference = references[True] if True in references else references[False]
        row |= _times(model, cluster, row["step"], mfus, reference)
    return rows


def _times(model, cluster, step, mfus, reference):
    """A plan's times, from its parts and from those of the plan that reaches `mfus`."""
    low, high = mfus
    peak = cluster.devices * cluster.peak_operations_per_second
    at_peak = 6 * model.parameters * model.batch_tokens / peak
    total = sum(step.values())
    reached = tuple(mfu * reference / total for mfu in (low, math.sqrt(low * high), high))
    seconds = tuple(at_peak / mfu for mfu in reversed(reached))
    steps = model.training_tokens / model.batch_tokens
    return {
        "sum_seconds": total,
        "step": {name: part * seconds[1] / total for name, part in step.items()},
        "step_seconds": seconds,
        "training_days": tuple(one * steps / DAY_SECONDS for one in seconds),
        "mfu": reached,
    }


def _order(row):
    plan = row["plan"]
    if not row["fits"]:
        return True, row["memory_bytes"]
    # Of equally fast plans, the one with the simplest messages.
    simple = plan.stage == 3, plan.pipeline, plan.stage, plan.tensor, plan.sequences
    return False, round(sum(row["step"].values()), 6), *simple


def _reason(memory_bytes, largest, largest_bytes):
    return (
        f"needs {memory_bytes / 1e9:,.0f} GB, of which {largest} {largest_bytes / 1e9:,.0f}"
    )


def fastest(
    model: Model, cluster: Cluster, mfus: tuple[float, float]
) -> dict[str, Any] | None:
    """The first of `plans`; None where none fits."""
    rows = plans(model, cluster, mfus)
    return rows[0] if rows and rows[0]["fits"] else None


def fewest_devices(model: Model, cluster: Cluster, most: int = 1024) -> int | None:
    """The smallest number of whole machines' devices on which a plan fits.

    Parameters
    ----------
    model : Model
    cluster : Cluster
        Its number of devices does not matter.
    most : int
        Where the search ends.
    """
    for devices in range(cluster.machine_devices, most + 1, cluster.machine_devices):
        smaller = replace(cluster, devices=devices)
        if any(
            sum(memory_of(model, plan).values()) <= cluster.memory_bytes
            for plan in candidates(model, smaller)
        ):
            return devices
    return None
